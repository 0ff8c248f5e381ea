package winops.spark.expressions

import org.apache.spark.sql.catalyst.analysis.AnalysisContext
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference, AttributeSet}
import org.apache.spark.sql.catalyst.plans.logical.{AnalysisHelper, LocalRelation}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types._

import winops.policy._
import winops.spark.internal.WinopsErrors
import winops.spark.testing.EvaluatedRows
import winops.terms.{Distance, RowExpression, SortKey, Span}
import winops.testing.TableTests
import winops.text.dialect.Problem
import winops.window.piece._

/** The expressions that each part of a policy accepts, over rows with columns of every type. */
class PolicyExpressionsSuite extends TableTests {
  import EvaluatedRows._
  import PolicyExpressionsSuite._

  test("every expression of a policy is resolved for what it is used for") {
    val key = computed("upper(s)")
    val byKey = SortKey(computed("d * 2"), descending = true)
    val condition = computed("sum(i) < 5")
    val window = Window(
      FirstOfEach(Seq(key)),
      Ranked(Seq(column("l")), Seq(byKey)),
      AnyOf(
        Seq(
          TimestampBehind(column("d"), second),
          DeadlineReached(column("t"), second),
          ValueBehind(column("f"), Distance.Real(1.0)),
          Fails(condition))),
      Triggers(
        Crosses(column("l"), second, None),
        Exceeds(column("i"), Distance.Whole(2L)),
        Holds(column("bool"), withRow = true)))
    val policy = EvaluatedRows
      .policy(window)
      .copy(
        group = Group(Seq(column("s"), computed("i + 1"))),
        filter = Some(computed("bool and d > 0")))
    val found = resolved(policy, columns)
    assert(found.group.map(_.sql) == Seq("s", "(i + 1)"))
    assert(found.filter.map(_.sql).contains("(bool AND (d > CAST(0 AS DOUBLE)))"))
    assert(
      found.ofRows.map(use => (use.role, use.source)) == Seq(
        (Role.Key, key),
        (Role.Key, column("l")),
        (Role.SortKey, byKey.expression),
        (Role.Timestamp, column("d")),
        (Role.Timestamp, column("t")),
        (Role.Number, column("f")),
        (Role.Condition, condition),
        (Role.Timestamp, column("l")),
        (Role.Number, column("i")),
        (Role.Condition, column("bool"))))
    assert(found.ofRows.forall(_.references.subsetOf(AttributeSet(columns))))
  }

  test("the windows of an intersection and a union share what they ask for") {
    val same = EvaluatedRows
      .policy(Window(EveryRow, Replacing(Seq(column("s"))), Fails(computed("d > 0")), noTriggers))
      .retention
      .windows
      .head
    Seq(Retention.Intersection(Seq(same, same)), Retention.Union(Seq(same, same))).foreach {
      retention =>
        val found = resolved(EvaluatedRows.policy(same).copy(retention = retention), columns)
        assert(found.ofRows.map(_.role) == Seq(Role.Key, Role.Condition))
    }
  }

  test("each use accepts the types that have what it needs") {
    val numbers = Seq("by", "sh", "i", "l", "f", "d", "dec", "big")
    val whole = Seq("by", "sh", "i", "l")
    val instants = Seq("t", "ntz")
    val sortable = numbers ++ instants ++ Seq("s", "unicode", "lcase", "bool", "date", "bin")
    accepts("sorts", sortable)
    accepts("keys", sortable ++ Seq("struct", "list", "interval"))
    accepts("group", sortable ++ Seq("struct", "list", "interval"))
    accepts("timestamp behind", numbers ++ instants)
    accepts("crosses", numbers ++ instants)
    accepts("deadline", whole ++ instants)
    accepts("value behind whole", whole ++ instants)
    accepts("value behind real", numbers)
    accepts("exceeds whole", whole ++ instants)
    accepts("exceeds real", numbers)
    accepts("fails", Seq("bool"))
    accepts("holds", Seq("bool"))
    accepts("filter", Seq("bool"))
  }

  test("names of columns are exact, whatever the session says") {
    Seq("S", "`s `", "nosuch", "nosuch.d").foreach { name =>
      uses.foreach { case (use, policy) =>
        refused(policy(computed(name)), Category.UnknownColumn, s"$use by $name")
      }
    }
    val problem = problemOf(uses("keys")(column("S")))
    assert(problem.category == Category.UnknownColumn)
    assert(problem.message.contains("there is no S: the columns are by, sh, i"))
    val conf = SQLConf.get.clone()
    conf.setConf(SQLConf.CASE_SENSITIVE, false)
    SQLConf.withExistingConf(conf) {
      refused(uses("fails")(computed("D > 1")), Category.UnknownColumn, "D")
      assert(!conf.caseSensitiveAnalysis)
    }
  }

