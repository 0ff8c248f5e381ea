package winops.spark.state

import scala.collection.mutable

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.types.{DataType, LongType, StringType}
import org.apache.spark.unsafe.types.UTF8String

import winops.spark.testing.MapSegments
import winops.storage.bytes.{ByteReader, ByteWriter}
import winops.window.time.Clock

class TimerWheelSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  import TimerWheelSuite._

  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 25)

  test("every group is taken once its time has come, not before, and nothing is lost") {
    forAll(
      Gen
        .choose(0, 25)
        .flatMap(Gen.listOfN(_, Gen.zip(Gen.oneOf(Gen.const(0L), away), awayTimes)))) { steps =>
      val checked = new Checked
      var now = 0L
      steps.foreach { case (step, dues) =>
        now += step
        checked.run(Batch(now, dues.map(now + _)))
      }
      checked.run(Batch(Long.MaxValue / 2, Nil))
      assert(checked.slots.numbers.isEmpty)
    }
  }

  test("before the first watermark groups are entered and none is due") {
    val checked = new Checked
    checked.run(Batch(Long.MinValue, Seq(-3L, 0L, 5L, 1L << 40)))
    checked.run(Batch(Long.MinValue, Nil))
    checked.run(Batch(1L, Seq(2L)))
    checked.run(Batch(1L << 41, Nil))
    assert(checked.slots.numbers.isEmpty)
  }

  test("a batch in which nothing is due reads no entry") {
    val checked = new Checked
    checked.run(Batch(0L, (1L to 5000L).map(_ + 60000)))
    val before = checked.slots.timesRead
    checked.run(Batch(60000L, Nil))
    assert(checked.slots.timesRead == before)
  }

  test("due times from a millisecond to a year away need few buckets") {
    val year = 365L * 24 * 3600 * 1000
    val checked = new Checked
    val dues = (1L to 3000L).map(i => Math.max(1L, (year * Math.pow(i / 3000.0, 9)).toLong))
    checked.run(Batch(0L, dues))
    assert(checked.buckets <= 8 * 36)
    checked.run(Batch(year / 1000, Nil))
    assert(checked.buckets <= 8 * 36)
  }

  test("timers of many groups in one micro-batch go to slots before its end, and are not lost") {
    val slots = new MapSegments
    val timers = new TimerWheel(slots, width = 2)
    val count = 200000
    (0 until count).foreach(i => timers.add(1000L + i % 3, 0L, keyOf(s"group $i")))
    assert(slots.numbers.size > 2)
    def restored(timers: TimerWheel): TimerWheel = {
      val out = new ByteWriter
      timers.save(out)
      assert(slots.numbers.forall(slots.get(_).length < (2 << 20)))
      val other = new TimerWheel(slots, width = 2)
      other.restore(new ByteReader(out.toArray))
      other
    }
    val taken = mutable.Set.empty[String]
    def take(timers: TimerWheel, now: Long): Unit =
      timers.takeDue(now)(key => taken += key.getString(0))
    val first = restored(timers)
    take(first, 1001L)
    assert(taken == (0 until count).filter(_ % 3 < 2).map(i => s"group $i").toSet)
    take(restored(first), 1002L)
    assert(taken == (0 until count).map(i => s"group $i").toSet)
    assert(slots.numbers.isEmpty)
  }

  test("timers are taken from the wheel to which they were added") {
    val slots = new MapSegments
    val timers = new TimerWheel(slots, width = 2)
    def taken(now: Long): Set[String] = {
      val groups = mutable.Set.empty[String]
      timers.takeDue(now)(key => groups += key.getString(0))
      groups.toSet
    }
    assert(timers.earliest == Clock.Never)
    Seq(50L, 20L, 40L, 20L).zipWithIndex.foreach { case (due, i) =>
      timers.add(due, 0L, keyOf(s"group $i"))
    }
    assert(timers.earliest == 20L)
    assert(taken(19L).isEmpty)
    assert(taken(20L) == Set("group 1", "group 3"))
    assert(timers.earliest == 40L)
    timers.add(30L, 20L, keyOf("group 4"))
    assert(timers.earliest == 30L)
    assert(taken(45L) == Set("group 2", "group 4"))
    assert(timers.earliest == 50L)
    assert(taken(50L) == Set("group 0"))
    assert(timers.earliest == Clock.Never)
    assert(slots.numbers.isEmpty)
  }

  test("entries that fall due one after the other are not all read again each time") {
    val count = 20000
    val checked = new Checked
    checked.run(Batch(0L, (0 until count).map(i => 1000000L + i)))
    val held = checked.slots.bytesHeld
    val before = checked.slots.bytesRead
    val batches = 200
    (1 to batches).foreach(i => checked.run(Batch(1000000L + i * count / batches, Nil)))
    assert(checked.slots.bytesRead - before < held * batches / 10)
  }
}

private object TimerWheelSuite {

  /** Time advances to `now`; then groups are registered for these instants after it. */
  final case class Batch(now: Long, dues: Seq[Long])

  private final case class Pending(due: Long, key: String)

  val away: Gen[Long] = Gen.choose(0, 40).flatMap(bits => Gen.choose(1L, 1L << bits))

  val awayTimes: Gen[Seq[Long]] =
    Gen.frequency(3 -> Gen.choose(0, 6), 1 -> Gen.choose(200, 600)).flatMap(Gen.listOfN(_, away))

  private val projection = UnsafeProjection.create(Array[DataType](StringType, LongType))

  private def keyOf(name: String): UnsafeRow =
    projection(InternalRow(UTF8String.fromString(name), name.length.toLong)).copy()

  /** A timer wheel with a plain list of its expected timers. */
  final class Checked {
    val slots = new MapSegments
    private val pending = mutable.ArrayBuffer.empty[Pending]
    private var directory: Array[Byte] = _
    private var count = 0

    def buckets: Long = {
      val in = new ByteReader(directory)
      in.number()
      in.number()
    }

    def run(batch: Batch): Unit = {
      val now = batch.now
      val timers = new TimerWheel(slots, width = 2)
      if (directory != null) timers.restore(new ByteReader(directory))
      assert(timers.earliest == earliest)

      val taken = mutable.Set.empty[UnsafeRow]
      timers.takeDue(now)(taken += _.copy())
      assert(taken == pending.filter(_.due <= now).map(p => keyOf(p.key)).toSet)
      pending.filterInPlace(_.due > now)
      assert(timers.earliest == earliest)

      batch.dues.foreach { due =>
        // Every third key is registered for the second time.
        val key = s"group ${if (count % 3 == 2) count / 3 else count}"
        timers.add(due, now, keyOf(key))
        pending += Pending(due, key)
        count += 1
      }
      val out = new ByteWriter
      timers.save(out)
      directory = out.toArray
      assert(timers.earliest == earliest)
      assert(pending.nonEmpty || slots.numbers.isEmpty)
    }

    private def earliest: Long = pending.map(_.due).minOption.getOrElse(Clock.Never)
  }
}
