package winops.aggregation

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite
import winops.storage.btree.{PageMemory, Pages}
import winops.storage.bytes.{ByteReader, ByteWriter, HeapSegments}
import winops.testing.Longer

/** A window that is restored in each micro-batch has the same summaries as one that never is, and
  * reads few rows.
  */
class FrontSummarySuite extends AnyFunSuite {
  import FrontSummarySuite._

  for ((name, kind) <- Seq[(String, () => Hashes)](
      "short" -> (() => new Hashes),
      "long" -> (() => new Hashes(padding = 300)),
      "changed when read" -> (() => new Hashes(changesWhenRead = true)))) {
    val tags = Longer.unless(name != "long")
    test(s"the same summaries with a restart after each batch, $name", tags: _*) {
      (1 to 60).foreach { seed =>
        val random = new Random(seed)
        val size = 1 + random.nextInt(Seq(20, 40, 120, 500, 3000)(random.nextInt(5)))
        val most = Seq(1, 1, 3, 6, 60, 400)(random.nextInt(6))
        val (restored, other) = (new Driven(kind(), pageBytes = 0L), new Driven(kind()))
        var tail = 0L
        var target = size
        (1 to 400).foreach { _ =>
          if (random.nextInt(60) == 0) target = 1 + random.nextInt(size)
          val isBurst = random.nextInt(50) == 0
          (1 to 1 + random.nextInt(if (isBurst) 400 else most)).foreach { _ =>
            tail += 1
            // Rows of a damaged order, or of no step, are inserted together.
            if (random.nextInt(5) > 0) {
              Seq(restored, other).foreach(_.goTo(Math.max(0L, tail - target), tail))
              if (random.nextInt(4) > 0) {
                assert(restored.total == other.total, s"seed $seed, ${restored.window}")
              }
            }
          }
          if (random.nextInt(200) == 0) {
            tail = 0L
            Seq(restored, other).foreach(_.restart(random.nextInt(2)))
          }
          restored.saveAndRestore()
          if (restored.size > 0) assert(restored.total == other.total, s"seed $seed")
        }
        restored.discard()
        assert(restored.entries == 0, s"seed $seed leaves entries")
      }
    }
  }

  test("windows of any length read few rows and bytes in a micro-batch of one row") {
    val costs = Seq(40, 100, 1000, 10000, 100000).map { size =>
      val driven = new Driven(new Hashes)
      driven.goTo(0L, size.toLong)
      (0 until 600).foreach(i => driven.batch(size + i.toLong, size))
      driven.startCounting()
      val batches = 3200
      (600 until 600 + batches).foreach(i => driven.batch(size + i.toLong, size))
      val cost = driven.counted.map(_.toDouble / batches)
      // Measured in the largest window: 4.25 rows, 172 bytes read and 51 written.
      assert(cost.rows <= 5.0, s"of $size rows: $cost")
      assert(cost.bytesRead <= 200.0, s"of $size rows: $cost")
      assert(cost.bytesWritten <= 60.0, s"of $size rows: $cost")
      assert(driven.entries <= 8 + size / 256, s"of $size rows: ${driven.entries} entries")
      cost
    }
    info(costs.mkString("\n"))
  }
}

private object FrontSummarySuite {

  /** Hashes that depend on the order and grouping of the additions, and count the rows.
    *
    * @param padding
    *   the number of bytes to store beside a hash
    */
  final class Hashes(padding: Int = 0, override val changesWhenRead: Boolean = false)
      extends Summaries[Array[Long]] {
    import SummationOrderSuite.Orders

    var rows = 0L

    override def create(): Array[Long] = Orders.create()
    override def clear(summary: Array[Long]): Unit = Orders.clear(summary)

    override def add(summary: Array[Long], row: Long): Unit = {
      rows += 1
      Orders.add(summary, row)
    }

    override def append(summary: Array[Long], behind: Array[Long]): Unit =
      Orders.append(summary, behind)

    override def write(summary: Array[Long], out: ByteWriter): Unit = {
      Orders.write(summary, out)
      out.block(Array.fill[Byte](padding)(7))
    }

    override def read(summary: Array[Long], in: ByteReader): Unit = {
      Orders.read(summary, in)
      assert(in.block().length == padding)
    }
  }

  /** The rows, bytes and entries that micro-batches cost. */
  final case class Cost[A](rows: A, bytesRead: A, bytesWritten: A, written: A) {
    def map[B](f: A => B): Cost[B] = Cost(f(rows), f(bytesRead), f(bytesWritten), f(written))
  }

  final class Driven(summaries: Hashes, pageBytes: Long = PageMemory.DefaultBytes) {
    private val segments = new CountedSegments
    private val pages = new Pages(segments, new PageMemory(pageBytes))
    private val summary = new FrontSummary(summaries, pages)
    private var (head, tail) = (0L, 0L)
    private var ofValues = 0L

    def total: Long = summary.total(0)
    def size: Long = tail - head
    def window: String = s"rows from $head until $tail"
    def entries: Int = segments.size

    def goTo(newHead: Long, newTail: Long): Unit = {
      val from = Math.max(head, Math.min(newHead, newTail))
      if (newTail > tail) summary.insert(Math.max(tail, from), newTail)
      if (from > head) summary.remove(head, from)
      head = from
      tail = newTail
    }

    /** A micro-batch with one row. */
    def batch(newTail: Long, size: Int): Unit = {
      goTo(newTail - size, newTail)
      val _ = total
      saveAndRestore()
    }

    /** Numbers the rows from 0 again, as a group that was forgotten does. */
    def restart(how: Int): Unit = {
      if (how == 0) summary.clear()
      head = 0L
      tail = 0L
      if (how == 1) goTo(0L, 1L)
      if (how == 1) goTo(1L, 1L)
      if (how == 1) summary.clear()
      head = 0L
      tail = 0L
    }

    def saveAndRestore(): Unit = {
      val out = new ByteWriter
      summary.settle()
      pages.save(out)
      summary.save(out)
      ofValues += out.toArray.length
      val in = new ByteReader(out.toArray)
      pages.restore(in)
      summary.restore(in)
      in.finish()
    }

    /** Removes the group. */
    def discard(): Unit = {
      summary.clear()
      pages.discard()
    }

    def startCounting(): Unit = {
      summaries.rows = 0L
      ofValues = 0L
      segments.bytesRead = 0L
      segments.bytesWritten = 0L
      segments.written = 0L
    }

    def counted: Cost[Long] = Cost(
      summaries.rows,
      segments.bytesRead + ofValues,
      segments.bytesWritten + ofValues,
      segments.written)
  }

  /** Segments that count the bytes, with 12 for a key. */
  private final class CountedSegments extends winops.storage.bytes.Segments {
    private val kept = new HeapSegments
    var bytesRead = 0L
    var bytesWritten = 0L
    var written = 0L

    def size: Int = kept.size

    override def get(number: Long): Array[Byte] = {
      val bytes = kept.get(number)
      bytesRead += 12 + (if (bytes == null) 0 else bytes.length)
      bytes
    }

    override def put(number: Long, bytes: Array[Byte]): Unit = {
      written += 1
      bytesWritten += 12 + bytes.length
      kept.put(number, bytes)
    }

    override def remove(number: Long): Unit = {
      written += 1
      bytesWritten += 12
      kept.remove(number)
    }
  }
}
