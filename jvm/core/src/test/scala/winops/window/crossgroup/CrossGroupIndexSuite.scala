package winops.window.crossgroup

import scala.collection.mutable
import scala.util.Random

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks
import winops.policy.Reclaim
import winops.storage.btree.{PageMemory, Pages}
import winops.storage.bytes.{ByteReader, ByteWriter, HeapSegments}
import winops.window.time.Clock

class CrossGroupIndexSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  import CrossGroupIndexSuite._

  private val rules = Seq(
    None,
    Some(Reclaim.MoreGroupsThan(40)),
    Some(Reclaim.MoreRowsThan(90)),
    Some(Reclaim.SweptAtArrival(millis = 300, everyMillis = 50)))

  test("groups come in the orders of a sorted set and a map by last arrival, over restarts") {
    forAll(Gen.long, Gen.oneOf(rules), Gen.oneOf(0, 10, 5000), minSuccessful(200)) {
      (seed, reclaim, span) =>
        val driven = new Driven(reclaim, new Random(seed), span, pageBytes = seed % 2 * 20000L)
        (0 until 1500).foreach(_ => driven.step())
        driven.compare()
    }
  }

  test("a group that goes on and on has one place in each order") {
    val driven = new Driven(Some(Reclaim.MoreGroupsThan(3)), new Random(1), 1000)
    (0 until 5000).foreach(_ => driven.step())
    assert(driven.places <= 3 * 4)
  }

  test("arrivals and timers change few pages of any number of groups") {
    def touched(groups: Int): Int = {
      val random = new Random(7)
      val driven = new Driven(Some(Reclaim.MoreGroupsThan(groups.toLong)), random, 100000)
      // The earliest timers are those of the groups that were created first.
      (0L until groups.toLong).foreach(driven.arrive(_, within = 0L))
      driven.restart()
      val before = driven.segments.puts
      (1 to 200).foreach { i =>
        if (i % 2 == 0) driven.arrive(random.nextInt(groups).toLong, within = 0L)
        else driven.arrive(groups.toLong + i, within = 0L)
        driven.makeRoom()
        driven.fireFirst()
      }
      driven.restart()
      driven.segments.puts - before
    }
    val (few, many) = (touched(1000), touched(30000))
    assert(many <= few * 3 / 2, s"$few pages of 1,000 groups, $many of 30,000")
  }
}

object CrossGroupIndexSuite {

  /** Counts writes. */
  final class CountedSegments extends winops.storage.bytes.Segments {
    val kept = new HeapSegments
    var puts = 0

    override def get(number: Long): Array[Byte] = kept.get(number)
    override def remove(number: Long): Unit = kept.remove(number)
    override def put(number: Long, bytes: Array[Byte]): Unit = {
      puts += 1
      kept.put(number, bytes)
    }
  }

  private final case class Known(group: Long, created: Long, at: Long, rows: Long, due: Long)

