package winops.window.machine

import scala.util.Random

import org.scalacheck.{Gen, Shrink}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import winops.policy.{ColumnKind, Policy, Scope}
import winops.terms.RowOperation
import winops.terms.RowOperation.{Delete, Insert, Update, Upsert}
import winops.testing.{KeyedChange, KeyedGroup, KeyedRow, NaiveKeyedWindow}
import winops.text.ccl.Ccl
import winops.text.esper.Esper
import winops.window.changes.RowOutcome

/** Windows over rows with a primary key, against a simple implementation. */
class KeyedWindowSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  import KeyedWindowSuite._

  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 60)

  implicit private def noShrink[T]: Shrink[T] = Shrink.shrinkAny

  NaiveKeyedWindow.texts.foreach { text =>
    test(s"operations on $text give the rows and changes of the simple implementation") {
      forAll(operations, Gen.long) { (inputs, seed) =>
        val random = new Random(seed)
        val naive = new NaiveKeyedWindow(text)
        val pageBytes = if (random.nextBoolean()) 0L else 1L << 20
        val machine = new KeyedGroup(policyOf(text), None, pageBytes)
        inputs.foreach { input =>
          assert(machine.feed(input) == naive.feed(input), input)
          assert(machine.isAlive == naive.isAlive)
          if (!machine.isAlive) machine.drop()
          else if (random.nextInt(4) == 0) machine.restart()
          if (random.nextInt(8) == 0) assert(machine.content == naive.content)
          assert(machine.size == naive.size)
          assert(machine.stored == naive.size)
        }
        val end = inputs.last.at + random.nextInt(40)
        if (machine.isAlive) assert(machine.advance(end) == naive.advance(end))
        assert(machine.content == naive.content)
      }
    }
  }

  test("an update keeps the place, the age and the number of its row") {
    val group = new KeyedGroup(policyOf("KEEP 3 ROWS"), None, 1L << 20)
    (1 to 3).foreach(k => group.feed(KeyedRow(Insert, 0L, k, 0, 0, k)))
    val (changes, outcome) = group.feed(KeyedRow(Upsert, 5L, 1, 0, 0, 11))
    assert(outcome == RowOutcome.Updated)
    assert(
      changes == Seq(
        KeyedChange("update_before", 0L, 1, 5L, 3L, 3L, "updated"),
        KeyedChange("update_after", 0L, 11, 5L, 3L, 4L, "updated")))
    assert(group.content == Seq(11, 2, 3))
    val (next, _) = group.feed(KeyedRow(Insert, 6L, 4, 0, 0, 4))
    assert(next.map(change => (change.kind, change.tag)) == Seq("insert" -> 4, "delete" -> 11))
  }

  test("operations without effect leave nothing behind") {
    val group = new KeyedGroup(policyOf("KEEP 20 MILLISECONDS"), None, 1L << 20)
    assert(group.feed(KeyedRow(Delete, 100L, 1, 0, 0, 1)) == ((Nil, RowOutcome.NotHeld)))
    assert(group.feed(KeyedRow(Update, 100L, 1, 0, 0, 1)) == ((Nil, RowOutcome.NotHeld)))
    assert(!group.isAlive)
    assert(group.feed(KeyedRow(Insert, 5L, 1, 0, 0, 1))._1.map(_.at) == Seq(5L))
    assert(group.feed(KeyedRow(Insert, 6L, 1, 0, 0, 2)) == ((Nil, RowOutcome.KeyHeld)))
    assert(group.content == Seq(1))
  }

  test("a window of many rows finds each of them by its key, however often it is stored") {
    val random = new Random(3)
    val group = new KeyedGroup(policyOf("KEEP ALL"), None, 1L << 16)
    val present = scala.collection.mutable.LinkedHashMap.empty[Int, Int]
    (0 until 6000).foreach { i =>
      val k = random.nextInt(1500)
      val operation = random.nextInt(3) match {
        case 0 => Delete
        case 1 => Upsert
        case _ => Insert
      }
      val (_, outcome) = group.feed(KeyedRow(operation, 0L, k, 0, 0, i))
      assert(RowOutcome.hasEffect(outcome) == (operation match {
        case Delete => present.contains(k)
        case Insert => !present.contains(k)
        case _ => true
      }))
      if (operation == Delete) present.remove(k)
      else if (RowOutcome.hasEffect(outcome)) present.update(k, i)
      if (random.nextInt(50) == 0) group.restart()
    }
    assert(group.content == present.values.toSeq)
  }

  test("policies without a window for rows with a key are refused") {
    val key = Seq(winops.terms.RowExpression.Column("k")(0))
    NaiveKeyedWindow.texts.foreach { text =>
      assert(Machine.unsupported(policyOf(text).copy(key = key)).isEmpty, text)
    }
    Seq("#length_batch(3)", "#firstlength(3)", "#time_batch(3 sec)", "#firstunique(u)").foreach {
      text => assert(Machine.unsupported(policyOf(text).copy(key = key)).isDefined, text)
    }
  }

  test("words of operations are read in any case") {
    assert(
      Seq("I", "u", "R", "d", "UPSERT", "Update_PreImage", "x", "").map(RowOperation.of) ==
        Seq(Insert, Update, Upsert, Delete, Upsert, Delete, -1, -1))
  }
}

object KeyedWindowSuite {
  private val scope = Scope(
    columns = Seq("k", "u", "v"),
    kinds = Seq("k", "u", "v").map(_ -> ColumnKind.WholeNumber).toMap)

  private def policyOf(text: String): Policy =
    (if (text.startsWith("#")) Esper else Ccl)
      .parse(text, scope)
      .fold(error => throw new IllegalArgumentException(error.message), identity)

  /** Operations on few keys or many, some of which are long. */
  private val operations: Gen[Seq[KeyedRow]] = for {
    keys <- Gen.oneOf(3, 8, 900)
    size <- Gen.oneOf(20, 100, 300)
    seed <- Gen.long
    inserts <- Gen.oneOf(1, 6)
  } yield {
    val random = new Random(seed)
    var at = random.nextInt(100).toLong
    (0 until size).map { i =>
      at += (if (random.nextInt(3) == 0) random.nextInt(12) else 0)
      val chosen = random.nextInt(3 + inserts)
      KeyedRow(
        if (chosen < 3) Seq(Update, Upsert, Delete)(chosen) else Insert,
        at,
        random.nextInt(keys),
        random.nextInt(6),
        random.nextInt(9),
        i)
    }
  }
}
