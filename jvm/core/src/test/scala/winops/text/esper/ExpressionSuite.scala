package winops.text.esper

import org.scalatest.funsuite.AnyFunSuite
import winops.policy._
import winops.window.piece.{Fails, Replacing}

/** Esper's expressions in canonical form and as Spark expressions. */
class ExpressionSuite extends AnyFunSuite {
  private val scope = Scope(
    parameters = Map(
      "N" -> Parameter.Whole(3),
      "NEGATIVE" -> Parameter.Whole(-3),
      "LEAST" -> Parameter.Whole(Long.MinValue),
      "HALF" -> Parameter.Fraction(BigDecimal("0.50")),
      "TEXT" -> Parameter.Text("it's 5\\ $"),
      "a" -> Parameter.Whole(1)),
    columns = Seq("a", "b", "c", "not", "current_count", "trade id", "x`y"))

  private def written(expression: String, window: String = "#unique(%s)"): (String, String) = {
    val text = window.format(expression)
    val policy = Esper.parse(text, scope).fold(e => fail(s"${e.message}\n${e.caret}"), identity)
    assert(Esper.parse(policy.text, scope) == Right(policy), policy.text)
    val printed = policy.text.stripPrefix("#unique(").stripPrefix("#expr(").stripSuffix(")")
    policy.retention.windows match {
      case Seq(Window(_, Replacing(Seq(key)), _, _)) => (printed, key.sql)
      case Seq(Window(_, _, Fails(condition), _)) => (printed, condition.sql)
      case windows => fail(s"$text: $windows")
    }
  }

  /** Checks expressions, their canonical forms and their Spark forms. */
  private def keys(all: (String, String, String)*): Unit = all.foreach {
    case (expression, text, sql) => assert(written(expression) == ((text, sql)), expression)
  }

  private def conditions(all: (String, String, String)*): Unit = all.foreach {
    case (expression, text, sql) =>
      assert(written(expression, "#expr(%s)") == ((text, sql)), expression)
  }

  test("columns, also in quotes and with fields") {
    keys(
      ("a", "a", "`a`"),
      ("(a)", "a", "`a`"),
      ("`trade id`", "`trade id`", "`trade id`"),
      ("`x``y`", "`x``y`", "`x``y`"),
      ("`not`", "`not`", "`not`"),
      ("`current_count`", "`current_count`", "`current_count`"),
      ("a . b.`c d`", "a.b.`c d`", "`a`.`b`.`c d`"))
  }

  test("operators keep Esper's ranks, because Spark gets parentheses") {
    keys(
      ("a+b*c", "a + b * c", "`a` + (`b` * `c`)"),
      ("(a+b)*c", "(a + b) * c", "(`a` + `b`) * `c`"),
      ("a-b-c", "a - b - c", "`a` - `b` - `c`"),
      ("a-(b-c)", "a - (b - c)", "`a` - (`b` - `c`)"),
      ("(a-b)-c", "(a - b) - c", "(`a` - `b`) - `c`"),
      ("a%2/b", "a % 2 / b", "`a` % 2 / `b`"),
      ("a||b+c", "a || b + c", "`a` || (`b` + `c`)"),
      ("a = b & c", "a = b & c", "(`a` = `b`) & `c`"),
      ("a&b&c", "a & b & c", "`a` & `b` & `c`"),
      ("(a | b) ^ c", "(a | b) ^ c", "(`a` | `b`) ^ `c`"),
      ("a OR b AND not c", "a or b and not c", "`a` or (`b` and (not `c`))"),
      ("not not a", "not (not a)", "not (not `a`)"),
      ("not a = b", "not a = b", "not (`a` = `b`)"),
      ("a && b", "a and b", "`a` and `b`"),
      ("a == b", "a = b", "`a` = `b`"),
      ("a<>b", "a != b", "`a` != `b`"),
      ("a!=b", "a != b", "`a` != `b`"),
      ("a<=b", "a <= b", "`a` <= `b`"),
      ("a > -b", "a > - b", "`a` > (- `b`)"),
      ("a - -1", "a - -1", "`a` - (-1)"),
      ("a--1", "a - -1", "`a` - (-1)"),
      ("-(-a)", "- (- a)", "- (- `a`)"))
  }

