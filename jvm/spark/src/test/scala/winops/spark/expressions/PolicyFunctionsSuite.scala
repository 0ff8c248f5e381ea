package winops.spark.expressions

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.analysis.FunctionRegistry
import org.apache.spark.sql.catalyst.expressions.{AttributeReference, BindReferences, Expression}
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import winops.policy.Category
import winops.spark.testing.EvaluatedRows
import winops.testing.TableTests
import winops.testing.fuzz.Fuzzing
import winops.text.dialect.Problem

/** Spark functions in a policy text return a value, at a cost bounded by the text's length. */
class PolicyFunctionsSuite extends TableTests {
  import EvaluatedRows.computed

  private val columns = Seq(
    AttributeReference("price", DoubleType)(),
    AttributeReference("volume", LongType)(),
    AttributeReference("symbol", StringType)(),
    AttributeReference("venue", StringType)(),
    AttributeReference("ts", TimestampType)())

  private val row =
    InternalRow(12.5, 7L, UTF8String.fromString("A"), UTF8String.fromString("Paris"), 1000000L)

  private def resolved(sql: String): Either[Problem, Expression] =
    RowExpressions.resolve(computed(sql), columns, new ExpressionBudget)

  private def refused(sql: String, category: Category): Unit =
    assert(resolved(sql).left.map(_.category) == Left(category), sql.take(80))

  test("every function is one of Spark's") {
    assert(PolicyFunctions.all.diff(FunctionRegistry.expressions.keySet) == Set.empty)
  }

  test("the analyzer has exactly these functions, under Spark's own identifiers") {
    val registered = PolicyFunctions.registry(_ => ()).listFunction()
    assert(registered.map(_.funcName).toSet == PolicyFunctions.all)
    assert(registered.toSet.diff(FunctionRegistry.functionSet) == Set.empty)
  }

  test("no number in a call says how much memory it takes") {
    val calls = PolicyFunctions.all.toSeq.sorted.flatMap(FunctionCalls.withNumbers)
    val areValues = calls.map { call =>
      var isValue = false
      def cost = bytesOf {
        val outcome = resolved(call)
        isValue = outcome.isRight
        outcome.foreach(evaluate)
      }
      // The first call may load classes and error messages, so a failing call is measured twice.
      assert(cost < PolicyFunctionsSuite.MaxBytes || cost < PolicyFunctionsSuite.MaxBytes, call)
      isValue
    }
    assert(areValues.count(identity) > 100)
  }

  testEach("functions whose value or buffer a number sizes are not there")(
    "approx_count_distinct(price, 0.0001)",
    "approx_count_distinct(price, 0.05)",
    "APPROX_COUNT_DISTINCT(price, 0.0001)",
    "array_insert(array(volume), 1000000000, volume)",
    "format_number(price, 2000000000)",
    "count_min_sketch(price, 1e-9D, 0.99D, 1)",
    "hll_sketch_agg(price, 21)",
    "theta_sketch_agg(price, 26)",
    "kll_sketch_agg_double(price, 65535)",
    "approx_top_k(price, 5, 1000000)",
    "decimal('1e-1000000000')",
    "uniform(1, 5)",
    "randstr(1000000000)")(refused(_, Category.Unsupported))

  testEach("functions whose value or buffer a number sizes are not there")(
    "round",
    "bround",
    "ceil",
    "floor") { name =>
    Seq("1000000000", "-1000000000", "39", "int(price)", "1 + 1").foreach { digits =>
      refused(s"$name(price, $digits)", Category.Range)
    }
  }

  testEach("functions whose value or buffer a number sizes are not there")(
    "round(price, 2)",
    "round(price)",
    "floor(price, -2)",
    "approx_count_distinct(price)")(call => assert(resolved(call).isRight))