  /** Drives an index and compares it with all groups in memory.
    *
    * @param span
    *   the timers' greatest distance
    */
  final class Driven(
      reclaim: Option[Reclaim],
      random: Random,
      span: Int,
      pageBytes: Long = PageMemory.DefaultBytes) {
    val segments = new CountedSegments
    private val records = new HeapRecords
    private var index = newIndex()

    // In the order of the last arrivals.
    private val known = mutable.LinkedHashMap.empty[Long, Known]
    private var created = 0L
    private var now = 0L
    private var lastSweep = Option.empty[Long]

    def places: Long = index.places

    private def newIndex() = new CrossGroupIndex[Long](
      reclaim,
      ordersByCreation = true,
      new Pages(segments, new PageMemory(pageBytes)),
      records,
      Keys)

    def step(): Unit = random.nextInt(40) match {
      case 0 => restart()
      case 1 => known.keys.headOption.foreach(remove)
      case 2 if known.nonEmpty => remove(known.keys.toSeq(random.nextInt(known.size)))
      case 3 => assert(index.nextDue == firstDue.fold(Clock.Never)(_.due))
      case 4 => compare()
      case _ =>
        now += random.nextInt(20).toLong
        fire()
        sweep()
        arrive(Math.abs(random.nextGaussian() * 40).toLong)
        makeRoom()
    }

    def compare(): Unit = {
      assert(index.size == known.size)
      assert(index.held == known.valuesIterator.map(_.rows).sum)
      val inOrder = known.values.toSeq.sortBy(_.created).map(_.group)
      assert(index.inOrderOfCreation.toSeq == inOrder)
    }

    /** A row arrives in a group, whose timer is then at a random distance, or at the greatest one
      * and up to `within` more.
      */
    def arrive(group: Long, within: Long = -1L): Unit = {
      val number = known.get(group).fold(created)(_.created)
      if (!known.contains(group)) created += 1
      val rows = random.nextInt(4).toLong
      val due = if (within < 0) dueAfter(now) else now + span + within
      known.remove(group)
      known.update(group, Known(group, number, now, rows, due))
      index.arrived(group, now, rows, due)
    }

    def restart(): Unit = {
      val out = new ByteWriter
      index.save(out)
      index = newIndex()
      val in = new ByteReader(out.toArray)
      index.restore(in)
      in.finish()
    }

    private def firstDue: Option[Known] =
      known.valuesIterator.filter(_.due != Clock.Never).reduceOption { (one, other) =>
        val isBefore = one.due < other.due || one.due == other.due && one.created < other.created
        if (isBefore) one else other
      }

    private def fire(): Unit = {
      while (firstDue.exists(_.due <= now)) {
        val first = firstDue.get
        assert(index.isDueAt(now))
        assert(index.firstDue == first.group && index.dueOf(first.group) == first.due)
        if (random.nextInt(3) == 0) remove(first.group)
        else {
          val (rows, due) = (random.nextInt(4).toLong, dueAfter(first.due + 1))
          known.update(first.group, first.copy(rows = rows, due = due))
          index.changed(first.group, first.due, rows, due)
        }
      }
      assert(!index.isDueAt(now))
    }

    /** Fires the earliest timer, and sets another one. */
    def fireFirst(): Unit = firstDue.foreach { first =>
      now = Math.max(now, first.due)
      assert(index.isDueAt(now) && index.firstDue == first.group)
      val due = dueAfter(first.due + 1)
      known.update(first.group, first.copy(due = due))
      index.changed(first.group, first.due, first.rows, due)
    }

    private def sweep(): Unit = reclaim match {
      case Some(Reclaim.SweptAtArrival(millis, every)) =>
        val starts = lastSweep.forall(now >= _ + every)
        assert(index.startsSweep(now) == starts)
        if (starts) {
          lastSweep = Some(now)
          while (known.headOption.exists(now - _._2.at > millis)) {
            assert(index.oldestIsSilent(now) && index.oldest == known.head._1)
            assert(index.heldBy(index.oldest) == known.head._2.rows)
            remove(known.head._1)
          }
          assert(!index.oldestIsSilent(now))
        }
      case _ => assert(!index.startsSweep(now))
    }

    def makeRoom(): Unit = {
      val limit = reclaim match {
        case Some(Reclaim.MoreGroupsThan(most)) => () => known.size > most
        case Some(Reclaim.MoreRowsThan(most)) => () => known.valuesIterator.map(_.rows).sum > most
        case _ => () => false
      }
      while (limit()) {
        assert(index.isTooMuch && index.oldest == known.head._1)
        assert(index.oldestIsEmpty == (known.head._2.rows == 0))
        remove(known.head._1)
      }
      assert(!index.isTooMuch)
    }

    private def remove(group: Long): Unit = {
      known.remove(group)
      index.removed(group)
    }

    private def dueAfter(at: Long): Long =
      if (span == 0 || random.nextInt(5) == 0) Clock.Never else at + random.nextInt(span).toLong
  }

  private object Keys extends GroupKeys[Long] {
    override def bytesOf(group: Long): Array[Byte] = group.toString.getBytes
    override def groupOf(key: Array[Byte]): Long = new String(key).toLong
  }
}