  test("a name that several columns have is refused") {
    val twice = Seq(AttributeReference("x", LongType)(), AttributeReference("x", LongType)())
    Seq(column("x"), computed("x + 1"), computed("newest_event.x")).foreach { source =>
      val bound =
        Fails(if (source == column("x")) source else computed(s"${source.sql} > 0"))
      val found = PolicyExpressions.resolve(bounded(bound), twice)
      assert(found.left.map(_.category) == Left(Category.UnknownColumn), source.sql)
    }
  }

  testEach("a key, a group and a sort criterion need a column")(
    "1",
    "upper('a')",
    "1 + 1",
    "null") { constant =>
    Seq("keys", "group", "sorts").foreach { use =>
      refused(uses(use)(computed(constant)), Category.Type, s"$use by $constant")
    }
  }

  testEach("what is no expression is a matter of syntax")(
    "",
    " ",
    "d >",
    "d > 1; drop table t",
    "d d d",
    "(d",
    "d as x",
    "d x",
    "*",
    "d[")(text => refused(uses("fails")(computed(text)), Category.Syntax, text))

  testEach("values that do not go together are a matter of types")(
    "s + list",
    "map > 1",
    "abs(d, d) > 1",
    "d.x > 1",
    "upper(list) = 'A'",
    "sum(s, d) > 1",
    "sum(d) filter (where d) > 1",
    "sum(sum(d)) > 1",
    "count(distinct map) > 1",
    "current_count",
    "newest_event = oldest_event",
    "newest_event",
    "view_reference = 1",
    "length(view_reference) > 0")(text =>
    refused(uses("fails")(computed(text)), Category.Type, text))

  testEach("parameters that nobody gave are unbound")(":n > 1", "? > 1") { text =>
    refused(uses("fails")(computed(text)), Category.UnboundParameter, text)
  }

  test("built-in names belong to conditions alone") {
    refused(uses("fails")(computed("newest_event.nosuch > 1")), Category.UnknownColumn, "field")
  }

  testEach("built-in names belong to conditions alone")(
    "current_count",
    "oldest_timestamp",
    "newest_event.l") { name =>
    refused(uses("keys")(computed(name)), Category.UnknownColumn, name)
    refused(uses("filter")(computed(s"$name > 1")), Category.UnknownColumn, name)
    assert(PolicyExpressions.resolve(uses("fails")(computed(s"$name > 1")), columns).isRight)
  }

  test("aggregates belong to conditions alone, and over columns of the row") {
    refused(uses("filter")(computed("max(l) > 1")), Category.Unsupported, "filter")
  }

  testEach("aggregates belong to conditions alone, and over columns of the row")(
    "sorts",
    "keys",
    "group",
    "deadline",
    "exceeds real",
    "timestamp behind") { use =>
    refused(uses(use)(computed("max(l)")), Category.Unsupported, use)
  }

  testEach("aggregates belong to conditions alone, and over columns of the row")(
    "sum(current_count) > 1",
    "max(newest_event.d) > 1",
    "sum(d) filter (where current_count > 1) > 1",
    "exists(list, x -> x > sum(d))")(text =>
    refused(uses("fails")(computed(text)), Category.Unsupported, text))

  /** Expressions whose values would differ on a retry, after a restart or on another machine. */
  private val unrepeatable = Seq(
    "rand()",
    "random()",
    "randn(5)",
    "uniform(1, 5)",
    "randstr(5)",
    "shuffle(list)",
    "uuid()",
    "current_date",
    "current_date()",
    "curdate()",
    "current_timestamp",
    "current_timestamp()",
    "now()",
    "current_time()",
    "localtimestamp()",
    "unix_timestamp()",
    "current_timezone()",
    "date 'today'",
    "timestamp 'now'",
    "timestamp_ntz 'Yesterday'",
    "cast('now' as timestamp)",
    "cast('tomorrow' as date)",
    "to_date('today')",
    "t + interval 1 day > 'now'",
    "current_user",
    "current_user()",
    "session_user",
    "user()",
    "current_database()",
    "current_schema()",
    "current_catalog()",
    "version()",
    "monotonically_increasing_id()",
    "spark_partition_id()",
    "input_file_name()",
    "input_file_block_start()",
    "input_file_block_length()",
    "aes_encrypt(s, '0000111122223333')")

