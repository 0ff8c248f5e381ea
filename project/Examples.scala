import sbt._

/** Generates sources of tests from the code of a page and from the examples of Scaladoc.
  * ExamplesSuite of jvm/spark runs the generated code.
  */
object Examples {
  private val Block = """(?ms)^```([^\n]*)\n(.*?)^```$""".r
  private val Example = """(?s)\{\{\{\n(.*?)\}\}\}""".r
  private val JavaClass = """(?m)^public (?:final )?class (\w+)""".r

  /** Writes the sources into a folder.
    *
    * @param page
    *   Markdown whose blocks of `scala` are one program, and each block of `java` a file with a
    *   class; a block of `text` is the output of the block before it
    * @param sources
    *   files whose examples use `spark` and `trades`, and whose comments are their output
    */
  def write(page: File, sources: Seq[File], folder: File): Seq[File] = {
    val blocks = blocksOf(page)
    val programs = blocks.collect { case (line, "java", code, printed) =>
      val name = JavaClass.findFirstMatchIn(code).map(_.group(1)).getOrElse {
        sys.error(s"${page.getName}:$line: a block of Java without a public class")
      }
      (name, code, printed)
    }
    val java = programs.map { case (name, code, _) =>
      written(folder / "examples" / s"$name.java", s"package examples;\n\n$code")
    }
    val scala = blocks.collect { case (line, "scala", code, printed) =>
      code + check(s"${page.getName}:$line", printed)
    }
    val calls = programs.map { case (name, _, printed) =>
      s"    $name.main(Array.empty[String])\n" + check(s"${page.getName}: $name", printed)
    }
    val pageFile = written(
      folder / "examples" / "PageExamples.scala",
      s"""package examples
         |
         |object PageExamples {
         |  def blocks(check: (String, Option[String]) => Unit): Unit = {
         |${scala.mkString}
         |  }
         |
         |  def programs(check: (String, Option[String]) => Unit): Unit = {
         |${calls.mkString}
         |  }
         |}
         |""".stripMargin)
    val examples = sources.sortBy(_.getName).flatMap(examplesOf)
    val functions = examples.zipWithIndex.map { case ((place, code, printed), i) =>
      s"""  def example$i(trades: DataFrame, check: (String, Option[String]) => Unit): Unit = {
         |$code${check(place, Some(printed))}
         |  }
         |""".stripMargin
    }
    val all = examples.indices.map(i => s"    example$i(trades, check)\n").mkString
    val scaladoc = written(
      folder / "examples" / "ScaladocExamples.scala",
      s"""package examples
         |
         |import org.apache.spark.sql.DataFrame
         |
         |object ScaladocExamples {
         |  val NumberOfExamples = ${examples.size}
         |  def run(trades: DataFrame, check: (String, Option[String]) => Unit): Unit = {
         |$all  }
         |
         |${functions.mkString("\n")}}
         |""".stripMargin)
    java :+ pageFile :+ scaladoc
  }

  /** The blocks of a page: line, language, code, and output. */
  private def blocksOf(page: File): Seq[(Int, String, String, Option[String])] = {
    val text = IO.read(page)
    val all = Block
      .findAllMatchIn(text)
      .map(m => (text.take(m.start).count(_ == '\n') + 1, m.group(1), m.group(2)))
      .toSeq
    all.zipWithIndex.map { case ((line, language, code), i) =>
      val printed = all.lift(i + 1).collect { case (_, "text", output) => output }
      (line, language, code, printed)
    }
  }

  private def examplesOf(source: File): Seq[(String, String, String)] = {
    val text = IO.read(source)
    Example.findAllMatchIn(text).toSeq.map { m =>
      val line = text.take(m.start).count(_ == '\n') + 1
      val lines =
        m.group(1).linesIterator.map(_.replaceFirst("^ *\\* ?", "")).filter(_.trim.nonEmpty).toSeq
      val (printed, code) = lines.partition(_.startsWith("// "))
      (
        s"${source.getName}:$line",
        code.map(_ + "\n").mkString,
        printed.map(_.drop(3) + "\n").mkString)
    }
  }

  private def check(place: String, printed: Option[String]): String =
    s"check(${quoted(place)}, ${printed.fold("None")(text => s"Some(${quoted(text)})")})\n"

  private def quoted(text: String): String =
    text
      .flatMap {
        case '\n' => "\\n"
        case c @ ('"' | '\\') => s"\\$c"
        case c => c.toString
      }
      .mkString("\"", "", "\"")

  private def written(file: File, text: String): File = {
    if (!file.exists || IO.read(file) != text) IO.write(file, text)
    file
  }
}
