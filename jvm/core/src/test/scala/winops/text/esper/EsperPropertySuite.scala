package winops.text.esper

import java.nio.charset.StandardCharsets

import org.scalacheck.{Arbitrary, Gen, Shrink}
import org.scalatest.concurrent.{Signaler, ThreadSignaler}
import org.scalatest.concurrent.TimeLimits.failAfter
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.time.{Seconds, Span => Timeout}
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks
import winops.policy._
import winops.terms.Origin
import winops.testing.Longer
import winops.window.piece.Replacing

class EsperPropertySuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 500)

  implicit private val signaler: Signaler = ThreadSignaler

  /** Parts of a valid text are seldom valid, so shrinking is disabled. */
  implicit private def unshrunk[T]: Shrink[T] = Shrink.shrinkAny

  private val columns = Seq("symbol", "Symbol", "_x1", "ts", "sec", "größe", "N")
  private val odd = Seq("trade id", "a`b", "\"", "", "case", "stream", "current_count", "a,b)")

  private val scope = Scope(
    Map(
      "N" -> Parameter.Whole(3),
      "M" -> Parameter.Whole(-4),
      "F" -> Parameter.Fraction(BigDecimal("1.5")),
      "T" -> Parameter.Text("it's\n${x}")),
    columns ++ odd)

  private val column =
    Gen.oneOf(Gen.oneOf(columns), Gen.oneOf(odd).map(name => s"`${name.replace("`", "``")}`"))

  private val constant = Gen.oneOf(
    Gen.choose(-9L, 9L).map(_.toString),
    Gen.oneOf("250L", "0.1", "1e3", "2.5f", "M", "F", "T", "null", "true"),
    Gen.oneOf("'x'", "\"it's\"", "'it\\'s'", "'a;b -- c'", "'\\u0041\\n'"))

  /** Expressions with a column as the first operand. */
  private def expression(depth: Int): Gen[String] = if (depth == 0) column
  else {
    val inner = Gen.lzy(expression(depth - 1))
    val other = Gen.oneOf(inner, constant)
    val infix = Gen.oneOf(
      "+ - * / % || = == != <> < <= > >= & | ^ and or && is like".split(' ').toSeq ++
        Seq("is not", "not like"))
    Gen.frequency(
      4 -> column,
      4 -> Gen.zip(inner, infix, other).map { case (l, o, r) => s"($l) $o ($r)" },
      2 -> Gen.zip(column, Gen.oneOf("+-*/%".toSeq), constant).map { case (l, o, r) =>
        s"$l$o $r"
      },
      1 -> inner.map(e => s"not ($e)"),
      1 -> inner.map(e => s"-($e)"),
      1 -> inner.map(e => s"cast($e, long)"),
      1 -> Gen.zip(inner, other).map { case (a, b) => s"sum($a, $b)" },
      1 -> Gen.zip(inner, other).map { case (a, b) => s"coalesce($a, $b)" },
      1 -> Gen.zip(inner, other).map { case (a, b) => s"($a) between ($b) and ($b)" },
      1 -> Gen.zip(inner, other, Gen.oneOf("[", "("), Gen.oneOf("]", ")")).map {
        case (a, b, open, close) => s"($a) in $open($b):7$close"
      },
      1 -> Gen.zip(inner, other).map { case (a, b) => s"($a) not in [$b, $a]" },
      1 -> Gen.zip(inner, other).map { case (a, b) => s"($a) not in ($b, $a)" },
      1 -> Gen.zip(inner, other).map { case (a, b) => s"case when $a then $b else $a end" })
  }

  private val key = Gen.choose(0, 3).flatMap(expression)
  private val keys = Gen.choose(1, 3).flatMap(Gen.listOfN(_, key)).map(_.mkString(","))
  private val sortKeys = Gen
    .choose(1, 3)
    .flatMap(Gen.listOfN(_, Gen.zip(key, Gen.oneOf("", " asc", " desc"))))
    .map(_.map { case (by, direction) => by + direction }.mkString(", "))
  private val condition = Gen.oneOf(
    Gen.oneOf("true", "current_count <= 3", "count(*) < F"),
    key.map(e => s"newest_event.symbol = ($e) or sum($e) > 3"),
    Gen.const("newest_timestamp - oldest_timestamp < 5000"))
  private val size =
    Gen.oneOf(Gen.choose(1L, Int.MaxValue.toLong).map(_.toString), Gen.oneOf("1+1", "(9-3)*7"))
  private val period = Gen.oneOf(
    Gen.oneOf("1", "0.5", "F", "1 year 14 months", "1 week 30 min", "90 sec 1500 usec"),
    Gen.choose(1L, 8640000000000L).map(millis => s"$millis msec"),
    Gen.zip(Gen.choose(1, 99), Gen.choose(1, 9999)).map { case (h, s) => s"$h hours $s.5 sec" })
  private val reference = Gen.choose(-8640000000000000L, 8640000000000000L).map(_.toString + "L")
  private val flow =
    Gen.oneOf("'FORCE_UPDATE'", "\"start_eager\"", "'FORCE_UPDATE, START_EAGER'", "''")

  private def call(name: String, parameters: Gen[String]*): Gen[String] =
    Gen
      .sequence[Seq[String], String](parameters)
      .map(_.filter(_.nonEmpty).mkString(s"$name(", ",", ")"))

  private def maybe(parameter: Gen[String]): Gen[String] = Gen.oneOf(Gen.const(""), parameter)

  private val sliding: Gen[String] = Gen.oneOf(
    call("length", size),
    Gen.oneOf("keepall", "lastevent()", "firstevent"),
    call("time", Gen.oneOf(period, Gen.const("0 sec"))),
    call("time_accum", period),
    call("ext_timed", key, period),
    call("firstlength", size),
    call("firsttime", period),
    call("firstunique", keys),
    call("expr", condition),
    call("unique", keys),
    call("sort", size, sortKeys),
    call("rank", keys, Gen.const("7"), sortKeys),
    call("time_order", key, period),
    call("timetolive", key))

  private val batch: Gen[String] = Gen.oneOf(
    call("length_batch", size),
    call("time_batch", period, maybe(reference), maybe(flow)),
    call("ext_timed_batch", key, period, maybe(reference)),
    call("time_length_batch", period, size, maybe(flow)),
    call("expr_batch", condition, maybe(Gen.oneOf("true", "false"))))

  private val short = Gen.choose(0, 1).flatMap(expression)
  private val beside = Gen.oneOf(short, Gen.const("*"))
  private val others = Gen.choose(1, 3).flatMap(Gen.listOfN(_, beside)).map(_.mkString(","))

  private val derived: Gen[String] = Gen.oneOf(
    call("size", maybe(others)),
    Gen.const("size"),
    call("uni", short, maybe(others)),
    Gen
      .oneOf("linest", "correl", "weighted_avg")
      .flatMap(call(_, short, short, maybe(others))))

  private def chains(computes: Boolean): Gen[String] = for {
    windows <- Gen.choose(1, 3).flatMap(Gen.listOfN(_, Gen.oneOf(sliding, batch)))
    groups <- maybe(keys)
    statistic <- if (computes) maybe(derived) else Gen.const("")
    merges <- Gen.choose(0, 2)
    isUnion = windows.length > 1
    isAlone <- Gen.frequency(1 -> Gen.const(statistic.nonEmpty), 3 -> Gen.const(false))
  } yield {
    val grouped = Option.when(groups.nonEmpty)(s"groupwin($groups)")
    val merged = Option.when(groups.nonEmpty)(s"merge($groups)")
    val retaining = if (isAlone) Nil else windows
    val computing = Option.when(statistic.nonEmpty)(statistic)
    val before = merged.filter(_ => merges == 1 && retaining.nonEmpty)
    val behind = merged.filter(_ => merges == 2)
    val all = (grouped ++ retaining ++ before ++ computing ++ behind).mkString("#", "#", "")
    if (isUnion) s"$all retain-union" else all
  }

  private val aggregate: Gen[String] = for {
    function <- Gen.oneOf("sum", "AVG", "count", "min", "stddev")
    distinct <- maybe(Gen.const("distinct "))
    of <- short
    divisor <- maybe(Gen.const(" / 2"))
  } yield s"$function($distinct$of)$divisor"

  private val names =
    Gen.frequency(3 -> "n", 1 -> Gen.oneOf("`trade id`", "as", "`from`", "`a``b`", "stream"))

  /** A select list with the clauses after the windows; its names are unique. */
  private val lists: Gen[(String, String)] = for {
    first <- Gen.oneOf(aggregate, Gen.const("count(*)"))
    name <- names
    alias <- Gen.oneOf("", s" as $name")
    others <- Gen.choose(0, 3).flatMap(Gen.listOfN(_, Gen.oneOf(aggregate, short)))
    by <- maybe(keys)
  } yield {
    val numbered = others.zipWithIndex.map { case (other, i) => s"$other as x$i" }
    ((s"$first$alias" +: numbered).mkString(", "), if (by.isEmpty) "" else s" group by $by")
  }

  private val texts: Gen[String] = for {
    hint <- maybe(
      Gen.oneOf(
        "@Hint('reclaim_group_aged=10')",
        "@Hint('reclaim_group_aged=0.5,reclaim_group_freq=F')",
        "@Name('x')"))
    selector <- Gen.oneOf("irstream ", "istream ", "rstream ", "")
    filter <- maybe(keys.map(conditions => s"($conditions)"))
    list <- Gen.frequency(2 -> Gen.const(None), 1 -> Gen.some(lists))
    isStatement <- if (list.isDefined) Gen.const(true) else Gen.oneOf(true, false)
    chain <- chains(computes = list.isEmpty)
  } yield {
    val (selected, grouping) = list.getOrElse("*" -> "")
    val select = if (isStatement) s"select $selector$selected from S$filter" else ""
    s"$hint $select$chain$grouping"
  }

  private def read(text: String, scope: Scope = scope): Either[PolicyError, Policy] = {
    val result = failAfter(Timeout(10, Seconds))(Esper.parse(text, scope))
    result.left.foreach { error =>
      assert(0 <= error.offset && error.offset <= text.length)
      assert(error.text == text && error.message.nonEmpty)
      assert(error.message.length < 450)
      assert(Esper.parse(error.example, scope).isRight)
    }
    result
  }

  private def policy(text: String): Policy =
    read(text).fold(e => fail(s"$text\n${e.message}\n${e.caret}"), identity)

  /** Valid texts with their policies, and an origin in milliseconds for each. */
  private lazy val valid: Vector[(String, Policy, Long)] = {
    val drawn = Vector.newBuilder[(String, Policy, Long)]
    forAll(texts, Gen.choose(-9L, 9L)) { (text, millis) =>
      drawn += ((text, policy(text), millis))
    }
    drawn.result()
  }

  test("a policy's text, read again, gives an equal policy") {
    valid.foreach { case (text, first, _) => assert(read(first.text) == Right(first), text) }
  }

  test("the text of a window, read again beside its group, gives the policy without its keys") {
    val grouped = scope.copy(isGrouped = true)
    valid.foreach { case (text, _, _) =>
      read(text, grouped).foreach { whole =>
        val expected = whole.copy(group = whole.group.copy(keys = Nil), text = whole.window)
        assert(read(whole.window, grouped) == Right(expected), text)
      }
    }
  }

  test("the origin at the end of a text is for people, the rest is read as before") {
    valid.foreach { case (text, ofEpoch, millis) =>
      val moved = scope.copy(origin = Some(Origin.At(millis)))
      val first = read(text, moved).fold(e => fail(s"$text\n${e.message}"), identity)
      val withoutOrigin = first.text.replaceFirst(" origin -?[0-9]+ milliseconds?$", "")
      assert(read(withoutOrigin, moved) == Right(first), text)
      assert((first == ofEpoch) == (withoutOrigin == first.text), text)
    }
  }

  test("layout does not matter") {
    def isPlain(text: String): Boolean = !text.exists("'`".contains(_))
    // To read the texts with quotes would take most of the time.
    val plain = texts.retryUntil(isPlain(_)).map(policy(_)).retryUntil(p => isPlain(p.text))
    forAll(plain, Gen.choose(0, 3)) { (policy, style) =>
      val restyled = style match {
        case 0 => policy.text.replace(" ", "\n \t")
        case 1 => s" /* one */ ${policy.text} // two\n ; "
        case 2 =>
          policy.text
            .replaceAll("([-+*/%=,#.()])(?![0-9=>])(?<![<>!=|&])", " $1 ")
            .replace("! =", "!=")
        case 3 =>
          policy.text
            .replace("retain-union", "RETAIN - Union")
            .replace(" and ", " AND ")
            .replace("select", "Select")
            .replaceAll("(?<=[0-9]) sec", " SECONDS")
            .replace(" desc", " DESC")
      }
      assert(read(restyled) == Right(policy))
    }
  }

  test("what Spark gets has parentheses and quotes in pairs, and nothing between statements") {
    forAll(key) { expression =>
      val sql = policy(s"#unique($expression, symbol + 1)").retention.windows.head.order match {
        case Replacing(keys) => keys.map(_.sql).mkString(", ")
        case order => fail(order.toString)
      }
      val bare = sql.replaceAll("`(?:[^`]|``)*`", "x").replaceAll("'(?:[^'\\\\]|\\\\.)*'", "x")
      assert(!bare.exists(c => "'\"`;\\${}".contains(c)), sql)
      assert(!bare.contains("--") && !bare.contains("/*"), sql)
      val depths = bare.scanLeft(0) {
        case (depth, '(') => depth + 1
        case (depth, ')') => depth - 1
        case (depth, _) => depth
      }
      assert(depths.forall(_ >= 0) && depths.last == 0, sql)
    }
  }

  // PolicyFuzzSuite reads random texts of all kinds.
  test("any string is read or refused at a place in it", Longer) {
    forAll { (text: String) => read(text) }
    forAll { (text: String) => read(s"#unique($text)") }
    forAll(Arbitrary.arbitrary[Array[Byte]]) { bytes =>
      read(new String(bytes, StandardCharsets.UTF_8))
      read(new String(bytes, StandardCharsets.UTF_16))
    }
  }

  test("any tokens in any order are read or refused at a place in them", Longer) {
    val tokens =
      """# # . : length unique sort rank time time_batch groupwin merge expr size uni ( ) ( ) , ;
        |3 2.5 1e9 2L 1e999 'x' " ' ` @ @Hint('reclaim_group_aged=3') select irstream * from S as
        |retain-union symbol ts N M F sec min 5 and or not is null in between like case when then
        |else end cast prev [ ] { } ? + - * / % = < > ! | & ^ // /* */ \ newest_event desc true
        |`a``b` 9223372036854775808 count(*) sum( group by select from""".stripMargin
    val words = Gen.oneOf(tokens.split("\\s+").toSeq)
    val starts = Gen.oneOf(
      "",
      "#unique(symbol",
      "#expr(",
      "select * from S(",
      "#sort(3, ts ",
      "#uni(ts",
      "select count(*) ",
      "select sum(ts) from S#length(3) group by ")
    forAll(starts, Gen.listOf(words), minSuccessful(3000)) { (start, rest) =>
      read(rest.mkString(start, " ", ""))
    }
  }

  test("a valid text with characters changed is read or refused at a place in it", Longer) {
    val change = Gen.zip(
      Gen.choose(0.0, 1.0),
      Gen.choose(0, 3),
      Gen
        .oneOf(
          Gen.oneOf("'\"`();,-+*/.:#@\\e0 9L|&<>=!$?\u0000\n".toSeq),
          Arbitrary.arbitrary[Char])
        .map(_.toString))
    forAll(texts, Gen.choose(1, 4).flatMap(Gen.listOfN(_, change)), minSuccessful(3000)) {
      (valid, changes) =>
        val text = changes.foldLeft(valid) { case (changed, (place, removed, added)) =>
          changed.patch((place * changed.length).toInt, added, removed)
        }
        read(text).foreach(policy => assert(read(policy.text) == Right(policy), text))
    }
  }

  test("no text is slow to read") {
    val pieces = Seq(
      "(",
      "((",
      "-",
      "- ",
      "not ",
      "1+",
      "ts+",
      "ts,",
      "ts.",
      "ts and ",
      "ts || ",
      "ts is ",
      "ts in (",
      "ts between ",
      "case when ",
      "case ts when 1 then ",
      "cast(",
      "abs(",
      "1 sec ",
      "9",
      "0.1*",
      "9/",
      "`",
      "``",
      "\"",
      "'",
      "''",
      "'\\",
      "\\'",
      "x",
      ":",
      " ",
      "é",
      "\ud83d\ude00",
      "//",
      "/*",
      "/**/",
      "#",
      "#length(2)",
      "#length_batch(2)",
      "#merge(ts)",
      "#groupwin(ts)",
      ".win:keepall",
      "@Name('x')",
      "@Hint('reclaim_group_aged=3')",
      "as S ",
      "from S ",
      ";")
    for {
      piece <- pieces
      start <- Seq(
        "",
        "#unique(",
        "#length(",
        "#time(1 min ",
        "#rank(ts,",
        "#expr(ts ",
        "#unique('",
        "@Hint('",
        "select * from S(",
        "select * from S",
        "select count(*) ",
        "select count(*),",
        "#size(")
      length <- Seq(9990, 10000, 100000)
    } read((start + piece * (length / piece.length)).take(length))
  }

  test("no text needs a deep stack") {
    val pieces = Seq(
      "(",
      "- ",
      "not ",
      "1+",
      "ts + (",
      "ts or (",
      "a or b and c & not d = e < f || g + h * (",
      "abs(",
      "cast(",
      "case when ",
      "'\\",
      "9",
      "ts,",
      "/**/",
      "@Name('x')")
    val texts = for {
      piece <- pieces
      start <- Seq("", "#unique(", "#length(", "#expr(")
      times <- Seq(30, 32, 5000)
    } yield (start + piece * times).take(9990)
    @volatile var finished = 0
    val thread = new Thread(
      null,
      () =>
        texts.foreach { text =>
          Esper.parse(text, Scope())
          finished += 1
        },
      "stack as most threads have it",
      // Interpreted code needs several times the stack of compiled code.
      1024L * 1024)
    thread.start()
    thread.join()
    assert(finished == texts.length)
  }
}
