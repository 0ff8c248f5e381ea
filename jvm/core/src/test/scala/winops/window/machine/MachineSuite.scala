package winops.window.machine

import scala.util.Random

import org.scalacheck.Gen
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import winops.policy.Retention
import winops.storage.btree.Pages
import winops.storage.bytes.HeapSegments
import winops.storage.rows.Rows
import winops.testing.{CclWindow, DrivenGroup, Input, NaiveWindow, TableTests}
import winops.window.changes.ChangeQueue
import winops.window.expression.Evaluator
import winops.window.piece.Everything
import winops.window.time.Clock

class MachineSuite extends TableTests with ScalaCheckPropertyChecks {
  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 500)

  private val idle = Gen.option(Gen.choose(1L, 90L))

  test("the machine emits and holds what the rules say") {
    forAll(CclWindow.any, idle, Input.sequences) { (keep, idle, inputs) =>
      val naive = new NaiveWindow(keep, idle)
      val group = new DrivenGroup(keep, idle)
      assert(inputs.flatMap(group.feed) == naive.feed(inputs))
      assert(group.content == naive.content)
    }
  }

  test("wherever a group is stored and taken up again, the changes are the same") {
    forAll(CclWindow.any, idle, Input.sequences, Gen.long) { (keep, idle, inputs, seed) =>
      val group = new DrivenGroup(keep, idle)
      val random = new Random(seed)
      val emitted = inputs.flatMap { input =>
        random.nextInt(5) match {
          case 0 => group.restore(group.save())
          case 1 => group.restart(group.save())
          case 2 => if (!group.isAlive) group.dropForgotten()
          case _ =>
        }
        group.feed(input)
      }
      assert(emitted == new NaiveWindow(keep, idle).feed(inputs))
    }
  }

  test("telling the time before each input changes nothing") {
    forAll(CclWindow.any, idle, Input.sequences) { (keep, idle, inputs) =>
      val often = new DrivenGroup(keep, idle)
      val emitted = inputs.flatMap { input =>
        val first = if (often.isAlive) often.now + 1 else input.at
        (first to input.at).flatMap(t => often.feed(Input.Time(t))) ++ often.feed(input)
      }
      val seldom = new DrivenGroup(keep, idle)
      assert(emitted == inputs.flatMap(seldom.feed))
    }
  }

  test("replaying the changes rebuilds the content, and nothing is lost or emitted twice") {
    forAll(CclWindow.any, Input.sequences) { (keep, inputs) =>
      val group = new DrivenGroup(keep, None)
      val emitted = inputs.flatMap(group.feed)
      val replayed = emitted.foldLeft(Vector.empty[Int]) { (content, change) =>
        if (change.isInsert) content :+ change.row
        else {
          assert(content.head == change.row)
          content.tail
        }
      }
      val (inserts, deletes) = emitted.partition(_.isInsert)
      assert(replayed == group.content)
      assert(group.size == inserts.size - deletes.size)
      assert(inserts.size == inputs.count(_.isInstanceOf[Input.Row]))
      assert(emitted.map(_.sequence) == emitted.indices.map(_.toLong))
      assert(emitted.map(_.step).distinct == emitted.map(_.step).distinct.indices.map(_.toLong))
      assert(emitted.map(_.at) == emitted.map(_.at).sorted)
    }
  }

  test("the next due time is the instant of the next change that no row makes") {
    forAll(CclWindow.any, idle, Input.sequences) { (keep, idle, inputs) =>
      val group = new DrivenGroup(keep, idle)
      inputs.foreach(group.feed)
      val due = group.nextDue
      if (due != Clock.Never) {
        assert(due > group.now)
        assert(group.feed(Input.Time(due - 1)).isEmpty)
        val wasEmpty = group.size == 0
        assert(group.feed(Input.Time(due)).forall(_.at == due))
        assert(group.nextDue > due)
        assert(wasEmpty || group.size == 0 || keep.expiresRowsOneByOne)
      } else assert(group.feed(Input.Time(group.now.max(0L) + 1000000L)).isEmpty)
    }
  }

  test("a window of many thousand rows is kept across stores") {
    val keep = CclWindow.Rows(5000, 700)
    val group = new DrivenGroup(keep, None)
    val inputs = (0 until 20000).map(i => Input.Row(i / 3L))
    val emitted = inputs.zipWithIndex.flatMap { case (input, i) =>
      if (i % 611 == 0) group.restart(group.save())
      group.feed(input)
    }
    assert(emitted.filter(_.isInsert).map(_.row) == inputs.indices)
    assert(emitted.filterNot(_.isInsert).map(_.row) == (0 until (20000 - group.size.toInt)))
    assert(group.size >= 5000 && group.size < 5000 + 700)
    assert(group.content == (20000 - group.size.toInt until 20000))
  }

  // The years 1 and 9999 are the limits of an SQL timestamp.
  testEach("instants far from the epoch are no trouble")(-62135596800000L, 253402300799000L) {
    instant =>
      val keeps =
        Seq(CclWindow.Interval(Long.MaxValue), CclWindow.EveryInterval(86400000000L, None))
      keeps.foreach { keep =>
        val group = new DrivenGroup(keep, None)
        assert(group.feed(Input.Row(instant)).map(_.isInsert) == Seq(true))
        assert(group.feed(Input.Row(instant + 86399999L)).map(_.isInsert) == Seq(true))
      }
      val daily = new DrivenGroup(CclWindow.EveryInterval(86400000000L, Some(0L)), None)
      daily.feed(Input.Row(instant))
      assert(daily.nextDue > instant)
      assert(daily.nextDue <= instant + 86400000L)
      assert(daily.nextDue % 86400000L == 0)
  }

  test("bounds and triggers that make no window are refused") {
    val window = CclWindow.All.policy.retention.windows.head.copy(bound = Everything)
    val policy = CclWindow.All.policy.copy(retention = Retention.One(window))
    val error = intercept[IllegalArgumentException] {
      new Machine(
        policy,
        Clock.Never,
        EmptyRows,
        new Pages(new HeapSegments),
        Evaluator.None,
        new ChangeQueue(policy.stream))
    }
    assert(error.getMessage.contains("combination of admission, order, bound and triggers"))
  }

  private object EmptyRows extends Rows {
    override def contains(ordinal: Long): Boolean = false
    override def end: Long = 0
    override def first: Long = 0
    override def next(ordinal: Long): Long = ordinal + 1
    override def previous(ordinal: Long): Long = -1
    override def release(until: Long): Unit = ()
    override def remove(ordinal: Long): Unit = ()
    override def takeBack(): Unit = ()
    override def arrival(ordinal: Long): Long = throw new AssertionError(s"no row $ordinal")
  }
}
