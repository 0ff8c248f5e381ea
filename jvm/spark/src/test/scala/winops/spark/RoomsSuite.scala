package winops.spark

import java.nio.file.Paths

import org.scalatest.funsuite.AnyFunSuite

import winops.testing.SourceRooms

/** Checks the rooms of jvm/spark: packages, each of which uses only those below it. */
class RoomsSuite extends AnyFunSuite {
  private val main = Paths.get("jvm/spark/src/main/scala")

  // A room has the same name in both packages. Spark's page of a query is only partly in winops.
  private val rooms = new SourceRooms(
    Seq(main),
    Seq("winops.spark", "org.apache.spark.sql.winops", "org.apache.spark.sql.streaming"),
    Seq(
      "",
      "checkpoint",
      "analysis",
      "execution",
      "output",
      "group",
      "input",
      "state",
      "aggregates",
      "plan",
      "source",
      "expressions",
      "shuffle",
      "row",
      "internal",
      "ui"))

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
    none(SourceRooms.crowded(Seq(Paths.get("jvm/spark/src/test/scala"))))
  }
}
