package winops.spark.execution

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.{DataType, LongType}

import winops.storage.btree.PageMemory
import winops.storage.bytes.{HeapSegments, Segments}

/** Groups of tables that do not fit into memory. */
class SpillSuite extends AnyFunSuite {

  test("segments are the same on the heap, after a spill, and after they were cleared") {
    val limits = Seq(0L, 1000L, 100000L, Long.MaxValue)
    for { limit <- limits; seed <- 1 to 5 } {
      val random = new Random(seed)
      val spillable = new SpillableSegments(limit)
      (1 to 3).foreach { _ =>
        val model = new HeapSegments
        drive(random, spillable, model)
        spillable.clear()
        assert((0L until 300L).forall(spillable.get(_) == null))
      }
    }
  }

  test("groups and their records are the same on the heap and after a spill") {
    for { limit <- Seq(0L, 30000L, Long.MaxValue); seed <- 1 to 3 } {
      val random = new Random(seed)
      val groups = new SpillableGroups(new PageMemory(20000L), limit)
      val windows, waiting = Seq.fill(20)(new HeapSegments)
      val values, records = Array.fill[Array[Byte]](20)(null)
      (0 until 60).foreach { _ =>
        val group = random.nextInt(20)
        val key = keyOf(group)
        val in = groups.open(key)
        assert((in == null) == (values(group) == null))
        if (in != null) assert(in.bytes.toSeq == values(group).toSeq)
        val record = groups.records.get(key.getBytes)
        assert(Option(record).map(_.toSeq) == Option(records(group)).map(_.toSeq))
        drive(random, groups.windowSegments, windows(group))
        drive(random, groups.waitingSegments, waiting(group))
        if (random.nextInt(5) == 0) {
          groups.remove()
          groups.records.remove(key.getBytes)
          values(group) = null
          records(group) = null
        } else {
          values(group) = bytes(random)
          records(group) = bytes(random)
          groups.save(out => values(group).foreach(b => out.byte(b.toInt)))
          groups.records.put(key.getBytes, records(group))
        }
      }
    }
  }

  private def keyOf(group: Int): UnsafeRow =
    UnsafeProjection.create(Array[DataType](LongType))(InternalRow(group.toLong)).copy()

  private def bytes(random: Random): Array[Byte] =
    random.nextBytes(random.nextInt(if (random.nextInt(20) == 0) 20000 else 400))

  private def drive(random: Random, segments: Segments, model: HeapSegments): Unit = {
    (0 until 200).foreach { _ =>
      val number = random.nextInt(300).toLong
      if (random.nextInt(3) == 0) {
        segments.remove(number)
        model.remove(number)
      } else {
        val put = bytes(random)
        segments.put(number, put)
        model.put(number, put)
      }
    }
    (0L until 300L).foreach { number =>
      assert(
        Option(segments.get(number)).map(_.toSeq) == Option(model.get(number)).map(_.toSeq))
    }
  }
}
