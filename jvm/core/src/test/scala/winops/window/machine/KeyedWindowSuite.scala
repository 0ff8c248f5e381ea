package winops.window.machine

import scala.util.Random

import org.scalacheck.{Gen, Shrink}
import org.scalatest.Assertion
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import winops.policy.{ColumnKind, Policy, Scope}
import winops.terms.RowOperation
import winops.terms.RowOperation.{Delete, Insert, Update, Upsert}
import winops.testing.{KeyedChange, KeyedGroup, KeyedRow, Longer, NaiveKeyedWindow}
import winops.text.apama.Apama
import winops.text.ccl.Ccl
import winops.text.dialect.Dialect
import winops.text.esper.Esper
import winops.text.spl.Spl
import winops.window.changes.RowOutcome

/** Windows over rows with a primary key, against a simple implementation. */
class KeyedWindowSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  import KeyedWindowSuite._

  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 60)

  implicit private def noShrink[T]: Shrink[T] = Shrink.shrinkAny

  NaiveKeyedWindow.texts.foreach { text =>
    test(s"operations on $text give the rows and changes of the simple implementation") {
      forAll(operations, Gen.long)(compare(text, 0, _, _))
    }
  }

  for {
    text <- NaiveKeyedWindow.buffered.keys.toSeq.sorted
    buffer <- Seq(1, 2, 60)
    tags = Longer.unless(buffer != 2)
  } test(
    s"operations on $text with $buffer rows behind it give those of the simple one",
    tags: _*) {
    forAll(operations, Gen.long)(compare(text, buffer, _, _))
  }

  private def compare(text: String, buffer: Int, inputs: Seq[KeyedRow], seed: Long): Assertion = {
    val random = new Random(seed)
    val naive = new NaiveKeyedWindow(text, buffer)
    val pageBytes = if (random.nextBoolean()) 0L else 1L << 20
    val policy = policyOf(text).copy(buffer = buffer.toLong)
    val machine = new KeyedGroup(policy, None, pageBytes)
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

  test("the best row behind a window returns with its number when a delete makes room") {
    val group = new KeyedGroup(policyOf("#sort(4, v)").copy(buffer = 2L), None, 1L << 20)
    (1 to 7).foreach(k => group.feed(KeyedRow(Insert, 0L, k, 0, k, k)))
    assert(group.content == Seq(1, 2, 3, 4))
    assert(group.size == 6)
    val (changes, _) = group.feed(KeyedRow(Delete, 5L, 2, 0, 0, 0))
    assert(
      changes.map(change => (change.kind, change.row, change.reason)) ==
        Seq(("delete", 1L, "deleted"), ("insert", 4L, "returned")))
    // Row 7 was one too many, and its key is not known any more.
    assert(group.feed(KeyedRow(Update, 6L, 7, 0, 0, 0)) == ((Nil, RowOutcome.NotHeld)))
    assert(group.feed(KeyedRow(Insert, 6L, 6, 0, 0, 0)) == ((Nil, RowOutcome.KeyHeld)))
    val (entering, outcome) = group.feed(KeyedRow(Update, 7L, 6, 0, 0, 60))
    assert(outcome == RowOutcome.Updated)
    assert(
      entering.map(change => (change.kind, change.tag, change.reason)) ==
        Seq(("delete", 5, "displaced"), ("insert", 60, "returned")))
    assert(group.content == Seq(60, 1, 3, 4))
  }

  test("operations on rows behind a window emit nothing and take no step") {
    val group = new KeyedGroup(policyOf("KEEP 3 ROWS").copy(buffer = 2L), None, 1L << 20)
    (1 to 5).foreach(k => group.feed(KeyedRow(Insert, 0L, k, 0, 0, k)))
    assert(group.feed(KeyedRow(Upsert, 1L, 2, 0, 0, 22)) == ((Nil, RowOutcome.Updated)))
    assert(group.feed(KeyedRow(Delete, 1L, 1, 0, 0, 1)) == ((Nil, RowOutcome.Deleted)))
    val (changes, _) = group.feed(KeyedRow(Delete, 2L, 5, 0, 0, 5))
    assert(
      changes == Seq(
        KeyedChange("delete", 4L, 5, 2L, 5L, 7L, "deleted"),
        KeyedChange("insert", 1L, 22, 2L, 5L, 8L, "returned")))
    assert(group.content == Seq(22, 3, 4))
  }

  test("rows return only into windows of a number of rows") {
    val key = Seq(winops.terms.RowExpression.Column("k")(0))
    val refused = NaiveKeyedWindow.texts.filter { text =>
      Machine.unsupported(policyOf(text).copy(key = key, buffer = 1L)).isDefined
    }
    assert(refused.toSet == NaiveKeyedWindow.texts.toSet -- NaiveKeyedWindow.buffered.keySet)
    assert(Machine.unsupported(policyOf("KEEP 1 ROW").copy(key = key, buffer = 1L)).isEmpty)
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
    Seq(
      "#length_batch(3)" -> "it is a batch window",
      "#time_batch(3 sec)" -> "it is a batch window",
      "#firstlength(3)" -> "it inserts only the first 3 rows",
      "#firstunique(u)" -> "holds no row of the same",
      "#time_accum(3 sec)" -> "which updates and deletes change",
      "#expr(current_count < 3)" -> "which updates and deletes change",
      "#length(2)#unique(u)" -> "several windows",
      "select * from rows#length(2)" -> "select irstream").foreach { case (text, words) =>
      val policy = if (text.startsWith("#")) policyOf(text) else parsed(Esper, text)
      val reason = Machine.unsupported(policy.copy(key = key))
      assert(reason.exists(_.contains(words)), text)
    }
    Seq(
      parsed(Spl, "sliding, count(2)") -> "a window of IBM Streams",
      parsed(Apama, "retain 2") -> "a window of Apama").foreach { case (policy, words) =>
      assert(Machine.unsupported(policy.copy(key = key)).exists(_.contains(words)), words)
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
    parsed(if (text.startsWith("#")) Esper else Ccl, text)

  private def parsed(dialect: Dialect, text: String): Policy =
    dialect
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
