package winops.spark.aggregates

import scala.util.Random

import org.apache.spark.SparkException
import org.apache.spark.sql.{Encoder, Encoders}
import org.apache.spark.sql.catalyst.encoders.ExpressionEncoder
import org.apache.spark.sql.catalyst.expressions.{AttributeReference, Literal}
import org.apache.spark.sql.catalyst.expressions.aggregate._
import org.apache.spark.sql.catalyst.expressions.variant.SchemaOfVariantAgg
import org.apache.spark.sql.execution.aggregate.ScalaAggregator
import org.apache.spark.sql.expressions.Aggregator
import org.apache.spark.sql.functions.udaf
import org.apache.spark.sql.types.{LongType, VariantType}

import winops.spark.expressions.WindowAggregate
import winops.spark.testing.{Damage, KeepStreamTest, Tick}
import winops.storage.bytes.{ByteReader, ByteWriter, CorruptStateException}

/** Aggregates whose buffers name classes are never stored. */
class BufferBytesSuite extends KeepStreamTest {
  import BufferBytesSuite._
  import testImplicits._

  private val n = AttributeReference("n", LongType)()

  private def userDefined[B](buffer: Encoder[B], zero: B): ScalaAggregator[Long, B, Long] = {
    val resolved = encoderOf(buffer).resolveAndBind()
    ScalaAggregator(Seq(n), new Unmoved(zero, buffer), encoderOf(Encoders.scalaLong), resolved)
  }

  test("a user's buffer is held if it is made of values") {
    val values = Seq[AggregateFunction](
      userDefined(Encoders.scalaLong, 0L),
      userDefined(Encoders.product[Named], Named("a", Seq(Inner(Some(1))))),
      userDefined(Encoders.tuple(Encoders.STRING, Encoders.scalaInt), ("a", 1)))
    values.foreach(function => assert(canHold(function)))
  }

  test("a user's buffer is not held if Kryo or Java serializes something in it") {
    val kryo = Encoders.kryo[Inner]
    val javas = Encoders.javaSerialization[Inner]
    val objects = Seq[AggregateFunction](
      userDefined(kryo, Inner(None)),
      userDefined(javas, Inner(None)),
      userDefined(Encoders.tuple(Encoders.scalaInt, kryo), (1, Inner(None))),
      userDefined(
        Encoders.tuple(Encoders.tuple(javas, Encoders.scalaInt), kryo),
        ((Inner(None), 1), Inner(None))))
    objects.foreach(function => assert(!canHold(function)))
  }

  test("a function of Spark without properties of its own is computed from the rows") {
    // A buffer of values, as that of a function that only a later version has.
    val unlisted = PivotFirst(n, n, Seq(1L))
    assert(AggregateProperties.ofSpark(unlisted).isEmpty)
    assert(AggregateProperties.of(unlisted).buffer == AggregateProperties.FromRows)
  }

  test("of Spark's own functions those are held that store values") {
    assert(canHold(new CountMinSketchAgg(n, Literal(0.1), Literal(0.9), Literal(1))))
    assert(canHold(new HllSketchAgg(n)))
    assert(canHold(HyperLogLogPlusPlus(n)))
    assert(!canHold(V2Aggregator[String, Any](null, Seq(n))))
    assert(!canHold(new SchemaOfVariantAgg(AttributeReference("v", VariantType)())))
  }

  test("nothing outside of a user's buffer is read, however it was damaged") {
    val random = new Random(5)
    val damage = new Damage(random)
    val function = userDefined(Encoders.product[Named], Named("abcdefgh", Seq(Inner(Some(1)))))
    val buffers = new FunctionBuffers(
      Seq(WindowAggregate(function, isDistinct = false, None)),
      Seq(n),
      (_, _) => throw new UnsupportedOperationException)
    val out = new ByteWriter
    buffers.write(buffers.create(), out)
    val whole = out.toArray
    buffers.read(buffers.create(), new ByteReader(whole))
    val refused = Seq.fill(500)(damage.of(whole)).count { bytes =>
      try {
        buffers.read(buffers.create(), new ByteReader(bytes))
        false
      } catch { case _: CorruptStateException => true }
    }
    assert(refused > 100)
  }

  test("an aggregate that Kryo serializes gives its values, and is not in the state") {
    spark.udf.register("peak", udaf(Peak))
    assume(isAble("peak"), "Spark 4.1.0 cannot run such an aggregate")
    val call = "PARTITION BY (k), 'KEEP 400 ROWS', output => 'agg', " +
      "aggregates => TABLE(SELECT peak(n) AS peak, max(n) AS greatest FROM input_of_keep)"
    withTempDir { dir =>
      val stream = ticks()
      val written = new Written
      (0 until 2).foreach { batch =>
        stream.addData((0 until 300).map(i => Tick("a", 1, (batch * 300 + i) * 7919 % 1000)))
        runAll(keep(stream.toDF(), call), dir.getCanonicalPath, written)
      }
      assert(written.rows.size == 600)
      assert(written.rows.forall(row => row.getAs[Long]("peak") == row.getAs[Int]("greatest")))
      val stored = spark.read
        .format("statestore")
        .load(dir.getCanonicalPath)
        .select($"value.content")
        .as[Array[Byte]]
        .collect()
      assert(stored.length > 2)
      val named = stored.count(new String(_, "ISO-8859-1").contains("BufferBytesSuite"))
      assert(named == 0)
    }
  }

  /** False if Spark alone cannot send an aggregate to a task. */
  private def isAble(aggregate: String): Boolean =
    try spark.range(3).selectExpr(s"$aggregate(int(id))").collect().length == 1
    catch {
      case failed: SparkException if failed.getMessage.contains("not serializable") => false
    }

  private def canHold(function: AggregateFunction): Boolean =
    FunctionBuffers.canHold(WindowAggregate(function, isDistinct = false, None))
}

private object BufferBytesSuite {
  final case class Inner(value: Option[Int])
  final case class Named(name: String, inner: Seq[Inner])

  def encoderOf[A](encoder: Encoder[A]): ExpressionEncoder[A] =
    org.apache.spark.sql.catalyst.encoders.encoderFor(encoder)

  /** An aggregator that ignores its input. */
  final class Unmoved[B](override val zero: B, override val bufferEncoder: Encoder[B])
      extends Aggregator[Long, B, Long] {
    override def reduce(buffer: B, value: Long): B = buffer
    override def merge(front: B, behind: B): B = front
    override def finish(buffer: B): Long = 0
    override def outputEncoder: Encoder[Long] = Encoders.scalaLong
  }

  /** The greatest number, in an object that is not a row. */
  final class Greatest(var value: Long) extends Serializable

  object Peak extends Aggregator[Long, Greatest, Long] {
    override def zero: Greatest = new Greatest(Long.MinValue)

    override def reduce(buffer: Greatest, value: Long): Greatest = {
      buffer.value = Math.max(buffer.value, value)
      buffer
    }

    override def merge(front: Greatest, behind: Greatest): Greatest = reduce(front, behind.value)
    override def finish(buffer: Greatest): Long = buffer.value
    override def bufferEncoder: Encoder[Greatest] = Encoders.kryo
    override def outputEncoder: Encoder[Long] = Encoders.scalaLong
  }
}
