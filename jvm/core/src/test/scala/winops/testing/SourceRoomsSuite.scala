package winops.testing

import java.nio.file.{Files, Path}

import org.scalatest.funsuite.AnyFunSuite

class SourceRoomsSuite extends AnyFunSuite {

  /** The rooms a.high, a.mid and a.low with sources given by package, file name and text. */
  private def rooms(sources: (String, String, String)*): SourceRooms = {
    val root = Files.createTempDirectory("rooms")
    (sources ++ Seq(
      ("a.high", "High", "package a.high\n\nclass High"),
      ("a.mid", "Mid", "package a.mid\n\nclass Mid"),
      ("a.low", "Low", "package a.low\n\nclass Low"))).foreach { case (name, file, text) =>
      val folder = Files.createDirectories(root.resolve(name.replace('.', '/')))
      Files.writeString(folder.resolve(s"$file.scala"), text)
    }
    SourceRooms(root, "a", "high", "mid", "low")
  }

  private def usesOf(text: String): Seq[(String, Int)] =
    rooms(("a.mid", "User", text)).uses.map(use => (use.name, use.line))

  test("a room may use those below it") {
    val found =
      rooms(("a.mid", "User", "package a.mid\n\nimport a.low.Low\n\nclass User(low: Low)"))
    assert(found.problems.isEmpty)
    assert(found.uses.map(use => (use.from, use.to)) == Seq(("mid", "low")))
  }

  test("a use of a room above is a problem, with its place") {
    val found =
      rooms(("a.mid", "User", "package a.mid\n\nimport a.high.High\n\nclass User(high: High)"))
    assert(found.circles.isEmpty)
    assert(found.problems.size == 1)
    assert(
      found.problems.head.endsWith(
        "a/mid/User.scala:3 uses a.high.High, but high stands above mid"))
  }

  test("a circle is shown with the use of each of its steps") {
    val found = rooms(
      ("a.high", "First", "package a.high\n\nimport a.mid.Mid\n\nclass First(mid: Mid)"),
      ("a.mid", "Second", "package a.mid\n\nimport a.low._\n\nclass Second(low: Low)"),
      ("a.low", "Third", "package a.low\n\nclass Third(high: a.high.High)"))
    assert(found.upward.size == 1)
    val circle = only(found.circles)
    assert(circle.startsWith("circle of rooms high -> mid -> low -> high: "))
    assert(circle.contains("First.scala:3 uses a.mid.Mid"))
    assert(circle.contains("Second.scala:3 uses a.low._"))
    assert(circle.contains("Third.scala:3 uses a.high.High"))
  }

  test("imports are found however they are written") {
    val low = Seq(("a.low.Low", 3))
    Seq(
      "import a.low.Low",
      "import a.low.{Low => Other}",
      "import a.low.{\n  Low\n}",
      "import _root_.a.low.Low").foreach { line =>
      assert(usesOf(s"package a.mid\n\n$line\n\nclass User") == low, line)
    }
    assert(usesOf("package a.mid\n\nimport a.low._\n\nclass User") == Seq(("a.low._", 3)))
    assert(
      usesOf("package a.mid\n\nclass User {\n  import a.low.Low\n}") == Seq(("a.low.Low", 4)))
    assert(
      usesOf("package a.mid\n\nimport a.{high, low}\n\nclass User").map(_._1) ==
        Seq("a.high._", "a.low._"))
  }

  test("names with their packages are found, absolute and relative") {
    assert(usesOf("package a.mid\n\nclass User(low: a.low.Low)") == Seq(("a.low.Low", 3)))
    assert(usesOf("package a.mid\n\nclass User(low: _root_.a.low.Low)") == Seq(("a.low.Low", 3)))
    assert(usesOf("package a\npackage mid\n\nclass User(low: low.Low)") == Seq(("a.low.Low", 4)))
    assert(
      usesOf("package a\npackage mid\n\nimport low.{Low}\n\nclass User") ==
        Seq(("a.low.Low", 4)))
    assert(
      usesOf("package a.mid\n\nimport a._\n\nclass User(low: low.Low)") ==
        Seq(("a.low.Low", 5)))
    assert(
      usesOf("package a.mid\n\nclass User {\n  val text = s\"$" + "{a.low.Low}\"\n}") ==
        Seq(("a.low.Low", 4)))
  }