  test("is compares nulls too") {
    keys(
      ("a is null", "a is null", "`a` is null"),
      ("a IS NOT NULL", "a is not null", "`a` is not null"),
      ("a is b", "a is b", "`a` <=> `b`"),
      ("a is not b + 1", "a is not b + 1", "`a` is distinct from (`b` + 1)"))
  }

  test("a range takes the smaller end for the low one, whichever is written first") {
    keys(
      ("a in [1:2]", "a between 1 and 2", "`a` between 1 and 2"),
      ("a in [2:1]", "a between 2 and 1", "`a` between 1 and 2"),
      ("a between 2.5 and -1", "a between 2.5 and -1", "`a` between (-1) and 2.5D"),
      ("a in (1:2]", "a in (1:2]", "`a` > 1 and `a` <= 2"),
      ("a in [2:1)", "a in [2:1)", "`a` >= 1 and `a` < 2"),
      ("a not in ( 1 : 2 )", "a not in (1:2)", "not (`a` > 1 and `a` < 2)"),
      ("a not in [1:2]", "a not between 1 and 2", "not (`a` between 1 and 2)"),
      (
        "a in [b:c + 1]",
        "a between b and c + 1",
        "(`a` between `b` and (`c` + 1)) or (`a` between (`c` + 1) and `b`)"),
      (
        "a + 1 not in (b:'x')",
        "a + 1 not in (b:'x')",
        "not (((`a` + 1) > `b` and (`a` + 1) < 'x') or ((`a` + 1) > 'x' and (`a` + 1) < `b`))"),
      ("a in [1]", "a in (1)", "`a` in (1)"),
      ("a in (1,b]", "a in (1, b)", "`a` in (1, `b`)"))
  }

  test("an aggregate with a condition is over the rows that fulfil it") {
    keys(
      ("sum(a,b='x')", "sum(a, b = 'x')", "sum(`a`) filter (where `b` = 'x')"),
      ("sum(a, filter: b > 1)", "sum(a, b > 1)", "sum(`a`) filter (where `b` > 1)"),
      ("count(*,a>1)", "count(*, a > 1)", "count(*) filter (where `a` > 1)"),
      (
        "count(distinct a, b) / 2",
        "count(distinct a, b) / 2",
        "count(distinct `a`) filter (where `b`) / 2"),
      ("fmin(a, b > 1)", "fmin(a, b > 1)", "min(`a`) filter (where `b` > 1)"),
      ("fmax(a)", "fmax(a)", "max(`a`)"),
      (
        "coalesce(avg(a, b), c)",
        "coalesce(avg(a, b), c)",
        "coalesce(avg(`a`) filter (where `b`), `c`)"))
  }

  test("in, between and like") {
    keys(
      ("a in (1, b+1)", "a in (1, b + 1)", "`a` in (1, `b` + 1)"),
      ("a not in (1)", "a not in (1)", "`a` not in (1)"),
      ("a between 1 and 2 and c", "a between 1 and 2 and c", "(`a` between 1 and 2) and `c`"),
      ("a not between 1 and 2", "a not between 1 and 2", "not (`a` between 1 and 2)"),
      ("a like 'x%'", "a like 'x%'", "`a` like 'x%'"),
      (
        "a not like 'x!%' escape '!'",
        "a not like 'x!%' escape '!'",
        "`a` not like 'x!%' escape '!'"))
  }

  test("case") {
    keys(
      (
        "case when a > 1 then b else c end",
        "case when a > 1 then b else c end",
        "case when (`a` > 1) then `b` else `c` end"),
      (
        "CASE a WHEN 1 THEN b WHEN 2 THEN c END + 1",
        "(case a when 1 then b when 2 then c end) + 1",
        "(case `a` when 1 then `b` when 2 then `c` end) + 1"))
  }

