package winops.text.dialect

import org.scalacheck.{Arbitrary, Gen}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

class NamesSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val names = Gen.oneOf(
    Arbitrary.arbitrary[String],
    Gen.listOf(Gen.oneOf("ab_1`\"' ,)é".toSeq)).map(_.mkString))

  private def readBack(text: String): Seq[Token] = new Lexer("", colons = false).tokens(text)

  test("a quoted name is one token that means the name") {
    forAll(names) { name =>
      readBack(Names.quoted(name)) match {
        case Seq(token: Token.Named, _: Token.End) => assert(token.name == name)
        case tokens => fail(s"$name was read as $tokens")
      }
    }
  }

  test("tokens lie in the text, one after another") {
    forAll(names) { text =>
      val tokens = new Lexer("(),", colons = true).tokens(text)
      assert(tokens.forall(token => token.offset <= token.end && token.end <= text.length))
      assert(tokens.zip(tokens.drop(1)).forall { case (one, next) => one.end <= next.offset })
      assert(tokens.init.forall(token => token.offset < token.end))
    }
  }

  test("keywords change their ASCII letters alone") {
    assert(Names.upper("m\u0131nutes") == "M\u0131NUTES")
    assert(Names.upper("row\u017f") == "ROW\u017f")
  }

  test("a name in a message is short and has no line breaks") {
    forAll(names) { name =>
      val shown = Names.shown(name + "\n" * 100)
      assert(shown.length <= 2 * Limits.ShownChars + 10 && !shown.exists(_.isControl))
    }
  }
}
