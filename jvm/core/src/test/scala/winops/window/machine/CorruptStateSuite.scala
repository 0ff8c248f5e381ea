package winops.window.machine

import scala.concurrent.{Await, ExecutionContext, Future}
import scala.concurrent.duration.DurationInt
import scala.util.Random

import winops.policy.Policy
import winops.storage.bytes.{ByteReader, ByteWriter, CorruptStateException}
import winops.testing.{DrivenGroup, Input, RowValues, TableTests}
import winops.text.apama.Apama
import winops.text.ccl.Ccl
import winops.text.esper.Esper
import winops.text.spl.Spl
import winops.window.time.Clock

/** A group with corrupted bytes continues, at worst with wrong rows, or fails with a named error.
  */
class CorruptStateSuite extends TableTests {
  private val policies: Seq[(String, Policy)] = Seq(
    Ccl -> "KEEP ALL",
    Ccl -> "KEEP 3 ROWS SLACK 2",
    Ccl -> "KEEP 400 ROWS SLACK 5",
    Ccl -> "KEEP EVERY 4 ROWS",
    Ccl -> "KEEP 40 MILLISECONDS",
    Ccl -> "KEEP EVERY 7 MILLISECONDS",
    Esper -> "#length(5)#time(20 msec)",
    Esper -> "#length(5)#time(20 msec) retain-union",
    Esper -> "#time_accum(12 msec)",
    Esper -> "#firstlength(3)#length_batch(3) retain-union",
    Esper -> "#time_batch(15 msec, 3L)",
    Esper -> "#time_length_batch(12 msec, 4)",
    Esper -> "#sort(3, v)",
    Esper -> "#unique(k)",
    Apama -> "within 0.02 retain 5",
    Apama -> "within 0.02 every 0.01 retain 3",
    Spl -> "sliding, count(5), time(0.015)",
    Spl -> "sliding, time(0.02), count(2)",
    Spl -> "tumbling, count(3)").map { case (dialect, text) =>
    text -> RowValues.policy(dialect, text)
  }

  testEach("bytes that are cut off are refused")(policies: _*) { case (_, policy) =>
    val bytes = stored(policy, rows = 20)
    assert(survives(policy, bytes))
    bytes.indices.foreach { length =>
      intercept[CorruptStateException](restored(policy, bytes.take(length)))
    }
  }

  testEach("bytes that were changed are refused or read as something else")(policies: _*) {
    case (_, policy) =>
      val bytes = stored(policy, rows = 20)
      val outcomes = withinAMinute {
        for {
          place <- bytes.indices
          bit <- 0 until 8
        } yield survives(policy, changed(bytes, place, bit))
      }
      assert(outcomes.contains(true))
      assert(outcomes.contains(false))
  }

  test("bytes that are anything at all are refused or read as something else") {
    val random = new Random(20)
    val outcomes = withinAMinute {
      Seq.fill(20000) {
        val bytes = new Array[Byte](random.nextInt(60))
        random.nextBytes(bytes)
        // Small numbers are plausible more often.
        if (random.nextBoolean()) bytes.indices.foreach(i => bytes(i) = (bytes(i) & 7).toByte)
        survives(policies(random.nextInt(policies.size))._2, bytes)
      }
    }
    assert(outcomes.contains(true))
    assert(outcomes.contains(false))
  }

  test("a large group's own bytes that were changed are refused or read as something else") {
    val policy = RowValues.policy(Ccl, "KEEP 400 ROWS SLACK 5")
    val random = new Random(7)
    withinAMinute {
      val group = filled(policy, rows = 1000)
      val bytes = group.save()
      // The numbers at both ends determine the reading of everything between them.
      val places = (0 until 12) ++ (bytes.length - 12 until bytes.length) ++
        Seq.fill(200)(random.nextInt(bytes.length))
      places.foreach { place =>
        (0 until 8).foreach { bit =>
          try {
            group.restart(changed(bytes, place, bit))
            val _ = group.content
          } catch {
            case _: CorruptStateException =>
          }
        }
      }
    }
  }

  test("a clock at the instant that never comes is refused") {
    val out = new ByteWriter
    out.number(Clock.Never)
    intercept[CorruptStateException](Clock.restore(new ByteReader(out.toArray)))
  }

  private def stored(policy: Policy, rows: Int): Array[Byte] = filled(policy, rows).save()

  private def filled(policy: Policy, rows: Int): DrivenGroup = {
    val group = new DrivenGroup(policy, Some(100L), StoredMachineSuite.evaluator(seed = 1L))
    (0 until rows).foreach(i => group.feed(Input.Row(i.toLong)))
    group
  }

  private def restored(policy: Policy, bytes: Array[Byte]): DrivenGroup = {
    val group = new DrivenGroup(policy, Some(100L), StoredMachineSuite.evaluator(seed = 1L))
    group.restart(bytes)
    group
  }

  private def survives(policy: Policy, bytes: Array[Byte]): Boolean =
    try {
      val group = restored(policy, bytes)
      (20 until 50).foreach(i => group.feed(Input.Row(i.toLong)))
      group.feed(Input.Time(1000L))
      val _ = group.content
      true
    } catch {
      case _: CorruptStateException => false
    }

  private def changed(bytes: Array[Byte], place: Int, bit: Int): Array[Byte] =
    bytes.updated(place, (bytes(place) ^ (1 << bit)).toByte)

  // An endless loop would ignore an interrupt.
  private def withinAMinute[T](body: => T): T =
    Await.result(Future(body)(ExecutionContext.global), 1.minute)
}
