package winops.aggregation

import scala.collection.mutable
import scala.util.{Random, Try}

import org.scalatest.funsuite.AnyFunSuite
import winops.storage.btree.Pages
import winops.storage.bytes.{ByteReader, ByteWriter, HeapSegments}
import winops.testing.Longer

/** The summation order depends only on the window and the numbers of its rows. */
class SummationOrderSuite extends AnyFunSuite {
  import SummationOrderSuite._

  for ((name, make) <- layouts[Array[Long]]) {
    test(s"$name: values do not depend on what came before, nor on restarts") {
      (1 to 30).foreach { seed =>
        val random = new Random(seed)
        val window = windows(name)(random)
        val expected = reached(Orders, make, window, new Random(0), isDirect = true)
        (1 to 4).foreach { _ =>
          val other = reached(Orders, make, window, random, isDirect = false)
          assert(other == expected, s"seed $seed, ${window.size} rows")
        }
      }
    }

    test(s"$name: windows of up to 32 rows are folded oldest to newest") {
      (1 to 100).foreach { seed =>
        val random = new Random(seed)
        val all = windows(name)(random)
        val window = all.takeRight(1 + random.nextInt(32))
        val folded = window.foldLeft(Orders.Empty)(Orders.withRow)
        assert(reached(Orders, make, window, random, isDirect = false) == folded, s"seed $seed")
      }
    }
  }

  for {
    (name, make) <- layouts[Sums.Sum]
    fails <- Seq(true, false)
    tags = Longer.unless(fails == (name == "tree"))
  } test(
    s"$name: a sum that fits when rows are added oldest to newest is given, fails = $fails",
    tags: _*) {
    var overflowed = 0
    (1 to 60).foreach { seed =>
      val random = new Random(seed)
      val window = windows(name)(random)
      val values = valuesThatOverflow(random, window)
      def sum(random: Random, isDirect: Boolean) =
        Try(reached(new Sums(values, fails), make, window, random, isDirect)).toOption.flatten
      val expected = sum(random, isDirect = true)
      val folded =
        Try(window.foldLeft(0L)((sum, row) => Math.addExact(sum, values(row)))).toOption
      if (folded.isDefined || window.size <= 32) assert(expected == folded, s"seed $seed")
      if (expected.isEmpty) overflowed += 1
      (1 to 3).foreach(_ => assert(sum(random, isDirect = false) == expected, s"seed $seed"))
    }
    // Measured: 37 to 39 of 60. Sums that fit and sums that overflow must both occur.
    assert(overflowed > 3 && overflowed < 45)
  }

  test("tree: after an overflow has left, what it left is summed up again") {
    val values = (row: Long) => if (row == 40L || row == 41L) Long.MaxValue else row
    val driven = new Driven(new Sums(values, isError = true), tree[Sums.Sum])
    driven.summary.insert(0L, 500L)
    assert(Try(driven.summary.total).isFailure)
    driven.saveAndRestore()
    driven.summary.remove(40L, 42L)
    assert(driven.summary.total.value == (0L until 500L).sum - 81L)
  }
}

private object SummationOrderSuite {
  type Make[S] = (Summaries[S], Pages) => WindowSummary[S]

  def front[S](summaries: Summaries[S], pages: Pages): WindowSummary[S] =
    new FrontSummary(summaries, pages)

  def tree[S](summaries: Summaries[S], pages: Pages): WindowSummary[S] =
    new TreeSummary(summaries, pages.newMap())

  def layouts[S]: Seq[(String, Make[S])] = Seq("front" -> front[S], "tree" -> tree[S])

  /** Random rows of a window that this layout supports. */
  def windows(layout: String)(random: Random): Vector[Long] = {
    val first = random.nextInt(5000).toLong
    val size = 1 + random.nextInt(Seq(40, 100, 400, 3000)(random.nextInt(4)))
    val all = (first until first + size).toVector
    if (layout == "front") all
    else {
      val share = 1 + random.nextInt(4)
      val some = all.filter(_ => random.nextInt(4) < share)
      if (some.isEmpty) all else some
    }
  }

  /** The value of a window, reached directly or through other windows. */
  def reached[S, V](
      summaries: Summaries[S] with Valued[S, V],
      make: Make[S],
      window: Vector[Long],
      random: Random,
      isDirect: Boolean): V = {
    val driven = new Driven(summaries, make)
    val there = mutable.TreeSet.empty[Long]
    val end = window.last + 1
    val isKept = window.toSet
    // Rows to remove before the end, by the row at which each removal happens.
    val leaving = mutable.TreeMap.empty[Long, Seq[Long]]
    val isFront = isKept.size == end - window.head
    var head = 0L
    var row = if (isDirect) window.head else Math.max(0L, window.head - random.nextInt(3000))
    if (isFront) head = row
    while (row < end) {
      val until = if (isDirect) row + 1 else Math.min(end, row + 1 + random.nextInt(4))
      if (!isDirect || isKept(row)) driven.insert(there, row, until)
      if (!isDirect && isFront) {
        val target =
          Math.min(window.head, Math.max(head, until - 1 - random.nextInt(window.size + 40)))
        driven.remove(there, head, target)
        head = target
      } else if (!isDirect) {
        (row until until).filterNot(isKept).foreach { other =>
          val when = until + random.nextInt(1000)
          leaving.update(when, leaving.getOrElse(when, Nil) :+ other)
        }
        leaving.rangeUntil(until).toSeq.foreach { case (when, some) =>
          some.foreach(other => driven.remove(there, other, other + 1))
          leaving -= when
        }
        if (random.nextInt(100) == 0) driven.saveAndRestore()
      }
      if (!isDirect && random.nextInt(3) == 0) { val _ = Try(driven.summary.total) }
      if (!isDirect && random.nextInt(200) == 0) driven.saveAndRestore()
      row = until
    }
    there.filterNot(isKept).foreach(other => driven.remove(there, other, other + 1))
    if (!isDirect && random.nextBoolean()) driven.saveAndRestore()
    summaries.valueOf(driven.summary.total)
  }