  test("casts to types that Spark has") {
    keys(
      ("cast(a, boolean)", "cast(a, boolean)", "cast(`a` as boolean)"),
      ("CAST(a+1 AS Integer)", "cast(a + 1, int)", "cast(`a` + 1 as int)"),
      ("cast(a, long)", "cast(a, long)", "cast(`a` as bigint)"),
      ("cast(a, byte)", "cast(a, byte)", "cast(`a` as tinyint)"),
      ("cast(a, short)", "cast(a, short)", "cast(`a` as smallint)"),
      ("cast(a, float)", "cast(a, float)", "cast(`a` as float)"),
      ("cast(a, double)", "cast(a, double)", "cast(`a` as double)"),
      ("cast(a, string)", "cast(a, string)", "cast(`a` as string)"))
  }

  test("functions, whatever they are") {
    keys(
      ("COALESCE(a, b + 1, 'x')", "coalesce(a, b + 1, 'x')", "coalesce(`a`, `b` + 1, 'x')"),
      ("pi() + a", "pi() + a", "pi() + `a`"))
    conditions(
      ("count( * ) > 1", "count(*) > 1", "count(*) > 1"),
      ("count(distinct a)>1", "count(distinct a) > 1", "count(distinct `a`) > 1"),
      ("sum(a)<=100", "sum(a) <= 100", "sum(`a`) <= 100"))
  }

  test("numbers: fractions are doubles") {
    keys(
      ("a + 007", "a + 7", "`a` + 7"),
      ("a + 250l", "a + 250L", "`a` + 250L"),
      ("a + 2.50", "a + 2.5", "`a` + 2.5D"),
      ("a + .5", "a + 0.5", "`a` + 0.5D"),
      ("a + 1e3", "a + 1000.0", "`a` + 1000.0D"),
      ("a + 2d", "a + 2.0", "`a` + 2.0D"),
      ("a + 2.5F", "a + 2.5f", "`a` + 2.5F"),
      ("a + -9223372036854775808", "a + -9223372036854775808", "`a` + (-9223372036854775808)"))
  }

  test("strings, in which nothing is left that could end them") {
    keys(
      ("a || 'x'", "a || 'x'", "`a` || 'x'"),
      ("a || \"x\"", "a || 'x'", "`a` || 'x'"),
      ("a || \"it's\"", "a || 'it\\'s'", "`a` || 'it\\'s'"),
      ("a || 'it\\'s'", "a || 'it\\'s'", "`a` || 'it\\'s'"),
      ("a || 'c:\\\\'", "a || 'c:\\\\'", "`a` || 'c:\\\\'"),
      ("a || '\\n\\u0041\\\"'", "a || '\\u000aA\"'", "`a` || '\\u000aA\"'"),
      ("a || '${b}; -- /*'", "a || '\\u0024{b}; -- /*'", "`a` || '\\u0024{b}; -- /*'"))
  }

  test("parameters are filled in where no column has the name") {
    keys(
      ("a + N", "a + 3", "`a` + 3"),
      ("b - NEGATIVE", "b - -3", "`b` - (-3)"),
      ("b - LEAST", "b - -9223372036854775808", "`b` - (-9223372036854775808)"),
      ("b * HALF", "b * 0.5", "`b` * 0.5D"),
      ("b || TEXT", "b || 'it\\'s 5\\\\ \\u0024'", "`b` || 'it\\'s 5\\\\ \\u0024'"))
    conditions(("N", "3", "3"), ("`N` > 2", "3 > 2", "3 > 2"))
  }

  test("conditions ask for the window, whose words are no columns there") {
    conditions(
      ("current_count <= 2", "current_count <= 2", "current_count <= 2"),
      ("`current_count` <= 2", "`current_count` <= 2", "`current_count` <= 2"),
      (
        "newest_event.a != oldest_event . `trade id`",
        "newest_event.a != oldest_event.`trade id`",
        "newest_event.`a` != oldest_event.`trade id`"),
      (
        "newest_timestamp - oldest_timestamp < 5000 and expired_count = 0",
        "newest_timestamp - oldest_timestamp < 5000 and expired_count = 0",
        "((newest_timestamp - oldest_timestamp) < 5000) and (expired_count = 0)"),
      ("view_reference is not null", "view_reference is not null", "view_reference is not null"),
      ("cast(null, boolean)", "cast(null, boolean)", "cast(null as boolean)"),
      ("TRUE", "true", "true"))
  }
}
