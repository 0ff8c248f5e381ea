package winops.aggregation

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite
import winops.storage.btree.Pages
import winops.storage.bytes.{ByteReader, ByteWriter, HeapSegments}

/** Sums of a type with a small range: sums of blocks never hide that the sum from the oldest row
  * to the newest overflows on its way.
  */
class WindowWeightSuite extends AnyFunSuite {
  import WindowSummarySuite.restored
  import WindowWeightSuite._

  private def sumsOf(name: String): (Sums, Pages) => WindowSummary[Array[Long]] = name match {
    case "front" => new FrontSummary(_, _)
    case _ => (sums, pages) => new TreeSummary(sums, pages.newMap())
  }

  for (kind <- Seq("front", "tree"); seed <- 1 to 20) {
    test(s"$kind: an overflow on the way is not hidden, $seed") {
      val random = new Random(seed)
      val size = 33 + random.nextInt(300)
      val values = someValues(random, 3 * size)
      val sums = new Sums(values)
      val pages = new Pages(new HeapSegments)
      val summary = sumsOf(kind)(sums, pages)
      val out = new ByteWriter
      var overflows = 0
      values.indices.foreach { row =>
        summary.insert(row.toLong, row + 1L)
        if (row >= size) summary.remove(row.toLong - size, row - size + 1L)
        if (random.nextInt(3) == 0) restored(summary, pages, out)
        val expected = fold(values.slice(Math.max(0, row + 1 - size), row + 1))
        if (expected == Overflow) overflows += 1
        assert(summary.total(0) == expected, s"row $row")
      }
      assert(overflows < values.size)
    }

    test(s"$kind: far from the limits, each row is weighed once, $seed") {
      val values = Seq.fill(2000)(new Random(seed).nextInt(3).toLong - 1)
      val sums = new Sums(values)
      val pages = new Pages(new HeapSegments)
      val summary = sumsOf(kind)(sums, pages)
      val out = new ByteWriter
      values.indices.foreach { row =>
        summary.insert(row.toLong, row + 1L)
        if (row >= 500) summary.remove(row - 500L, row - 499L)
        assert(summary.total(0) != Overflow)
        if (row % 3 == 0) restored(summary, pages, out)
      }
      assert(sums.weighed <= values.size + 2 * WindowSummary.FoldedRows)
    }
  }

  test("after large values have left, rows are not weighed again in each step") {
    val values = Seq.fill(20)(Limit / 2) ++ Seq.fill(5000)(1000L)
    val sums = new Sums(values)
    val summary = new FrontSummary(sums, new Pages(new HeapSegments))
    values.indices.foreach { row =>
      summary.insert(row.toLong, row + 1L)
      if (row >= 500) summary.remove(row - 500L, row - 499L)
      summary.total
      if (row == 600) sums.weighed = 0
    }
    // Measured: 4,419, one for each row that follows. The 500 rows of the window in each step would
    // be two million.
    assert(sums.weighed < 10000)
  }
}

private object WindowWeightSuite {
  val Limit: Long = 1L << 40
  val Overflow: Long = Long.MaxValue

  /** Small numbers with large ones between them, which often cancel each other out. */
  def someValues(random: Random, count: Int): Seq[Long] = {
    val rare = 1 + random.nextInt(40)
    Seq.fill(count) {
      val sign = if (random.nextBoolean()) 1L else -1L
      sign * (if (random.nextInt(rare) == 0) Limit / (1 + random.nextInt(4))
              else random.nextInt(9).toLong)
    }
  }

  def plus(one: Long, other: Long): Long =
    if (one == Overflow || other == Overflow || Math.abs(one + other) > Limit) Overflow
    else one + other

  def fold(values: Seq[Long]): Long = values.foldLeft(0L)(plus)

  final class Sums(values: Seq[Long]) extends Summaries[Array[Long]] {
    private val each = values.toArray
    var weighed = 0

    override def create(): Array[Long] = Array(0L)
    override def clear(sum: Array[Long]): Unit = sum(0) = 0L
    override def add(sum: Array[Long], row: Long): Unit = sum(0) = plus(sum(0), each(row.toInt))

    override def append(sum: Array[Long], behind: Array[Long]): Unit =
      sum(0) = plus(sum(0), behind(0))

    override def areWeighed: Boolean = true

    override def weight(row: Long): Double = {
      weighed += 1
      Math.abs(each(row.toInt).toDouble) / Limit.toDouble
    }

    override def write(sum: Array[Long], out: ByteWriter): Unit = out.number(sum(0))
    override def read(sum: Array[Long], in: ByteReader): Unit = sum(0) = in.number()
  }
}
