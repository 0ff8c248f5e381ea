package winops

import java.nio.file.Paths

import org.scalatest.funsuite.AnyFunSuite

import winops.testing.SourceRooms

/** Checks the order of core's packages: text above policy, policy above window, window above
  * storage.
  */
class RoomsSuite extends AnyFunSuite {
  private val main = Paths.get("jvm/core/src/main/scala")
  private val rooms = SourceRooms(
    main,
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

  private def none(problems: Seq[String]): Unit =
    if (problems.nonEmpty) fail(problems.mkString("\n", "\n", ""))

  test("every room uses only the rooms below it") {
    none(rooms.problems)
    assert(rooms.uses.size > 100, "the imports were not read")
  }

  test("every file holds a type of its name") {
    none(rooms.unnamed)
  }

  test("no folder of tests is too full to find something in it") {
    none(SourceRooms.crowded(Seq(Paths.get("jvm/core/src/test/scala"))))
  }

  test("no language uses another") {
    val languages = Set("text.ccl", "text.apama", "text.spl", "text.esper")
    none(rooms.uses.filter(use => languages(use.from) && languages(use.to)).map(_.toString))
  }

  test("windows and texts meet in policies alone, and storage knows of neither") {
    def floor(room: String) = room.takeWhile(_ != '.')
    val allowed = Map(
      "text" -> Set("policy"),
      "window" -> Set("policy", "storage"),
      "policy" -> Set.empty[String],
      "aggregation" -> Set("storage"),
      "storage" -> Set.empty[String])
    none(rooms.uses.collect {
      case use if floor(use.from) != floor(use.to) && !allowed(floor(use.from))(floor(use.to)) =>
        s"$use from ${use.from}"
    })
  }
}
