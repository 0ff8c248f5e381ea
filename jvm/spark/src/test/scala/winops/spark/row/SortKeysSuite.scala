package winops.spark.row

import java.util.Arrays

import org.scalacheck.{Arbitrary, Gen}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Ascending, AttributeReference, Descending, InterpretedOrdering, SortOrder}
import org.apache.spark.sql.catalyst.parser.CatalystSqlParser
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import winops.spark.testing.EvaluatedRows
import winops.terms.SortKey
import winops.testing.Longer
import winops.window.piece.Sorted

/** Sort keys compared with Spark's own order of rows. */
class SortKeysSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  import EvaluatedRows._
  import SortKeysSuite._

  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 200)

  kinds.zipWithIndex.foreach { case (kind, i) =>
    val tags = Longer.unless(i < Different)
    test(s"keys of ${kind.dataType.sql} are in the order of the values, nulls first", tags: _*) {
      Seq(false, true).foreach { descending =>
        val criteria = Seq(Criterion(kind, descending))
        forAll(Gen.listOfN(12, row(criteria)))(checkOrder(criteria, _))
      }
    }
  }

  test("keys of several criteria are in their order, whatever their directions") {
    val criteria = for {
      count <- Gen.choose(1, 4)
      kinds <- Gen.listOfN(count, Gen.oneOf(kinds))
      directions <- Gen.listOfN(count, Arbitrary.arbitrary[Boolean])
    } yield kinds.zip(directions).map { case (kind, descending) => Criterion(kind, descending) }
    val cases = criteria.flatMap(c => Gen.listOfN(8, row(c)).map(c -> _))
    forAll(cases) { case (criteria, rows) => checkOrder(criteria, rows) }
  }

  test("a text that another begins with ends before the next criterion begins") {
    val criteria = Seq(Criterion(strings, descending = false), Criterion(strings, true))
    val pieces = Seq("", "\u0000", "\u0000\u0000", "a", "a\u0000", "a\u0000\u00ff", "\u0001")
    val rows =
      for (first <- pieces; second <- pieces)
        yield Seq[Any](text(first), text(second))
    checkOrder(criteria, rows)
  }

  test("a key computed of columns sorts by its value") {
    val rows = new EvaluatedRows(trades)
    val by = Seq(SortKey(computed("price * volume"), descending = true))
    val key = rows.evaluator(ordered(Sorted(by))).sortKey(by)
    val small = rows.add(0, 1L, text("a"), 2.0, 3L, 0L)
    val large = rows.add(0, 2L, text("a"), 4.0, 2L, 0L)
    val none = rows.add(0, 3L, text("a"), null, 2L, 0L)
    assert(Arrays.compareUnsigned(key.of(large), key.of(small)) < 0)
    assert(Arrays.compareUnsigned(key.of(small), key.of(none)) < 0)
  }

  private def checkOrder(criteria: Seq[Criterion], values: Seq[Seq[Any]]): Unit = {
    val columns = criteria.indices.map { i =>
      AttributeReference(s"c$i", criteria(i).kind.dataType)()
    }
    val by = criteria.indices.map(i => SortKey(column(s"c$i"), criteria(i).descending))
    val rows = new EvaluatedRows(columns)
    val key = rows.evaluator(ordered(Sorted(by))).sortKey(by)
    val keys = values.map(row => key.of(rows.add(0, row: _*))).toVector
    val ordering = new InterpretedOrdering(
      columns.zip(criteria).map { case (column, criterion) =>
        SortOrder(column, if (criterion.descending) Descending else Ascending)
      },
      columns)
    val compared = values.map(row => InternalRow(row: _*)).toVector
    for (i <- keys.indices; j <- keys.indices) {
      val expected = ordering.compare(compared(i), compared(j))
      val found = Arrays.compareUnsigned(keys(i), keys(j))
      val (length, other) = (keys(i).length, keys(j).length)
      val begins = other > length && Arrays.equals(keys(j), 0, length, keys(i), 0, length)
      // A clue of each assertion would take longer than the comparison.
      if (expected.sign != found.sign || begins) {
        fail(s"${values(i)} and ${values(j)}: $found instead of $expected, begins: $begins")
      }
    }
  }
}

