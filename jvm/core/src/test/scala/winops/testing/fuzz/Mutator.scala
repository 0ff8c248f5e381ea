package winops.testing.fuzz

import java.util.SplittableRandom

/** Generates texts from texts. Words, numbers and symbols move as a whole, and few changes are
  * random, so that much of the grammar still matches.
  *
  * @param words
  *   the words, numbers and symbols of the language
  */
final class Mutator(words: IndexedSeq[String], random: SplittableRandom) {
  import Mutator._

  /** Returns `text` with one or a few changes; `other` may contribute a piece. */
  def changed(text: String, other: String): String = {
    var pieces = split(text)
    do pieces = change(pieces, other) while (random.nextInt(3) == 0)
    pieces.mkString.take(MaxChars)
  }

  private def change(pieces: IndexedSeq[String], other: String): IndexedSeq[String] = {
    val from = random.nextInt(pieces.size + 1)
    val until = math.min(pieces.size, from + 1 + random.nextInt(4))
    val part = pieces.slice(from, until)
    random.nextInt(64) match {
      case n if n < 10 => pieces.patch(from, Nil, until - from)
      case n if n < 16 => pieces.patch(until, part, 0)
      case n if n < 22 => swapped(pieces, from)
      case n if n < 32 => pieces.patch(from, Seq(pick(words)), until - from)
      case n if n < 42 => pieces.patch(from, Seq(pick(words)), 0)
      case n if n < 48 => numbered(pieces)
      case n if n < 51 => pieces.patch(from, Seq(pick(Signs)), random.nextInt(2))
      case n if n < 54 => pieces.patch(from, Seq(pick(Unicode)), random.nextInt(2))
      case n if n < 56 =>
        pieces.patch(from, Seq(Character.toString(random.nextInt(0x110000))), 0)
      case n if n < 60 =>
        val others = split(other)
        pieces.take(from) ++ others.drop(random.nextInt(others.size + 1))
      case 60 => pieces.map(piece => if (random.nextBoolean()) piece.toUpperCase else piece)
      case 61 | 62 => nested(pieces, from, until)
      case 63 if random.nextInt(8) == 0 => repeated(pieces, from, part)
      case _ => pieces.patch(from, part ++ part ++ part, until - from)
    }
  }

  private def swapped(pieces: IndexedSeq[String], one: Int): IndexedSeq[String] =
    if (pieces.isEmpty) pieces
    else {
      val (a, b) = (one % pieces.size, random.nextInt(pieces.size))
      pieces.updated(a, pieces(b)).updated(b, pieces(a))
    }

  private def numbered(pieces: IndexedSeq[String]): IndexedSeq[String] = {
    val places = pieces.indices.filter(i => Character.isDigit(pieces(i).head))
    if (places.isEmpty) pieces else pieces.updated(pick(places), pick(Numbers))
  }

  private def nested(pieces: IndexedSeq[String], from: Int, until: Int): IndexedSeq[String] = {
    val (before, after) = pick(Brackets)
    val times = pick(Depths)
    val inside = pieces.slice(from, until).mkString
    val whole = before.repeat(times) + inside + after.repeat(times)
    pieces.patch(from, Seq(whole), until - from)
  }

  /** Repeats a piece up to or beyond the maximum length of a text. */
  private def repeated(
      pieces: IndexedSeq[String],
      from: Int,
      part: Seq[String]): IndexedSeq[String] = {
    val piece = if (random.nextBoolean() && part.nonEmpty) part.mkString else pick(words)
    val times = pick(Lengths) / math.max(1, piece.length)
    pieces.patch(from, Seq(piece.repeat(times)), 0)
  }

  private def pick[T](values: IndexedSeq[T]): T = values(random.nextInt(values.size))
}

object Mutator {

  /** More than the maximum length of a text. */
  private val MaxChars = 12000

  private val Lengths = IndexedSeq(100, 1000, 9000, 9990, 10100)
  private val Depths = IndexedSeq(1, 2, 16, 31, 32, 33, 34, 100, 2000)

  private val Piece = """(?s)[\p{L}_][\p{L}\p{Nd}_]*|\p{Nd}+|\s+|.""".r

  /** Splits a text into words, numbers, symbols and blanks. */
  def split(text: String): IndexedSeq[String] = Piece.findAllIn(text).toVector

  private val Brackets = IndexedSeq(
    "(" -> ")",
    "[" -> "]",
    "{" -> "}",
    "-" -> "",
    "- (" -> ")",
    "not " -> "",
    "cast(" -> ", int)",
    "case when true then " -> " end",
    "case " -> " when 1 then 2 end",
    "case " -> " when 1 then 2 when 3 then 4 end",
    "nullif(" -> ", 1)",
    "nullifzero(" -> ")",
    "right(" -> ", 2)",
    "hex(" -> ")",
    "if(" -> " between 0 and 1, 1, 2)",
    "coalesce(" -> ", 1)",
    "1 + (" -> ")",
    "1 in (" -> ")",
    "1 between 0 and (" -> ")",
    "#length(" -> ")",
    "/* " -> " */",
    "(((" -> "")

  private val Signs = IndexedSeq(
    "'",
    "\"",
    "`",
    "``",
    "\\",
    "\\u",
    "\\u0000",
    "/*",
    "*/",
    "//",
    "--",
    ";",
    ",",
    ".",
    ":",
    "#",
    "@",
    "$",
    "${",
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    "()",
    "=",
    "<=>",
    "!",
    "|",
    "||",
    "&",
    "&&",
    "^",
    "~",
    "?",
    "%",
    "->",
    "::",
    "\n",
    "\r",
    "\u0000",
    "\t",
    " ")

  private val Numbers = IndexedSeq(
    "0",
    "1",
    "-1",
    "00",
    "127",
    "128",
    "32768",
    "2147483647",
    "2147483648",
    "-2147483648",
    "1000000000000",
    "1000000000001",
    "4611686018427387904",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "18446744073709551616",
    "0.1",
    "1e64",
    "1e65",
    "1e-64",
    "1e308",
    "1e309",
    "1e-400",
    "1e999",
    "1e1000",
    "1e2147483647",
    "1e-2147483648",
    "1e99999999999999999999",
    "1.7976931348623157e308",
    "4.9e-324",
    "3.5e38f",
    "1f",
    "1d",
    "1L",
    "0x7f",
    ".5",
    "5.",
    "1_000",
    "8640000000000000000",
    "8640000000000000001",
    "9".repeat(34),
    "9".repeat(35),
    "9".repeat(1000),
    "0".repeat(1000),
    "0." + "3".repeat(400),
    "\u0663",
    "\u0967\u0968",
    "\uff11",
    "\u00b2",
    "NaN",
    "Infinity")

  private val Unicode = IndexedSeq(
    "\u00e9",
    "e\u0301",
    "\u0130",
    "\u0131",
    "\u00df",
    "\u017f",
    "\u212a",
    "\u00a0",
    "\u200b",
    "\u200f",
    "\u202e",
    "\u2028",
    "\u2029",
    "\u0085",
    "\u3000",
    "\ufeff",
    "\ufffe",
    "\uffff",
    "\ud800",
    "\udc00",
    "\ud83d\ude00",
    "\ud835\udfd8",
    "\u4e2d",
    "\u0007",
    "\u001b[31m",
    "\u2018",
    "\u201d",
    "\uff08",
    "\uff40",
    "\u037e")
}
