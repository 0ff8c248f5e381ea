package winops

import java.nio.file.Paths

import winops.testing.{RoomsTest, SourceRooms}

/** Checks the order of core's packages: text above policy, policy above window, window above
  * storage.
  */
class RoomsSuite extends RoomsTest(RoomsSuite.Rooms) {
  import RoomsSuite.Rooms

  test("no language uses another") {
    val languages = Set("text.ccl", "text.apama", "text.spl", "text.esper")
    none(Rooms.uses.filter(use => languages(use.from) && languages(use.to)).map(_.toString))
  }

  test("windows and texts meet in policies alone, and storage knows of neither") {
    def floor(room: String) = room.takeWhile(_ != '.')
    val allowed = Map(
      "text" -> Set("policy"),
      "window" -> Set("policy", "storage"),
      "policy" -> Set.empty[String],
      "aggregation" -> Set("storage"),
      "storage" -> Set.empty[String])
    none(Rooms.uses.collect {
      case use if floor(use.from) != floor(use.to) && !allowed(floor(use.from))(floor(use.to)) =>
        s"$use from ${use.from}"
    })
  }
}

private object RoomsSuite {
  val Rooms: SourceRooms = SourceRooms(
    Paths.get("jvm/core/src/main/scala"),
    "winops",
    "text.ccl",
    "text.apama",
    "text.spl",
    "text.esper",
    "text.dialect",
    "window.crossgroup",
    "window.machine",
    "window.combination",
    "window.batch",
    "window.event",
    "window.single",
    "window.rules",
    "window.contents",
    "window.changes",
    "window.expression",
    "window.time",
    "policy",
    "aggregation",
    "storage.rows",
    "storage.btree",
    "storage.buckets",
    "storage.bytes")
}