  test("no type is read from a text, which could name any class") {
    val ofClass =
      s"""{"type":"udt","class":"${classOf[NamedInText].getName}","sqlType":"string"}"""
    Seq(
      s"from_json(symbol, '$ofClass') is null",
      s"variant_get(parse_json(symbol), '$$', '$ofClass') is null",
      s"try_variant_get(parse_json(symbol), '$$', '$ofClass') is null",
      s"from_csv(symbol, '$ofClass') is null",
      s"from_xml(symbol, '$ofClass') is null").foreach(refused(_, Category.Unsupported))
    assert(!NamedInText.isMade)
  }

  private val text = "'" + "a" * 3000 + "'"

  testEach("what is constant does not become long while it is worked out")(
    s"replace(replace($text, 'a', $text), 'a', $text)",
    s"date(replace(replace($text, 'a', $text), 'a', $text))",
    s"timestamp(replace($text, 'a', $text))",
    s"length(regexp_replace($text, 'a', $text))",
    s"length(concat_ws($text, split($text, '')))",
    ("hex(" * 30) + "'a'" + (")" * 30),
    s"levenshtein($text, $text)",
    "rlike('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', '(a+)+b')",
    "'aaaaaaaa' like '%a%a%a%b'")(refused(_, Category.Unsupported))

  testEach("what is constant and short is worked out")(
    "replace(symbol, 'a', 'b')",
    "symbol like 'A%'",
    "date('2026-01-01') > ts",
    "to_timestamp('2026-01-01 00:00:00', 'yyyy-MM-dd HH:mm:ss') < ts",
    "upper('a') = symbol",
    "count(*)",
    "count(1)")(call => assert(resolved(call).isRight))

  testEach("operands that Spark writes twice do not double with each call inside another")(
    "case " -> " when 1 then 2 when 3 then 4 end",
    "nullif(" -> ", 1)",
    "nullifzero(" -> ")",
    "right(" -> ", 2)",
    "if(" -> " between 0 and 1, 1, 2)",
    "regexp_substr(" -> ", 'a')") { case (before, after) =>
    def nested(times: Int) = before * times + "volume" + after * times
    refused(nested(30), Category.Limit)
    assert(resolved(nested(1)).isRight)
  }

  test("expressions of many parts are refused before Spark goes through them") {
    def listed(parts: Int) = s"volume in (${Seq.fill(parts)("7").mkString(", ")})"
    refused(listed(2000), Category.Limit)
    val budget = new ExpressionBudget
    val (few, tooMany) = Seq
      .fill(1000)(computed("volume + 1"))
      .map(RowExpressions.resolve(_, columns, budget))
      .span(_.isRight)
    assert(few.size > 20 && few.size < 100)
    assert(tooMany.forall(_.left.map(_.category) == Left(Category.Limit)))
    assert(resolved(listed(500)).isRight)
  }

  private def bytesOf(work: => Unit): Long = {
    val before = Fuzzing.allocated()
    work
    Fuzzing.allocated() - before
  }

  private def evaluate(expression: Expression): Unit = {
    val aggregates = expression.collect { case aggregate: AggregateExpression => aggregate }
    aggregates.foreach { aggregate =>
      val window = WindowAggregate(aggregate.aggregateFunction, isDistinct = false, None)
      gives {
        val evaluator = new AggregateEvaluator(window, columns)
        evaluator.clear()
        evaluator.add(row)
        evaluator.result
      }
    }
    if (aggregates.isEmpty) {
      gives(BindReferences.bindReference(expression, columns).eval(row))
    }
  }

  /** Asserts a value, or an error about the input values. */
  private def gives(value: => Any): Unit =
    try { val _ = value }
    catch { case EvaluationFailure(_) => }
}

private object PolicyFunctionsSuite {
  val MaxBytes: Long = 16L * 1024 * 1024
}

/** A type that must never be instantiated because a text names it. */
final class NamedInText extends UserDefinedType[String] {
  NamedInText.isMade = true
  override def sqlType: DataType = StringType
  override def serialize(value: String): Any = UTF8String.fromString(value)
  override def deserialize(datum: Any): String = datum.toString
  override def userClass: Class[String] = classOf[String]
}

private object NamedInText {
  @volatile var isMade = false
}
