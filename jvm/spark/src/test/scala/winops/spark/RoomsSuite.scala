package winops.spark

import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._
import scala.util.Using
import scala.util.matching.Regex

import org.scalatest.funsuite.AnyFunSuite

/** The rooms of jvm/spark: packages, each of which uses only those below it. */
class RoomsSuite extends AnyFunSuite {
  import RoomsSuite._

  private val sources = read(Path.of("jvm/spark/src/main/scala"))

  test("every package is a room, and every room has sources") {
    assert(sources.map(_.room).toSet == TopDown.toSet)
  }

  test("a room uses only rooms below it") {
    assert(upward(sources, TopDown).mkString("\n") == "")
  }

  test("a source stands in the folder of its package") {
    val elsewhere = sources.filterNot { source =>
      source.path.getParent.endsWith(Path.of(source.packageName.replace('.', '/')))
    }
    assert(elsewhere.map(_.path).isEmpty)
  }

  test("a source defines a type of its name") {
    val others = sources.map(_.path).zip(sources.map(_.text)).collect {
      case (path, text)
          if !s"(?m)^(?:[a-z]+(?:\\[\\w+\\])? )*(?:class|object|trait) ${nameOf(path)}\\b".r.unanchored
            .matches(text) =>
        path
    }
    assert(others.isEmpty)
  }

  test(s"a folder has at most $MaxSources sources") {
    val tests = read(Path.of("jvm/spark/src/test/scala"))
    val large = (sources ++ tests).groupBy(_.path.getParent).collect {
      case (folder, of) if of.size > MaxSources => s"$folder has ${of.size}"
    }
    assert(large.isEmpty)
  }

  test("imports that lead upward, or around in a circle, are found") {
    def source(room: String, text: String): Source =
      Source(Path.of(s"$room.scala"), s"winops.spark.$room", room, text)
    val upper = source("upper", "import winops.spark.lower.{One, Two}")
    assert(upward(Seq(upper, source("lower", "")), Seq("upper", "lower")).isEmpty)
    Seq(
      "import winops.spark.upper.Three",
      "  import winops.spark.upper._",
      "import winops.spark.{lower, upper}",
      "val three = winops.spark.upper.Three",
      "import org.apache.spark.sql.winops.upper.{Four => Five}",
      "import winops.spark.Root").foreach { text =>
      val lower = source("lower", s"package winops.spark.lower\n$text\n")
      val found = upward(Seq(upper, lower), Seq("root", "upper", "lower"))
      assert(found.size == 1, text)
      assert(found.head.contains("lower.scala:2: lower uses"), text)
    }
    Seq("/** [[winops.spark.upper.Three]] */", "// winops.spark.upper", "\"winops.spark.upper\"")
      .foreach { text =>
        assert(upward(Seq(upper, source("lower", text)), Seq("upper", "lower")).isEmpty, text)
      }
  }
}

private object RoomsSuite {

  /** The room of what has no room of its own. */
  val Root = "root"

  /** The rooms. Each may use those that stand behind it, and no others. */
  val TopDown: Seq[String] = Seq(
    Root,
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
    "internal")

  val MaxSources = 25

  /** A source file and the room it is in. */
  final case class Source(path: Path, packageName: String, room: String, text: String)

  /** A room has the same name below both packages. */
  private val Bases: Regex = raw"(?:org\.apache\.spark\.sql\.winops|winops\.spark)".r
  private val Package: Regex = s"(?m)^package ($Bases)(?:\\.(\\w+))?\\s*$$".r

  /** A name below one of the packages, or names in braces. */
  private val Use: Regex = s"(?<![\\w.])$Bases\\.(\\{[^}]*\\}|\\w+)".r

  /** Comments, and strings on one line or on several. */
  private val Silent: Regex =
    ("(?s:/\\*.*?\\*/)|//[^\n]*|\"\"\"(?s:.*?)\"\"\"|\"(?:[^\"\\\\\n]|\\\\.)*\"").r

  /** The sources of a folder; those in Spark's other packages are in no room. */
  def read(folder: Path): Seq[Source] = {
    val files = Using.resource(Files.walk(folder)) { paths =>
      paths.iterator.asScala.filter(_.toString.endsWith(".scala")).toVector.sorted
    }
    for {
      path <- files
      text = Files.readString(path)
      found <- Package.findFirstMatchIn(text)
    } yield {
      val room = Option(found.group(2)).getOrElse(Root)
      Source(path, (found.group(1) +: Option(found.group(2)).toSeq).mkString("."), room, text)
    }
  }

  def nameOf(path: Path): String = path.getFileName.toString.stripSuffix(".scala")

  /** The uses of rooms that do not stand behind the user's own, one a line. */
  def upward(sources: Seq[Source], topDown: Seq[String]): Seq[String] = for {
    source <- sources
    used <- uses(source, topDown)
    if used.room != source.room && topDown.indexOf(used.room) <= topDown.indexOf(source.room)
  } yield s"${source.path}:${used.line}: ${source.room} uses ${used.room}, which is above it"

  private final case class Used(room: String, line: Int)

  private def uses(source: Source, rooms: Seq[String]): Seq[Used] = {
    // Lines stay where they are, so that a use is found by its number.
    val code = Silent.replaceAllIn(source.text, found => "\n" * found.matched.count(_ == '\n'))
    for {
      use <- Use.findAllMatchIn(code).toSeq
      if !code.slice(code.lastIndexOf('\n', use.start) + 1, use.start).startsWith("package ")
      names = use.group(1).stripPrefix("{").stripSuffix("}").split(',').toSeq
      name <- names.map(_.split("=>").head.trim)
    } yield Used(
      if (rooms.contains(name)) name else Root,
      code.take(use.start).count(_ == '\n') + 1)
  }
}
