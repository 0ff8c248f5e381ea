package winops.spark

import java.nio.file.{Files, Path, Paths}

import scala.jdk.CollectionConverters._
import scala.util.Using

import winops.testing.{RoomsTest, SourceRooms}

/** Checks the rooms of jvm/spark: packages, each of which uses only those below it. */
class RoomsSuite extends RoomsTest(RoomsSuite.Rooms)

private object RoomsSuite {

  /** The folder of all Spark versions, and those of some of them. */
  private def sources(main: Path): Seq[Path] = Using.resource(Files.list(main)) { folders =>
    folders.iterator.asScala.filter(_.getFileName.toString.startsWith("scala")).toSeq.sorted
  }

  // A room has the same name in both packages. Spark's page of a query is only partly in winops. The
  // entries of users, in Scala and in SQL, are one room.
  val Rooms: SourceRooms = new SourceRooms(
    sources(Paths.get("jvm/spark/src/main")),
    Seq(
      "winops.spark",
      "org.apache.spark.sql.winops",
      "org.apache.spark.sql.streaming",
      "winops"),
    Seq(
      "",
      "harness",
      "checkpoint",
      "analysis",
      "over",
      "execution",
      "live",
      "output",
      "group",
      "input",
      "state",
      "restart",
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