  test("types of an outer package clause are found") {
    val found = new SourceRooms(
      folders(
        "a" -> "package a\n\nclass Top",
        "a.mid" -> "package a\npackage mid\n\nclass User(t: Top)"),
      Seq("a"),
      Seq("", "mid"))
    assert(
      found.upward.map(_.split(' ').drop(1).mkString(" ")) ==
        Seq("uses a.Top, but a stands above mid"))
  }

  test("a package object is part of its package, and packages of other modules are not") {
    def found(imported: String) = new SourceRooms(
      folders(
        "a" -> "package object a {\n  val top = 1\n}",
        "a.b.low" -> s"package a.b.low\n\nimport $imported\n\nclass File"),
      Seq("a.b", "a"),
      Seq("", "low"))
    assert(found("a.other.Thing").problems.isEmpty && found("a.other.Thing").unnamed.isEmpty)
    assert(found("a.top").upward.size == 1 && found("a._").upward.size == 1)
  }

  test("comments, texts and other things of the same names are not uses") {
    assert(usesOf("""package a.mid
        |
        |/** As [[a.high.High]]: import a.high.High
        |  */
        |class User(low: Int) {
        |  // a.high.High
        |  val text = "a.high.High"
        |  val long = '''
        |    import a.high.High
        |  '''
        |  val high = this.a.high.High
        |}
        |""".stripMargin.replace("'''", "\"\"\"")).isEmpty)
  }

  test("a room may have a part in each of several packages") {
    val found = new SourceRooms(
      folders(
        "a.low" -> "package a.low\n\nimport org.b.low.Part\n\nclass Low(part: Part)",
        "org.b.low" -> "package org.b.low\n\nimport a.high.High\n\nclass Part(high: High)",
        "a.high" -> "package a.high\n\nclass High"),
      Seq("a", "org.b"),
      Seq("high", "low"))
    assert(found.problems.size == 1)
    assert(found.problems.head.contains("org/b/low/File.scala:3 uses a.high.High"))
  }

  test("packages without a place in the order and files outside of their packages are problems") {
    val homeless = only(rooms(("a.attic", "Box", "package a.attic\n\nclass Box")).problems)
    assert(
      homeless.startsWith("package a.attic (") && homeless.endsWith(
        "no place in the order of rooms"))
    val misplaced = only(rooms(("a.low", "Box", "package a.high\n\nclass Box")).problems)
    assert(misplaced.endsWith("a/low/Box.scala: its package is a.high"))
  }

  test("rooms without sources and packages outside of the rooms are problems") {
    val found = new SourceRooms(
      folders("a.low" -> "package a.low\n\nclass Low", "b" -> "package b\n\nclass Other"),
      Seq("a"),
      Seq("high", "low"))
    assert(found.problems.size == 2)
    assert(found.problems.head.startsWith("package b ("))
    assert(found.problems.last == "the room high has no sources")
  }

  test("files without a type of their name are found") {
    val unnamed = only(rooms(("a.low", "Box", "package a.low\n\nclass Crate")).unnamed)
    assert(unnamed.endsWith("a/low/Box.scala holds Crate, but no Box"))
  }

  private def only(problems: Seq[String]): String = {
    assert(problems.size == 1)
    problems.head
  }

  private def folders(sources: (String, String)*): Seq[Path] = {
    val root = Files.createTempDirectory("rooms")
    sources.foreach { case (name, text) =>
      val folder = Files.createDirectories(root.resolve(name.replace('.', '/')))
      Files.writeString(folder.resolve("File.scala"), text)
    }
    Seq(root)
  }
}
