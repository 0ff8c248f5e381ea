package winops.text.dialect

import winops.policy.{Category, Parameter, Scope}
import winops.testing.TableTests

class ConstantsSuite extends TableTests {
  private val scope = Scope(
    Map("N" -> Parameter.Whole(3), "F" -> Parameter.Fraction(BigDecimal("2.50"))),
    Seq("price"))

  private object Expressions extends ExprParsers {
    override protected def isReserved(word: Token.Word): Boolean = word.text == "retain"

    def read(text: String): Either[Problem, Expr] =
      run(
        expr("a number") <~ (end | expected("the end")),
        new Lexer("()+-*/", false).tokens(text))
  }

  private def value(text: String, mixed: Boolean): Either[Problem, Value] =
    Expressions.read(text).flatMap(new Constants(scope, mixed).value)

  private def refused(marked: String, mixed: Boolean): Category = {
    val offset = marked.indexOf('^')
    val problem = value(marked.patch(offset, "", 1), mixed).swap.getOrElse(fail(marked))
    assert(problem.offset == offset, s"$marked: ${problem.message}")
    problem.category
  }

  test("whole numbers stay whole, and a fraction says where it came from") {
    assert(value("N * 2 + 7 / 2", mixed = false) == Right(Value.Whole(9)))
    assert(value("4.0 / 2.0", mixed = false) == Right(Value.Fraction(2, 0)))
    assert(value("1 + 2 * F", mixed = true) == Right(Value.Fraction(6, 8)))
  }

  test("zeros at the end of a fraction are none, however many there are") {
    assert(value(s"0.${"0" * 9000}", mixed = false) == Right(Value.Fraction(0, 0)))
  }

  testEach("zeros at the end of a fraction are none, however many there are")(
    "2.5",
    "0.5",
    "-0.5",
    "100.25") { text =>
    val zeros = "0" * 9000
    assert(value(text + zeros, mixed = false) == value(text, mixed = false))
    assert(value(s"$text${zeros}e1", mixed = false) == value(s"${text}e1", mixed = false))
  }

  test("decimal arithmetic is exact, as far as it ends") {
    assert(value("0.1 + 0.2", mixed = false) == Right(Value.Fraction(BigDecimal("0.3"), 0)))
    assert(
      value("1e30 + 0.001 - 1e30", mixed = false).map(Value.decimal) == Right(
        BigDecimal("0.001")))
    val third = value("1.0 / 3.0", mixed = false).map(Value.decimal)
    assert(third == Right(BigDecimal("0." + "3" * Limits.MaxDigits)))
    assert(value("1e-64 * 1.0 - 1e-64", mixed = false).map(Value.decimal) == Right(BigDecimal(0)))
  }

  test("where the kinds may not mix, an operator between two kinds is to blame") {
    assert(refused("1 / ^0", mixed = false) == Category.Range)
    assert(refused("1.5 / ^0.0", mixed = false) == Category.Range)
  }

  testEach("where the kinds may not mix, an operator between two kinds is to blame")(
    "1 ^+ 2.0",
    "2.0 ^* N",
    "1 + 2 * 3 ^- F",
    "N ^/ 1e0",
    "(1 ^- 1.0) / 0") { text =>
    assert(refused(text, mixed = false) == Category.Type)
  }

  test("names that are no parameters, and keywords") {
    assert(refused("1 + ^price", mixed = true) == Category.UnboundParameter)
    assert(refused("1 + ^retain", mixed = true) == Category.Syntax)
    assert(refused("1 + ^`retain`", mixed = true) == Category.UnboundParameter)
  }
}
