package winops.window.machine

import scala.concurrent.{Await, ExecutionContext, Future}
import scala.concurrent.duration.DurationInt
import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import winops.storage.bytes.{ByteReader, ByteWriter, CorruptStateException}
import winops.testing.{CclWindow, DrivenGroup, Input}
import winops.window.time.Clock

/** A group with corrupted bytes continues, at worst with wrong rows, or fails with a named error.
  */
class CorruptStateSuite extends AnyFunSuite {
  private val keeps = Seq(
    CclWindow.All,
    CclWindow.Rows(3, 2),
    CclWindow.Rows(400, 5),
    CclWindow.EveryRows(4),
    CclWindow.Interval(40000L),
    CclWindow.EveryInterval(7000L, None),
    CclWindow.EveryInterval(7000L, Some(3L)))

  test("bytes that are cut off are refused") {
    keeps.foreach { keep =>
      val bytes = stored(keep, rows = 20)
      bytes.indices.foreach { length =>
        intercept[CorruptStateException](restored(keep, bytes.take(length)))
      }
    }
  }

  test("bytes that were changed are refused or read as something else") {
    val outcomes = withinAMinute {
      for {
        keep <- keeps
        bytes = stored(keep, rows = 20)
        place <- bytes.indices
        bit <- 0 until 8
      } yield survives(keep, changed(bytes, place, bit))
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
        survives(keeps(random.nextInt(keeps.size)), bytes)
      }
    }
    assert(outcomes.contains(false))
  }

  test("a large group's own bytes that were changed are refused or read as something else") {
    val keep = CclWindow.Rows(400, 5)
    val random = new Random(7)
    withinAMinute {
      val group = filled(keep, rows = 1000)
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

  private def stored(keep: CclWindow, rows: Int): Array[Byte] = filled(keep, rows).save()

  private def filled(keep: CclWindow, rows: Int): DrivenGroup = {
    val group = new DrivenGroup(keep, Some(100L))
    (0 until rows).foreach(i => group.feed(Input.Row(i.toLong)))
    group
  }

  private def restored(keep: CclWindow, bytes: Array[Byte]): DrivenGroup = {
    val group = new DrivenGroup(keep, Some(100L))
    group.restart(bytes)
    group
  }

  private def survives(keep: CclWindow, bytes: Array[Byte]): Boolean =
    try {
      val group = restored(keep, bytes)
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
