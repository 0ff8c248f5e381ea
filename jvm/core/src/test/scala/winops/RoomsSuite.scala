package winops

import java.nio.file.Paths

import winops.testing.{RoomsTest, SourceRooms}

/** Checks the order of core's packages: texts above policies, policies above the pieces of
  * windows, these above storage.
  */
class RoomsSuite extends RoomsTest(RoomsSuite.Rooms) {
  import RoomsSuite.Rooms

  test("no language uses another") {
    val languages = Set("text.ccl", "text.apama", "text.spl", "text.esper")
    none(Rooms.uses.filter(use => languages(use.from) && languages(use.to)).map(_.toString))
  }

  test("windows and texts meet in policies and their pieces, and storage knows of neither") {
    def floor(room: String) = if (room == "window.piece") room else room.takeWhile(_ != '.')
    val allowed = Map(
      "text" -> Set("policy", "window.piece", "terms"),
      "window" -> Set("policy", "window.piece", "terms", "storage"),
      "policy" -> Set("window", "window.piece", "terms"),
      "window.piece" -> Set("window", "terms", "storage"),
      "aggregation" -> Set("storage"),
      "terms" -> Set.empty[String],
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
    "window.retainer",
    "policy",
    "window.piece",
    "window.rules",
    "window.contents",
    "window.changes",
    "window.expression",
    "window.time",
    "terms",
    "aggregation",
    "storage.rows",
    "storage.btree",
    "storage.buckets",
    "storage.bytes")
}
