package winops.spark.expressions

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, ObjectInputStream, ObjectOutputStream}
import java.util.Arrays

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.analysis.SimpleAnalyzer
import org.apache.spark.sql.catalyst.expressions.{Add, Alias, Attribute, AttributeReference, RowOrdering}
import org.apache.spark.sql.catalyst.optimizer.SimpleTestOptimizer
import org.apache.spark.sql.catalyst.plans.logical.{LeafNode, LogicalPlan, Project, UnaryNode}
import org.apache.spark.sql.catalyst.util.GenericArrayData
import org.apache.spark.sql.types._

import winops.policy._
import winops.spark.testing.{EvaluatedRows, ViewOf}
import winops.terms.{Distance, Span}
import winops.window.expression.RowNumber
import winops.window.piece._

/** The values of a policy's expressions over stored rows. */
class RowEvaluatorSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  import EvaluatedRows._
  import RowEvaluatorSuite._

  private val otherNaN = java.lang.Double.longBitsToDouble(0x7ff0000000000001L)

  test("rows have the same key when GROUP BY would put them together") {
    val doubles = Gen.oneOf[Any](0.0, -0.0, Double.NaN, otherNaN, -Double.NaN, 1.0, null)
    val row = for {
      double <- doubles
      float <- Gen.oneOf[Any](0.0f, -0.0f, Float.NaN, 2.0f, null)
      string <- Gen.oneOf[Any](text(""), text("a"), text("a\u0000"), null)
      decimal <- Gen.oneOf[Any](Decimal(1, 20, 2), Decimal(2, 20, 2), null)
      nested <- Gen.oneOf(doubles.map(x => InternalRow(x): Any), Gen.const[Any](null))
      array <- Gen.listOf(doubles).map(xs => new GenericArrayData(xs.take(2)): Any)
    } yield Seq(double, float, string, decimal, nested, array)
    val columns = Seq(
      AttributeReference("double", DoubleType)(),
      AttributeReference("float", FloatType)(),
      AttributeReference("string", StringType)(),
      AttributeReference("decimal", DecimalType(20, 2))(),
      AttributeReference("nested", new StructType().add("x", DoubleType))(),
      AttributeReference("array", ArrayType(DoubleType))())
    forAll(Gen.listOfN(12, row), Gen.someOf(columns).filter(_.nonEmpty)) { (values, chosen) =>
      val keys = chosen.toSeq.map(c => column(c.name))
      val rows = new EvaluatedRows(columns)
      val key = rows.evaluator(ordered(Replacing(keys))).key(keys)
      val found = values.map(row => key.of(rows.add(0, row: _*)))
      val order = RowOrdering.createNaturalAscendingOrdering(chosen.map(_.dataType).toSeq)
      def group(i: Int) = InternalRow.fromSeq(
        chosen.toSeq.map(c => values(i)(columns.indexWhere(_.exprId == c.exprId))))
      for (i <- values.indices; j <- values.indices) {
        val together = order.compare(group(i), group(j)) == 0
        assert(together == Arrays.equals(found(i), found(j)), s"${values(i)}, ${values(j)}")
      }
    }
  }

  test("a key stays what it was when other rows are looked at") {
    val rows = new EvaluatedRows(trades)
    val keys = Seq(computed("upper(symbol)"), column("volume"))
    val key = rows.evaluator(ordered(Shadowing(keys))).key(keys)
    val first = key.of(rows.add(0, 1L, text("a"), 1.0, 1L, 0L))
    val other = key.of(rows.add(0, 2L, text("b"), 1.0, 1L, 0L))
    val again = key.of(rows.add(0, 3L, text("A"), 2.0, 1L, 9L))
    assert(Arrays.equals(first, again))
    assert(!Arrays.equals(first, other))
  }

  test("a timestamp is a number cut to a whole one, or a timestamp to a millisecond") {
    val day = 86400000L
    check(ByteType, (-3).toByte -> Some(-3L), nothing)
    check(ShortType, 300.toShort -> Some(300L))
    check(IntegerType, 70000 -> Some(70000L))
    check(LongType, day -> Some(day), nothing)
    check(FloatType, 1.75f -> Some(1L), -1.75f -> Some(-1L), Float.NaN -> None)
    check(DoubleType, 1e12 + 0.9 -> Some(1000000000000L), -0.9 -> Some(0L), nothing)
    check(
      DoubleType,
      Double.NaN -> None,
      Double.PositiveInfinity -> None,
      Double.NegativeInfinity -> None)
    check(DecimalType(10, 3), Decimal(BigDecimal("-7.999"), 10, 3) -> Some(-7L), nothing)
    check(DecimalType(38, 18), Decimal(BigDecimal("12.999999999999999999"), 38, 18) -> Some(12L))
    Seq(TimestampType, TimestampNTZType).foreach { instant =>
      check(instant, 1999L -> Some(1L), -1L -> Some(-1L), -1000L -> Some(-1L), nothing)
    }
  }

  test("a timestamp beyond all times is the farthest, and an interval can be added to it") {
    val far = RowNumbers.FarthestMillis
    check(LongType, Long.MaxValue -> Some(far), Long.MinValue -> Some(-far))
    check(DoubleType, 1e300 -> Some(far), -1e300 -> Some(-far))
    val large = BigDecimal(10).pow(37)
    check(
      DecimalType(38, 0),
      Decimal(large, 38, 0) -> Some(far),
      Decimal(-large, 38, 0) -> Some(-far))
    Seq(far, -far).foreach { instant =>
      Seq(Span.ofMicros(winops.text.dialect.Limits.MaxMicros), Span(1200L, 0L)).foreach { span =>
        assert(span.after(instant) > instant)
        assert(span.before(instant) < instant)
      }
    }
  }

  test("a number is exact where it is whole; null and NaN are none") {
    val whole = Distance.Whole(1L)
    check(ByteType, whole, (-3).toByte -> Some((-3L, -3.0)), nothing)
    check(IntegerType, whole, 70000 -> Some((70000L, 70000.0)))
    val odd = (1L << 53) + 1
    check(LongType, whole, odd -> Some((odd, odd.toDouble)), nothing)
    Seq(TimestampType, TimestampNTZType).foreach { instant =>
      check(instant, whole, 1999L -> Some((1999L, 1999.0)), nothing)
    }
    val real = Distance.Real(0.5)
    check(FloatType, real, 1.5f -> Some((1L, 1.5)), Float.NaN -> None)
    check(DoubleType, real, -1.5 -> Some((-1L, -1.5)), otherNaN -> None, nothing)
    check(
      DoubleType,
      real,
      Double.PositiveInfinity ->
        Some((Long.MaxValue, Double.PositiveInfinity)))
    check(DecimalType(5, 2), real, Decimal(BigDecimal("2.75"), 5, 2) -> Some((2L, 2.75)))
    check(LongType, real, odd -> Some((odd, odd.toDouble)))
  }

  test("an expression is evaluated wherever a policy has one") {
    val rows = new EvaluatedRows(trades)
    val stamp = computed("ts * 2 + 1")
    val value = computed("price / 4")
    val triggers =
      Triggers(Crosses(stamp, Span.ofMillis(10), None), Exceeds(value, Distance.Real(1.0)), Never)
    val bounds = AnyOf(
      Seq(
        TimestampBehind(stamp, Span.ofMillis(5)),
        ValueBehind(column("volume"), Distance.Whole(3L))))
    val evaluator =
      rows.evaluator(policy(Window(FirstOfEach(Seq(value)), Arrival, bounds, triggers)))
    val row = rows.add(0, 1L, text("a"), 10.0, 5L, 20L)
    assert(evaluator.timestamp(stamp).whole(row) == 41L)
    assert(evaluator.number(value).real(row) == 2.5)
    assert(evaluator.number(column("volume")).whole(row) == 5L)
    assert(evaluator.key(Seq(value)).of(row).nonEmpty)
    val unknown = intercept[IllegalArgumentException](evaluator.condition(stamp))
    assert(unknown.getMessage.contains("ts * 2 + 1"))
  }

  test("plans carry the expressions, and what they rename stays the same column") {
    val stored =
      Seq(AttributeReference("symbol", StringType)(), AttributeReference("price", DoubleType)())
    val price = Alias(stored(1), "price")()
    val twice = Alias(Add(stored(1), stored(1)), "twice")()
    val table = Project(Seq(stored.head, price, twice), Stored(stored))
    val condition = computed(
      "price > oldest_event.price and sum(distinct price) filter (where symbol = 'a') < 10" +
        " and current_count < 5 and twice = 2 * price and 1 + 1 = 2")
    val expressions =
      resolved(bounded(Fails(condition)), table.output).ofRows
    val plan = Carrying(expressions, table)
    SimpleAnalyzer.checkAnalysis(plan)
    val carried = SimpleTestOptimizer.execute(plan).collectFirst { case c: Carrying => c }.get
    assert(carried.carried.head.references.subsetOf(carried.child.outputSet))
    assert(carried.child.output.map(_.exprId) != table.output.map(_.exprId))

    val rows = new EvaluatedRows(carried.child.output)
    val received = sent(carried.carried)
    val holds = new RowEvaluator(received, carried.child.output, rows.stored).condition(condition)
    rows.add(0, text("a"), 3.0, 6.0)
    rows.add(0, text("a"), 4.0, 8.0)
    rows.add(0, text("b"), 99.0, 198.0)
    assert(!holds.holds(ViewOf(rows, 0, 0, 2)))
    assert(holds.holds(ViewOf(rows, 1, 0, 2)))
    rows.add(0, text("a"), 5.0, 10.0)
    assert(!holds.holds(ViewOf(rows, 1, 0, 3)))
  }

  private def check(dataType: DataType, cases: (Any, Option[Long])*): Unit = {
    val source = column("x")
    val rows = new EvaluatedRows(Seq(AttributeReference("x", dataType)()))
    val bound = TimestampBehind(source, Span.ofMillis(1))
    val number = rows.evaluator(bounded(bound)).timestamp(source)
    cases.foreach { case (value, expected) =>
      val row = rows.add(0, value)
      assert(read(number, row).map(_._1) == expected, s"$value")
      assert(read(number, row).map(_._2) == expected.map(_.toDouble), s"$value")
    }
  }

  private def check(
      dataType: DataType,
      distance: Distance,
      cases: (Any, Option[(Long, Double)])*): Unit = {
    val source = column("x")
    val rows = new EvaluatedRows(Seq(AttributeReference("x", dataType)()))
    val number = rows.evaluator(bounded(ValueBehind(source, distance))).number(source)
    cases.foreach { case (value, expected) =>
      assert(read(number, rows.add(0, value)) == expected, s"$value")
    }
  }
}

private object RowEvaluatorSuite {
  val nothing: (Any, Option[Nothing]) = (null, None)

  def read(number: RowNumber, row: Long): Option[(Long, Double)] =
    if (number.isMissing(row)) None else Some((number.whole(row), number.real(row)))

  /** The expressions after serialization to a task. */
  def sent(expressions: Seq[PolicyExpression]): Seq[PolicyExpression] = {
    val bytes = new ByteArrayOutputStream
    new ObjectOutputStream(bytes).writeObject(expressions)
    new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray)).readObject
      .asInstanceOf[Seq[PolicyExpression]]
  }

  /** A plan with output rows of unknown contents. */
  final case class Stored(output: Seq[Attribute]) extends LeafNode

  /** A plan that carries a policy's expressions, as `keep` does. */
  final case class Carrying(carried: Seq[PolicyExpression], child: LogicalPlan)
      extends UnaryNode {
    override def output: Seq[Attribute] = child.output
    override protected def withNewChildInternal(newChild: LogicalPlan): Carrying =
      copy(child = newChild)
  }
}
