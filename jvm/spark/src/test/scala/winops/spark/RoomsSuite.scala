package winops.spark

import java.nio.file.Paths

import winops.testing.{RoomsTest, SourceRooms}

/** Checks the rooms of jvm/spark: packages, each of which uses only those below it. */
class RoomsSuite extends RoomsTest(RoomsSuite.Rooms, Paths.get("jvm/spark/src/test/scala"))

private object RoomsSuite {
  // A room has the same name in both packages. Spark's page of a query is only partly in winops.
  val Rooms: SourceRooms = new SourceRooms(
    Seq(Paths.get("jvm/spark/src/main/scala")),
    Seq("winops.spark", "org.apache.spark.sql.winops", "org.apache.spark.sql.streaming"),
    Seq(
      "harness",
      "",
      "checkpoint",
      "analysis",
      "over",
      "execution",
      "output",
      "group",
      "input",
      "state",
      "frames",
      "aggregates",
      "plan",
      "source",
      "expressions",
      "shuffle",
      "row",
      "internal",
      "ui"))
}
