package winops.spark.state

import scala.collection.mutable

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.types.{DataType, LongType}
import org.apache.spark.sql.winops.internal.WinopsRuntimeException

import winops.spark.testing.MapSegments
import winops.storage.bytes.ByteWriter
import winops.window.time.Clock

class StoredPartitionStateSuite extends AnyFunSuite {
  private val identity = s"""{"policy":"KEEP 2 ROWS","format":${StateVersion.Current}}"""
  private val toKey = UnsafeProjection.create(Array[DataType](LongType))

  private def key(k: Long): UnsafeRow = toKey(InternalRow(k)).copy()

  private def open(
      segments: MapSegments,
      now: Long,
      identity: String = identity,
      idle: Option[Long] = None,
      groups: => Seq[UnsafeRow] = fail("all groups were read"),
      rankOf: UnsafeRow => Long = _ => 0L): StoredPartitionState =
    new StoredPartitionState(segments, identity, 1, now, idle, groups.iterator, rankOf = rankOf)

  private def takeAll(state: StoredPartitionState): Seq[UnsafeRow] =
    Iterator.continually(state.nextExpired()).takeWhile(_ != null).toVector

  test("what was counted and entered is there after the next start") {
    val segments = new MapSegments
    val first = open(segments, now = 0)
    first.count(3, 10, 5)
    first.count(-1, -4, -2)
    first.register(50, key(1))
    first.register(60, key(2))
    first.register(70, key(3))
    first.save()

    val second = open(segments, now = 60)
    assert((second.groupsRemembered, second.rowsHeld, second.rowsWaiting) == ((2, 6, 3)))
    second.cancel(key(1))
    second.cancel(key(9))
    assert(takeAll(second) == Seq(key(2)))
    assert(second.earliestDue == 70)
    second.save()
    assert(open(segments, now = 69).earliestDue == 70)
  }

  test("a micro-batch that lasts hands out timers as time passes, also those that it registers") {
    val segments = new MapSegments
    val first = open(segments, now = 0)
    first.register(50, key(1))
    first.register(60, key(2))
    first.save()

    val lasting = open(segments, now = 10)
    lasting.register(55, key(3))
    lasting.register(5000, key(4))
    val taken = mutable.Set.empty[UnsafeRow]
    lasting.advance(40)(taken += _)
    assert(taken.isEmpty && lasting.timePassed == 10)
    lasting.advance(55)(taken += _)
    assert(taken == Set(1L, 3L).map(key) && lasting.timePassed == 40)
    // An instant that has passed has no effect.
    lasting.advance(30)(taken += _)
    lasting.register(58, key(5))
    lasting.advance(60)(taken += _)
    assert(taken == Set(1L, 2L, 3L, 5L).map(key) && lasting.earliestDue == 5000)
    lasting.save()

    val later = open(segments, now = 60)
    assert(later.timePassed == 60 && later.earliestDue == 5000)
  }

  test("groups that are due are worked on in the order that costs least") {
    val segments = new MapSegments
    val first = open(segments, now = 0)
    Seq(3L, 1L, 4L, 2L).foreach(k => first.register(60 - k, key(k)))
    first.save()
    val second = open(segments, now = 60, rankOf = _.getLong(0))
    second.cancel(key(3))
    assert(takeAll(second) == Seq(1L, 2L, 4L).map(key))
  }

  test("when idle changes, and only then, all groups are looked at once") {
    val segments = new MapSegments
    open(segments, now = 0).save()
    open(segments, now = 1).save()

    val added = open(segments, now = 2, idle = Some(10), groups = Seq(key(1), key(2)))
    added.cancel(key(1))
    assert(takeAll(added) == Seq(key(2)))
    added.save()
    open(segments, now = 3, idle = Some(10)).save()

    val changed = open(segments, now = 4, idle = Some(20), groups = Seq(key(3)))
    assert(takeAll(changed) == Seq(key(3)))
    changed.save()
    val removed = open(segments, now = 5, groups = Seq(key(4)))
    assert(takeAll(removed) == Seq(key(4)))
  }

  test("state that another keep left is refused with what differs") {
    val segments = new MapSegments
    open(segments, now = 0).save()
    val refused = intercept[WinopsRuntimeException] {
      open(segments, now = 1, identity = identity.replace("2 ROWS", "3 ROWS"))
    }
    assert(refused.getCondition == "WINOPS_POLICY_CHANGED")
    assert(refused.getMessage.contains("""policy = "KEEP 2 ROWS""""))
    assert(refused.getMessage.contains("""policy = "KEEP 3 ROWS""""))
    assert(!refused.getMessage.contains("format"))
  }

  test("state in the form of another version is refused") {
    val segments = new MapSegments
    val out = new ByteWriter
    out.byte(StateVersion.Current + 1)
    segments.put(0, out.toArray)
    val refused = intercept[WinopsRuntimeException](open(segments, now = 1))
    assert(refused.getCondition == "WINOPS_STATE_FORMAT")
    assert(refused.getMessage.contains(s"format ${StateVersion.Current + 1}"))
  }

  test("state that is cut off, or has more than it should, is refused") {
    val segments = new MapSegments
    val state = open(segments, now = 0)
    state.register(50, key(1))
    state.save()
    val whole = segments.get(0)
    Seq(whole.dropRight(1), whole :+ 0.toByte, Array.emptyByteArray).foreach { bytes =>
      segments.put(0, bytes)
      val refused = intercept[WinopsRuntimeException](open(segments, now = 1))
      assert(refused.getCondition == "WINOPS_STATE_FORMAT")
    }
    segments.put(0, whole)
    segments.remove(1)
    val refused = intercept[WinopsRuntimeException](open(segments, now = 50))
    assert(refused.getCondition == "WINOPS_STATE_FORMAT")
  }

  test("the instant to which time had passed is that of the batch before, and never goes back") {
    val segments = new MapSegments
    def passedAt(now: Long): Long = {
      val state = open(segments, now)
      state.save()
      state.timePassed
    }
    assert(Seq(5L, 3L, 9L, 9L).map(passedAt) == Seq(Long.MinValue, 5L, 5L, 9L))
  }

  test("groups that are due come between the groups with rows, and once") {
    val segments = new MapSegments
    val first = open(segments, now = 0)
    Seq(1L, 2L, 4L, 5L, 7L).foreach(k => first.register(50, key(k)))
    first.save()
    val second = open(segments, now = 60, rankOf = _.getLong(0))
    val order = Seq(2L, 3L, 6L).flatMap { withRows =>
      val before =
        Iterator
          .continually(second.nextExpiredBefore(key(withRows)))
          .takeWhile(_ != null)
          .toVector
      second.cancel(key(withRows))
      before :+ key(withRows)
    }
    assert(order ++ takeAll(second) == (1L to 7L).map(key))
  }

  test("without entries nothing is ever due") {
    val state = open(new MapSegments, now = Long.MinValue)
    assert(state.earliestDue == Clock.Never)
    assert(state.nextExpired() == null)
  }
}
