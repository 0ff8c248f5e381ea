package winops.spark.state

import org.scalatest.funsuite.AnyFunSuite

class GroupPlacementSuite extends AnyFunSuite {
  private def after(changed: Long*): Boolean =
    changed.foldLeft(GroupPlacement.Initial)((placement, n) => placement.after(n, 100)).inBuckets

  test("groups leave buckets after two micro-batches that change few of them") {
    assert(after())
    assert(after(89))
    assert(!after(89, 1))
    assert(after(89, 90, 89))
    assert(after(89, 100, 89), "a micro-batch for timers between two with rows")
    assert(after(90, 90, 90))
  }

  test("groups return into buckets after two micro-batches that change nearly all") {
    assert(!after(1, 1, 98))
    assert(after(1, 1, 98, 100))
    assert(!after(1, 1, 98, 97, 98))
    assert(!after(1, 1, 97, 97, 97))
  }

  test("a micro-batch without changes decides nothing") {
    assert(after(0, 0, 0))
    assert(after(1, 0, 0))
    assert(!after(1, 0, 1))
    assert(!after(1, 1, 0, 0))
  }

  test("runs and own values have the first bytes of their hash in their keys") {
    import EntryNumbers._
    val hash = 0x123456789abcdef0L
    val short = 0x1234000000000000L
    assert(
      Seq(Bucket, Totals, LongValue, -1L, FirstWindowSegment, FirstWindowSegment + (1L << 60))
        .forall(hashIn(_, hash) == hash))
    assert(hashIn(FirstWaitingSegment + 7, hash) == hash)
    val run = winops.storage.rows.RowLog.FirstRun + 8
    assert(
      Seq(OwnValue, FirstWindowSegment + run, FirstWaitingSegment + run)
        .forall(hashIn(_, hash) == short))
    assert(hashIn(OwnValue, -1L) == -1L << 48)
  }
}
