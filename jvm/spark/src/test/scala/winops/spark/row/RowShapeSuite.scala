package winops.spark.row

import scala.util.Random

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.RandomDataGenerator
import org.apache.spark.sql.catalyst.CatalystTypeConverters
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.Platform

import winops.spark.testing.Damage
import winops.storage.bytes.CorruptStateException
import winops.testing.TableTests

/** Valid rows of every type are accepted unchanged; reads of damaged rows stay inside the bytes.
  */
class RowShapeSuite extends TableTests {
  private val leaves = Seq(
    BooleanType,
    ByteType,
    ShortType,
    IntegerType,
    LongType,
    FloatType,
    DoubleType,
    DateType,
    TimestampType,
    TimestampNTZType,
    DecimalType(9, 2),
    DecimalType(38, 10),
    StringType,
    BinaryType,
    DayTimeIntervalType())

  private val types: Seq[DataType] = leaves ++
    Seq(CalendarIntervalType, NullType) ++
    leaves.map(ArrayType(_)) ++
    Seq(StringType, IntegerType).flatMap(key =>
      Seq(MapType(key, StringType), MapType(key, LongType))) ++
    Seq(
      ArrayType(ArrayType(IntegerType)),
      ArrayType(new StructType().add("x", StringType).add("y", ByteType)),
      new StructType()
        .add("a", StringType)
        .add("b", ArrayType(StringType))
        .add("c", new StructType().add("d", DecimalType(30, 3)).add("e", IntegerType)))

  types.foreach { dataType =>
    test(s"a row with ${dataType.sql} is one, and a damaged one is or is not") {
      val schema = new StructType().add("i", IntegerType).add("v", dataType).add("s", StringType)
      val shape = RowShape.ofTypes(schema.map(_.dataType))
      val toRow = UnsafeProjection.create(schema)
      val random = new Random(dataType.sql.hashCode.toLong)
      val damage = new Damage(random)
      (1 to 8).foreach { _ =>
        val whole = toRow(valuesOf(schema, random)).copy()
        shape.check(whole.getBytes, 0, whole.getSizeInBytes)
        (1 to 40).foreach(_ => survives(shape, schema, toRow, damage.of(whole.getBytes)))
      }
    }
  }

  testEach("a text that begins or ends outside of the row is refused, wherever the row lies")(
    ("10 bytes from 15", 15L, 10L),
    ("17 bytes from 16", 16L, 17L),
    ("-1 bytes from 16", 16L, -1L),
    ("10 bytes from -8", -8L, 10L),
    ("a byte from 2^31", 1L << 31, 1L),
    ("a byte from 32", 32L, 1L)) { case (_, from, size) =>
    val schema = new StructType().add("s", StringType)
    val toRow = UnsafeProjection.create(schema)
    val row =
      toRow(InternalRow(org.apache.spark.unsafe.types.UTF8String.fromString("0123456789")))
    val shape = RowShape.ofTypes(schema.map(_.dataType))
    val bytes = new Array[Byte](7) ++ row.getBytes ++ new Array[Byte](100)
    shape.check(bytes, 7, row.getSizeInBytes)
    val word = from << 32 | size & 0xffffffffL
    Platform.putLong(bytes, Platform.BYTE_ARRAY_OFFSET + 7L + 8L, word)
    intercept[CorruptStateException](shape.check(bytes, 7, row.getSizeInBytes))
  }

  private def valuesOf(schema: StructType, random: Random): InternalRow =
    InternalRow.fromSeq(schema.map { field =>
      val generator = RandomDataGenerator.forType(field.dataType, nullable = true, random).get
      CatalystTypeConverters.createToCatalystConverter(field.dataType)(generator())
    })

  /** Reads all values in the bytes if the row is accepted. */
  private def survives(
      shape: RowShape,
      schema: StructType,
      toRow: UnsafeProjection,
      bytes: Array[Byte]): Unit = {
    val row = new UnsafeRow(schema.size)
    try {
      shape.pointTo(row, bytes)
      toRow(InternalRow.fromSeq(row.toSeq(schema)))
      ()
    } catch {
      case _: CorruptStateException =>
      // Spark's own check of a decimal's digits.
      case _: ArithmeticException with SparkThrowable =>
    }
  }
}
