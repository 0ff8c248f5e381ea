package winops.spark.input

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow, XXH64}
import org.apache.spark.sql.types.{DataType, LongType}
import org.apache.spark.unsafe.types.UTF8String

import winops.spark.row.KeyHash
import winops.spark.testing.KeepPlans

class GroupedRowsSuite extends AnyFunSuite {
  import GroupedRowsSuite._
  import KeepPlans._

  private val keys = Seq(k, n)
  private val plan = KeepPlans.plan(spec("KEEP ALL"), Seq(ts), keys)

  test("groups whose keys have the same hash, and whose rows come mixed, are distinguished") {
    val colliding = collidingKeys(first = (7L, 11L), count = 40)
    assert(colliding.map(hashOf).distinct.size == 1)
    assert(colliding.distinct.size == 40)
    val others = (0 until 20).map(i => (i.toLong, -i.toLong))
    val random = new Random(1)
    val rows = (0 until 2000).map { i =>
      val key = random.shuffle(colliding ++ others).head
      Row(key, random.nextInt(100).toLong, i)
    }
    val groups = read(grouped(rows))
    assert(groups.map(_._1).toSet == rows.map(_.key).toSet)
    assert(groups.map(_._1).distinct.size == groups.size, "a group came twice")
    groups.foreach { case (key, emitted) =>
      assert(emitted == rows.filter(_.key == key).sortBy(r => (r.micros, r.position)))
    }
  }

  test("a group whose rows were not read is passed over") {
    val colliding = collidingKeys((1L, 2L), 3)
    val groups = grouped(colliding.flatMap(key => (0 until 4).map(i => Row(key, i.toLong, i))))
    var seen = Set.empty[(Long, Long)]
    var read = 0
    while (groups.nextGroup()) {
      seen += keyOf(groups.key)
      (0 until read).foreach(_ => groups.next())
      read += 1
    }
    assert(seen == colliding.toSet)
    assert(!groups.nextGroup() && !groups.hasNext)
  }

  test("without keys all rows are one group in the order in which they come") {
    val whole = KeepPlans.plan(spec("KEEP ALL"), keys = Nil)
    val rows = Seq(Row((1, 1), 5, 0), Row((2, 2), 3, 1), Row((1, 1), 4, 2))
    val groups = GroupedRows(whole, input, rows.iterator.map(unsafe))
    assert(groups.nextGroup())
    assert(groups.key.numFields == 0)
    assert(Iterator.continually(groups.next()).take(3).map(_.getLong(1)).toSeq == Seq(5, 3, 4))
    assert(!groups.hasNext && !groups.nextGroup())
    assert(!GroupedRows(whole, input, Iterator.empty).nextGroup())
  }

  private def grouped(rows: Seq[Row]): GroupedRows =
    GroupedRows(plan, input, inInputOrder(plan, rows.map(unsafe(_).copy())))

  private def read(groups: GroupedRows): Seq[((Long, Long), Seq[Row])] = {
    val emitted = Seq.newBuilder[((Long, Long), Seq[Row])]
    while (groups.nextGroup()) {
      val key = keyOf(groups.key)
      val rows = Seq.newBuilder[Row]
      while (groups.hasNext) rows += rowOf(groups.next())
      emitted += key -> rows.result()
    }
    emitted.result()
  }

  private val toUnsafe = UnsafeProjection.create(input.map(_.dataType).toArray[DataType])

  private def unsafe(row: Row): UnsafeRow = toUnsafe(
    InternalRow(
      row.key._1,
      row.micros,
      row.key._2,
      UTF8String.fromString("z" * (row.position % 5)),
      row.position.toLong))

  private val hash = KeyHash(keys, keys)
  private val toRow = UnsafeProjection.create(Array[DataType](LongType, LongType))

  private def hashOf(key: (Long, Long)): Long = hash(toRow(InternalRow(key._1, key._2)))
}

private object GroupedRowsSuite {
  private val Seed = 42L

  final case class Row(key: (Long, Long), micros: Long, position: Int)

  def keyOf(row: UnsafeRow): (Long, Long) = (row.getLong(0), row.getLong(1))

  def rowOf(row: UnsafeRow): Row =
    Row((row.getLong(0), row.getLong(2)), row.getLong(1), row.getLong(4).toInt)

  /** Different pairs with the same hash.
    *
    * The hash of a pair is the hash of its second number, seeded with the hash of its first. A
    * number enters by an exclusive or of the seed with an invertible function of the number. So
    * for every first number there is a second one with the same hash of the pair.
    */
  def collidingKeys(first: (Long, Long), count: Int): Seq[(Long, Long)] = {
    def seeded(a: Long) = XXH64.hashLong(a, Seed) + Prime5 + 8L
    val common = seeded(first._1) ^ mix(first._2)
    first +: (1 until count).map { i =>
      val a = first._1 + i
      (a, unmix(common ^ seeded(a)))
    }
  }

  private val Prime1 = 0x9e3779b185ebca87L
  private val Prime2 = 0xc2b2ae3d27d4eb4fL
  private val Prime5 = 0x27d4eb2f165667c5L

  private def mix(value: Long): Long =
    java.lang.Long.rotateLeft(value * Prime2, 31) * Prime1

  private def unmix(mixed: Long): Long =
    java.lang.Long.rotateRight(mixed * inverse(Prime1), 31) * inverse(Prime2)

  /** The inverse of an odd number modulo 2 to the 64th, by Newton's method. */
  private def inverse(odd: Long): Long =
    Iterator.iterate(odd)(x => x * (2L - odd * x)).drop(6).next()
}
