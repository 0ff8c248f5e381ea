package winops.text.dialect

/** Cuts a text into tokens, in time proportional to its length. Blanks of any kind separate
  * tokens and have no other meaning.
  *
  * @param symbols
  *   characters that are tokens by themselves
  * @param colons
  *   true if digits and colons together are one token
  */
final class Lexer(symbols: String, colons: Boolean) {
  import Token._

  /** The tokens of `text`. The last one is [[Token.End]]. */
  def tokens(text: String): IndexedSeq[Token] = tokens(text, 0, text.length)

  /** The tokens between two places of `text`. The offsets of the tokens count from the beginning
    * of `text`.
    */
  def tokens(text: String, from: Int, until: Int): IndexedSeq[Token] = {
    val scan = new Scan(text, until)
    Vector.unfold(from) { place =>
      val start = scan.skip(place, blank)
      Option.when(start < until) {
        val token = scan.token(start)
        (token, token.end)
      }
    } :+ End(until)
  }

  private def blank(codePoint: Int): Boolean =
    Character.isWhitespace(codePoint) || Character.isSpaceChar(codePoint)

  private def digit(codePoint: Int): Boolean = codePoint >= '0' && codePoint <= '9'

  private final class Scan(text: String, until: Int) {

    /** The first place at or after `from` whose code point is not of the kind. */
    def skip(from: Int, kind: Int => Boolean): Int = {
      var place = from
      while (place < until && kind(codePoint(place))) {
        place += Character.charCount(codePoint(place))
      }
      math.min(place, until)
    }

    def token(start: Int): Token = codePoint(start) match {
      case c if digit(c) => number(start)
      case c if Names.starts(c) =>
        Word(text.substring(start, skip(start, Names.continues)), start)
      case '\'' => literal(start)
      case '"' | '`' => quoted(start)
      case c if symbols.indexOf(c) >= 0 => Symbol(c.toChar, start)
      case c => Bad(s"unexpected character ${describe(c)}", start, start + Character.charCount(c))
    }

    private def number(start: Int): Token = {
      val whole = skip(start, digit)
      if (colons && is(whole, ':')) {
        Colons(text.substring(start, skip(whole, c => digit(c) || c == ':' || c == '.')), start)
      } else {
        val fraction = if (is(whole, '.')) digits(whole + 1).getOrElse(whole) else whole
        Number(text.substring(start, exponent(fraction)), start)
      }
    }

    private def exponent(start: Int): Int =
      if (is(start, 'e') || is(start, 'E')) {
        val signed = is(start + 1, '+') || is(start + 1, '-')
        digits(if (signed) start + 2 else start + 1).getOrElse(start)
      } else start

    /** The end of the digits that begin at `start`; None without digits. */
    private def digits(start: Int): Option[Int] =
      Some(skip(start, digit)).filter(_ > start)

    private def literal(start: Int): Token = text.indexOf('\'', start + 1) match {
      case close if close >= 0 && close < until => Literal(start, close + 1)
      case _ => Bad("expected a closing '", start, until)
    }

    private def quoted(start: Int): Token = {
      val quote = text.charAt(start)
      var close = start + 1
      while (close < until && (!is(close, quote) || is(close + 1, quote))) {
        close += (if (is(close, quote)) 2 else 1)
      }
      if (close >= until) Bad(s"expected a closing $quote", start, until)
      else {
        val name = text.substring(start + 1, close).replace(s"$quote$quote", quote.toString)
        Quoted(name, start, close + 1)
      }
    }

    private def is(place: Int, char: Char): Boolean = place < until && text.charAt(place) == char

    private def codePoint(place: Int): Int = text.codePointAt(place)

    private def describe(codePoint: Int): String =
      if (codePoint > ' ' && codePoint < 127) Character.toString(codePoint)
      else f"U+$codePoint%04X"
  }
}
