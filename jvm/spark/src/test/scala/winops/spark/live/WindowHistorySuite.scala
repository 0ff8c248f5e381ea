package winops.spark.live

import org.scalatest.funsuite.AnyFunSuite

import winops.spark.internal.{GroupSize, GroupSizes}

class WindowHistorySuite extends AnyFunSuite {
  private val empty = WindowHistory(0, "Keeps every row.")

  test("the last 100 micro-batches are remembered, and rows that were lost are summed") {
    val window = (0L until 250).foldLeft(empty) { (window, batch) =>
      window.add(Samples.of(batch).copy(late = 1, refused = 2, dropped = 3))
    }
    assert(window.samples.map(_.batch) == (150L until 250))
    assert((window.late, window.refused, window.dropped) == ((250, 500, 750)))
    assert(window.last.batch == 249)
  }

  test("rates are per second of the micro-batch, and bytes per row over all of them") {
    val sample = Samples.of(0).copy(millis = 500)
    assert(sample.insertedPerSecond == 8 && sample.deletedPerSecond == 4)
    assert(sample.bytesPerRow == 64)
    // A micro-batch that only advances time reads no rows and writes nevertheless.
    val timer = Samples.of(1).copy(rowsRead = 0, millis = 0, bytesWritten = 60)
    assert(timer.insertedPerSecond == 0 && timer.bytesPerRow == 0)
    assert(empty.add(sample).add(timer).bytesPerRow == 70)
    assert(empty.bytesPerRow == 0 && empty.last == WindowSample.Empty)
  }

  test("an alert names the number, the range and what to do") {
    val rising = Samples.held((1L to 100L).map(_ * 1000))
    assert(
      rising.alerts == Seq(
        "Rows held only grew over the last 100 micro-batches, from 1,000 to 100,000, " +
          "by about 1,000 each. Check that a rule of the window removes rows."))
    val early = Samples.held((1L to 20L).map(_ * 1000))
    assert(
      early.alerts == Seq(
        "Rows held only grew over the last 20 micro-batches, from 1,000 to 20,000, by about " +
          "1,000 each. If the window should be full by now, check that a rule of the window " +
          "removes rows."))
    assert(Samples.held(Seq.fill(100)(5L)).alerts.isEmpty)
  }

  test("a large group keeps the size of the last micro-batch that reported it") {
    val window = empty
      .see(Seq(GroupSize("a", 9), GroupSize("b", 5)), 1)
      .see(Seq(GroupSize("b", 7)), 2)
    assert(window.seen == Seq(SeenGroup("a", 9, 1), SeenGroup("b", 7, 2)))
    assert(window.see(Seq(GroupSize("a", 1)), 3).seen.map(_.key) == Seq("b", "a"))
    // The report of micro-batch 1 is forgotten after 100 further ones.
    assert(window.see(Nil, 100).seen.map(_.key) == Seq("a", "b"))
    assert(window.see(Nil, 101).seen.map(_.key) == Seq("b"))
    val many = (1 to 20).map(i => GroupSize(s"g$i", i.toLong))
    assert(empty.see(many, 1).seen.map(_.rows) == Seq(20, 19, 18, 17, 16))
  }

  test("sizes of several tasks become those of the largest groups") {
    val one = GroupSizes(9, Seq(GroupSize("a", 9), GroupSize("b", 2)))
    val other = GroupSizes(8, (1L to 5L).map(i => GroupSize(s"g$i", i + 3)))
    val both = one ++ other
    assert(both.rows == 9)
    assert(both.groups.map(_.rows) == Seq(9, 8, 7, 6, 5))
    // A task that ran twice.
    assert((both ++ one) == both)
  }
}