private object SortKeysSuite {
  final case class Kind(dataType: DataType, values: Gen[Any])

  final case class Criterion(kind: Kind, descending: Boolean)

  def row(criteria: Seq[Criterion]): Gen[Seq[Any]] =
    Gen.sequence[Seq[Any], Any](criteria.map { criterion =>
      Gen.frequency(1 -> Gen.const[Any](null), 6 -> criterion.kind.values)
    })

  /** Values that are often close to each other or at the limits of their type. */
  private def whole(bits: Int): Gen[Long] = {
    val greatest = Long.MaxValue >> (64 - bits)
    Gen.oneOf(
      Gen.choose(-3L, 3L),
      Gen.oneOf(greatest, greatest - 1, -greatest, -greatest - 1, 255L & greatest, -256L),
      Gen.choose(-greatest - 1, greatest))
  }

  private val doubles: Gen[Double] = Gen.oneOf(
    Gen.oneOf(
      0.0,
      -0.0,
      Double.NaN,
      -Double.NaN,
      java.lang.Double.longBitsToDouble(0x7ff0000000000001L),
      Double.PositiveInfinity,
      Double.NegativeInfinity,
      Double.MinPositiveValue,
      -Double.MinPositiveValue,
      Double.MaxValue),
    Gen.choose(-2.0, 2.0),
    Arbitrary.arbitrary[Double])

  private val bytes: Gen[Array[Byte]] = Gen.oneOf(
    Gen.choose(0, 3).flatMap { length =>
      Gen.listOfN(length, Gen.oneOf(Seq[Byte](0, 1, -1, 97))).map(_.toArray)
    },
    Arbitrary.arbitrary[Array[Byte]])

  private def decimals(precision: Int, scale: Int): Gen[Any] = Gen
    .oneOf(
      Gen.choose(-3L, 3L).map(BigInt(_)),
      Gen.listOfN(precision, Gen.numChar).map(digits => BigInt(digits.mkString)),
      Gen.listOfN(precision, Gen.numChar).map(digits => -BigInt(digits.mkString)),
      Gen.const(BigInt(10).pow(precision) - 1))
    .map(unscaled => Decimal(BigDecimal(unscaled, scale), precision, scale))

  val strings: Kind = Kind(
    StringType,
    Gen.oneOf(
      bytes.map(_.filter(_ >= 0)).map(UTF8String.fromBytes),
      Gen.asciiPrintableStr.map(UTF8String.fromString),
      Arbitrary.arbitrary[String].map(UTF8String.fromString)))

  /** Strings of which some are equal in most collations. */
  private val words: Gen[Any] = Gen
    .oneOf(
      Gen.listOf(Gen.oneOf("a", "A", "á", "b", "B", " ", "ß", "ss", "ö", "z")).map(_.mkString),
      Gen.asciiPrintableStr,
      Arbitrary.arbitrary[String])
    .map(UTF8String.fromString)

  private def collated(collation: String): Kind =
    Kind(CatalystSqlParser.parseDataType(s"STRING COLLATE $collation"), words)

  /** The number of the first types, each of which has another form of keys. */
  val Different = 6

  val kinds: Seq[Kind] = Seq(
    Kind(LongType, whole(64)),
    Kind(DoubleType, doubles),
    Kind(DecimalType(38, 10), decimals(38, 10)),
    strings,
    Kind(BinaryType, bytes),
    collated("UNICODE_CI_AI_RTRIM"),
    Kind(BooleanType, Arbitrary.arbitrary[Boolean]),
    Kind(ByteType, whole(8).map(_.toByte)),
    Kind(ShortType, whole(16).map(_.toShort)),
    Kind(IntegerType, whole(32).map(_.toInt)),
    Kind(FloatType, doubles.map(_.toFloat)),
    Kind(DateType, whole(32).map(_.toInt)),
    Kind(TimestampType, whole(64)),
    Kind(TimestampNTZType, whole(64)),
    Kind(DecimalType(7, 2), decimals(7, 2)),
    Kind(DecimalType(18, 18), decimals(18, 18)),
    Kind(DecimalType(19, 0), decimals(19, 0))) ++
    Seq("UTF8_LCASE", "UTF8_BINARY_RTRIM", "UNICODE", "UNICODE_CI", "de").map(collated)
}
