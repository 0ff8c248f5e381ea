package winops.window.machine

import scala.collection.mutable

import org.scalacheck.{Gen, Shrink}
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import winops.policy.Policy
import winops.testing.{DrivenGroup, Input, ObservedChange, RowValues, TableTests}
import winops.text.esper.Esper

/** A window of one row for each key, alone or beside another window, has the same changes over
  * the rows of each key alone.
  */
class SplitByKeySuite extends TableTests with ScalaCheckPropertyChecks {
  import SplitByKeySuite._
  import StoredMachineSuite.{batches, evaluator, values, views}

  // A smaller seed is not a simpler case, so shrinking is disabled.
  implicit private def noShrink[A]: Shrink[A] = Shrink.shrinkAny

  private def policy(text: String): Policy = RowValues.policy(Esper, text)
  private def isSplit(text: String): Boolean = policy(text).splitByKey.isSplit

  private val texts = for {
    key <- Seq("#unique(k)", "#firstunique(k)")
    other <- "" +: (views ++ batches)
    text <- if (other.isEmpty) Seq(key) else Seq(key + other, other + key)
  } yield text

  testEach("each key has the changes of the window")(texts.filter(isSplit): _*) { text =>
    val whole = policy(text)
    forAll(Input.sequences.map(_.sortBy(_.at)), Gen.long, minSuccessful(60)) { (inputs, seed) =>
      val group = new DrivenGroup(whole, None, evaluator(seed))
      val groups = new GroupsByKey(whole.splitByKey, seed)
      inputs.foreach { input =>
        assert(unnumbered(group.feed(input)) == unnumbered(groups.feed(input)))
      }
      assert(group.content.sorted == groups.content.sorted)
    }
  }

  test("the windows that are split are those that the page on Esper names") {
    def name(text: String) = text.takeWhile(_ != '(')
    val alone = Seq("#unique(k)", "#firstunique(k)")
    assert(alone.forall(isSplit))
    assert(alone.map { key =>
      (views ++ batches).filter(other => isSplit(key + other)).map(name).toSet
    }.toSet == Set(Set("#time", "#time_order", "#timetolive", "#keepall")))
  }

  /** A group for each key of the rows. */
  private final class GroupsByKey(policy: Policy, seed: Long) {
    private val groups = mutable.LinkedHashMap.empty[Int, (DrivenGroup, mutable.Buffer[Int])]
    private var rows = 0

    /** Applies the row to the group of its key, and its time to all groups. */
    def feed(input: Input): Seq[ObservedChange] = {
      val timed = groups.keys.toSeq.flatMap(numbered(_, Input.Time(input.at)))
      input match {
        case Input.Row(_) =>
          val key = values(seed, rows).k
          val (_, known) = groups.getOrElseUpdate(key, empty)
          known += rows
          rows += 1
          timed ++ numbered(key, input)
        case Input.Time(_) => timed
      }
    }

    def content: Seq[Int] =
      groups.values.toSeq.flatMap { case (group, known) => group.content.map(known) }

    private def empty: (DrivenGroup, mutable.Buffer[Int]) = {
      val known = mutable.Buffer.empty[Int]
      def of(rowAt: Long => Int) =
        new RowValues.Expressions(row => values(seed, known(rowAt(row))))
      (new DrivenGroup(policy, None, of), known)
    }

    private def numbered(key: Int, input: Input): Seq[ObservedChange] = {
      val (group, known) = groups(key)
      group.feed(input).map(change => change.copy(row = known(change.row)))
    }
  }
}

private object SplitByKeySuite {

  /** Changes without their numbers, which count for each key, in an order of their own. */
  private def unnumbered(changes: Seq[ObservedChange]): Seq[ObservedChange] =
    changes
      .map(_.copy(step = 0L, sequence = 0L))
      .sortBy(change => (change.at, change.row, change.isInsert))
}