  /** Values, some of which overflow the sum of several rows or of all rows. */
  def valuesThatOverflow(random: Random, window: Vector[Long]): Long => Long = {
    val large = mutable.Map.empty[Long, Long]
    var isNegative = random.nextBoolean()
    (1 to 1 + random.nextInt(6)).foreach { _ =>
      val row = window(random.nextInt(window.size))
      large.update(row, if (isNegative) Long.MinValue + 3 else Long.MaxValue - 3)
      if (random.nextInt(5) > 0) isNegative = !isNegative
    }
    row => large.getOrElse(row, row % 7 - 3)
  }

  /** A summary with the pages that store it. */
  final class Driven[S](summaries: Summaries[S], make: Make[S]) {
    private val pages = new Pages(new HeapSegments)
    val summary: WindowSummary[S] = make(summaries, pages)

    def insert(there: mutable.Set[Long], from: Long, until: Long): Unit = {
      summary.insert(from, until)
      there ++= from until until
    }

    def remove(there: mutable.Set[Long], from: Long, until: Long): Unit = if (from < until) {
      summary.remove(from, until)
      there --= from until until
    }

    def saveAndRestore(): Unit = WindowSummarySuite.restored(summary, pages)
  }

  trait Valued[S, V] {
    def valueOf(summary: S): V
  }

  /** Combines rows into a hash that depends on the order and grouping of the additions. */
  object Orders extends Summaries[Array[Long]] with Valued[Array[Long], Long] {
    val Empty = 17L

    def withRow(summary: Long, row: Long): Long = mixed(summary, row ^ 0x5bd1e995L)

    private def mixed(a: Long, b: Long): Long =
      java.lang.Long.rotateLeft(a * 0x9e3779b97f4a7c15L, 23) * 31 + (b ^ b >>> 29)

    override def create(): Array[Long] = Array(Empty)
    override def clear(summary: Array[Long]): Unit = summary(0) = Empty
    override def add(summary: Array[Long], row: Long): Unit = summary(0) =
      withRow(summary(0), row)
    override def append(summary: Array[Long], behind: Array[Long]): Unit =
      summary(0) = mixed(summary(0), behind(0) * 0xbf58476d1ce4e5b9L)
    override def write(summary: Array[Long], out: ByteWriter): Unit = {
      out.number(summary(0) >>> 32)
      out.number(summary(0) & 0xffffffffL)
    }
    override def read(summary: Array[Long], in: ByteReader): Unit =
      summary(0) = in.number() << 32 | in.number()
    override def valueOf(summary: Array[Long]): Long = summary(0)
  }

  object Sums {
    final class Sum {
      var value = 0L
      var isOverflowed = false
    }
  }

  /** Sums of numbers that may overflow.
    *
    * @param isError
    *   true if an overflow is an error at once, false if the sum is only marked
    */
  final class Sums(values: Long => Long, isError: Boolean)
      extends Summaries[Sums.Sum]
      with Valued[Sums.Sum, Option[Long]] {
    import Sums.Sum

    override def create(): Sum = new Sum
    override def clear(summary: Sum): Unit = {
      summary.value = 0L
      summary.isOverflowed = false
    }
    override def add(summary: Sum, row: Long): Unit = add(summary, values(row), false)
    override def append(summary: Sum, behind: Sum): Unit =
      add(summary, behind.value, behind.isOverflowed)
    override def isOverflowed(summary: Sum): Boolean = summary.isOverflowed
    override def write(summary: Sum, out: ByteWriter): Unit = {
      out.number(summary.value)
      out.byte(if (summary.isOverflowed) 1 else 0)
    }
    override def read(summary: Sum, in: ByteReader): Unit = {
      summary.value = in.number()
      summary.isOverflowed = in.byte() == 1
    }
    override def valueOf(summary: Sum): Option[Long] =
      Option.when(!summary.isOverflowed)(summary.value)

    private def add(summary: Sum, value: Long, isOverflowed: Boolean): Unit = {
      if (isError) summary.value = Math.addExact(summary.value, value)
      else if (!summary.isOverflowed) {
        summary.isOverflowed = isOverflowed || Try(Math.addExact(summary.value, value)).isFailure
        if (!summary.isOverflowed) summary.value += value
      }
    }
  }
}