  /** Expressions that run code other than Spark's, or have side effects. */
  private val foreign = Seq(
    "reflect('java.lang.System', 'exit', 0)",
    "java_method('java.lang.System', 'currentTimeMillis')",
    "try_reflect('java.lang.System', 'nanoTime')",
    "identifier('reflect')('java.lang.System', 'nanoTime')",
    "a_function_of_mine(s)",
    "some_catalog.some_schema.a_function(s)",
    "from_avro(bin, '{}')",
    "from_protobuf(bin, 'Message', '/etc/hosts')",
    "to_protobuf(struct, 'Message', '/etc/hosts')",
    "raise_error('no')",
    "assert_true(bool)",
    "keep(s)",
    "winops_version()")

  /** Expressions that return rows, or are valid only in a query. */
  private val queries = Seq(
    "(select 1)",
    "exists (select 1)",
    "l in (select 1)",
    "explode(list)",
    "posexplode(list)",
    "stack(2, l, l)",
    "inline(list)",
    "window(t, '1 second')",
    "session_window(t, '1 second')",
    "row_number() over (order by l)",
    "sum(l) over ()",
    "sum(l) over (partition by s)",
    "row_number()",
    "rank()",
    "lag(l)",
    "ntile(2)",
    "nth_value(l, 1)",
    "grouping(l)",
    "grouping_id()")

  (unrepeatable ++ foreign ++ queries).foreach { text =>
    test(s"$text is refused wherever it stands") {
      uses.foreach { case (use, policy) =>
        refused(policy(computed(text)), Category.Unsupported, use)
        refused(policy(computed(s"l = 1 or ($text) is null")), Category.Unsupported, use)
      }
    }
  }

  test("what would not come again and what is not Spark's are reported apart") {
    val problem = problemOf(uses("fails")(computed("rand() < 0.5")))
    assert(problem.message == "expected a deterministic expression")
    val function = problemOf(uses("fails")(computed("mine(s)")))
    assert(
      function.message ==
        "expected a function of Spark's that makes a value of values; mine is none")
  }

  test("a name of a time of today is none where it is text, or beyond strange letters") {
    Seq("s = 'now'", "s = '\ud83d\ude00' and t > timestamp '2026-01-01'").foreach { text =>
      assert(PolicyExpressions.resolve(uses("fails")(computed(text)), columns).isRight, text)
    }
    val hidden = "s = '\ud83d\ude00\ud83d\ude00' and date '2026-01-01' < date 'today'"
    refused(uses("fails")(computed(hidden)), Category.Unsupported, hidden)
  }

  test("an analyzer at work above is left as it is") {
    val context = AnalysisContext.get
    System.setProperty("spark.testing", "true")
    try
      AnalysisHelper.markInAnalyzer {
        LocalRelation(columns).resolveOperatorsUp { case relation =>
          resolved(uses("fails")(computed("count_if(d > 1) < 5 and luhn_check(s)")), columns)
          relation
        }
      }
    finally System.clearProperty("spark.testing")
    assert(AnalysisContext.get eq context)
  }

  testEach("what runs on Spark's own methods is none the worse for it")(
    "luhn_check(s)",
    "is_valid_utf8(s)",
    "url_encode(s) = 's'",
    "parse_json(s) is null") { text =>
    assert(PolicyExpressions.resolve(uses("fails")(computed(text)), columns).isRight)
  }

  test("an expression that nests too deep is refused before it costs anything") {
    val nested = "(" * 3000 + "1" + ")" * 3000
    val sum = Seq.fill(1500)("l").mkString(" + ")
    val calls = "abs(" * 1000 + "l" + ")" * 1000
    Seq(s"$sum > 1", s"$calls > 1").foreach { text =>
      refused(uses("fails")(computed(text)), Category.Limit, text.take(20))
    }
    val found = PolicyExpressions.resolve(uses("fails")(computed(s"l > $nested")), columns)
    assert(found.isRight || found.left.exists(_.category == Category.Limit))
    val wide = Seq.fill(200)("l > 1").mkString(" and ")
    assert(PolicyExpressions.resolve(uses("fails")(computed(wide)), columns).isRight)
  }

