package winops.testing.fuzz

import java.nio.charset.StandardCharsets.US_ASCII
import java.nio.file.{Files, Path, Paths}

import scala.jdk.CollectionConverters._

/** Policy texts in a file, one per line. Characters other than printable ASCII are written as
  * `\\uXXXX`, and a backslash as two.
  */
object Corpus {

  /** The corpus of a dialect. */
  def of(dialect: String): IndexedSeq[String] = read(folder.resolve(s"$dialect.txt"))

  def read(file: Path): IndexedSeq[String] =
    Files.readAllLines(file, US_ASCII).asScala.map(unescaped).toVector

  def write(file: Path, texts: Iterable[String]): Unit = {
    Files.createDirectories(file.getParent)
    Files.write(file, texts.map(escaped).asJava, US_ASCII)
    ()
  }

  // Tests run in the root of the checkout.
  private val folder = Paths.get("tests", "data", "fuzz")

  private def escaped(text: String): String = text.flatMap {
    case '\\' => "\\\\"
    case c if c >= ' ' && c < 127 => c.toString
    case c => f"\\u${c.toInt}%04x"
  }

  private val Escape = """\\(?:(\\)|u([0-9a-f]{4}))""".r

  private def unescaped(line: String): String = Escape.replaceAllIn(
    line,
    escape => {
      val char =
        if (escape.group(1) != null) '\\' else Integer.parseInt(escape.group(2), 16).toChar
      java.util.regex.Matcher.quoteReplacement(char.toString)
    })
}
