package winops.spark.group

import org.scalatest.funsuite.AnyFunSuite

import winops.spark.testing.MapSegments
import winops.storage.bytes.{ByteReader, ByteWriter}

class ReleaseScheduleSuite extends AnyFunSuite {
  test("a row that was appended before the schedule is read may precede those of it") {
    val segments = new MapSegments
    def restored(saved: ReleaseSchedule): ReleaseSchedule = {
      val out = new ByteWriter
      saved.save(out, firstTime = 100L)
      val schedule = new ReleaseSchedule(segments)
      schedule.restore(new ByteReader(out.toArray), firstTime = 100L)
      schedule
    }
    val made = new ReleaseSchedule(segments)
    made.replace(Array(ScheduledRow(100L, 0L), ScheduledRow(200L, 0L)), end = 2L)
    val appended = restored(made)
    assert(!restored(made).mayLaterPrecede(150L))
    appended.appended(140L)
    assert(restored(appended).mayLaterPrecede(150L))
  }
}