  test("a problem is reported at its expression's place in the policy's text") {
    val text = "#expr(nosuch > 1)"
    val source = RowExpression.Computed("nosuch > 1")(text.indexOf("nosuch"))
    val problem = problemOf(uses("fails")(source))
    val error = WinopsErrors.policy("esper", problem.in(text, "#expr(current_count <= 5)"))
    assert(error.getCondition == "WINOPS_POLICY.UNKNOWN_COLUMN")
    assert(error.getMessage.contains("line 1, column 7:"))
    assert(error.getMessage.contains(s"\n$text\n      ^\n"))
    assert(error.getMessage.contains("there is no `nosuch`: the columns are by, sh"))
  }

  test("what Spark says is reported without its own condition and place") {
    val problem = problemOf(uses("fails")(computed("upper(list) = 'A'")))
    assert(problem.message.startsWith("expected an expression of Spark SQL; Spark says: "))
    assert(!problem.message.contains("SQLSTATE"))
    assert(!problem.message.contains("["))
    assert(!problem.message.contains("\n"))
    val syntax = problemOf(uses("fails")(computed("l >\n\n")))
    assert(syntax.message.contains("yntax error at or near end of input"))
  }

  private def accepts(use: String, names: Seq[String]): Unit = {
    val found = columns.map(_.name).filter { name =>
      PolicyExpressions.resolve(uses(use)(column(name)), columns) match {
        case Right(_) => true
        case Left(problem) =>
          assert(problem.category == Category.Type, s"$use by $name")
          assert(problem.offset == Offset)
          false
      }
    }
    assert(found.toSet == names.toSet, use)
  }

  private def refused(policy: Policy, category: Category, clue: String): Unit = {
    val problem = problemOf(policy)
    assert(problem.category == category, s"$clue: ${problem.message}")
    assert(problem.offset == Offset, clue)
    assert(problem.message.startsWith("expected "), clue)
  }

  private def problemOf(policy: Policy): Problem =
    PolicyExpressions.resolve(policy, columns) match {
      case Left(problem) => problem
      case Right(found) => fail(s"accepted: $found")
    }
}

private object PolicyExpressionsSuite {
  import EvaluatedRows._

  val second: Span = Span.ofMillis(1000L)

  /** A column of each type. */
  val columns: Seq[Attribute] = Seq(
    "by" -> ByteType,
    "sh" -> ShortType,
    "i" -> IntegerType,
    "l" -> LongType,
    "f" -> FloatType,
    "d" -> DoubleType,
    "dec" -> DecimalType(10, 2),
    "big" -> DecimalType(30, 5),
    "s" -> StringType,
    "bool" -> BooleanType,
    "date" -> DateType,
    "t" -> TimestampType,
    "ntz" -> TimestampNTZType,
    "bin" -> BinaryType,
    "interval" -> DayTimeIntervalType(),
    "lcase" -> StringType("UTF8_LCASE"),
    "unicode" -> StringType("UNICODE"),
    "list" -> ArrayType(LongType),
    "map" -> MapType(StringType, LongType),
    "struct" -> new StructType().add("x", LongType),
    "variant" -> VariantType).map { case (name, dataType) =>
    AttributeReference(name, dataType)()
  }

  /** Policies with an expression in each place that accepts one. */
  val uses: Map[String, RowExpression => Policy] = Map(
    "group" -> (e => bounded(Unbounded).copy(group = Group(Seq(e)))),
    "filter" -> (e => bounded(Unbounded).copy(filter = Some(e))),
    "keys" -> (e => ordered(Replacing(Seq(e)))),
    "sorts" -> (e => ordered(Sorted(Seq(SortKey(e, descending = false))))),
    "timestamp behind" -> (e => bounded(TimestampBehind(e, second))),
    "deadline" -> (e => bounded(DeadlineReached(e, second))),
    "value behind whole" -> (e => bounded(ValueBehind(e, Distance.Whole(1L)))),
    "value behind real" -> (e => bounded(ValueBehind(e, Distance.Real(1.0)))),
    "fails" -> (e => bounded(Fails(e))),
    "crosses" -> (e => beating(Crosses(e, second, None))),
    "exceeds whole" -> (e => beating(Exceeds(e, Distance.Whole(1L)))),
    "exceeds real" -> (e => beating(Exceeds(e, Distance.Real(1.0)))),
    "holds" -> (e => beating(Holds(e, withRow = false))))

  private def beating(trigger: Trigger): Policy =
    policy(Window(EveryRow, Arrival, Everything, Triggers(EachRow, trigger, Never)))
}
