package winops.text.esper

import java.util.regex.Pattern

import winops.text.dialect.{Names, Token}

/** Cuts a text into tokens, in time proportional to its length. Blanks and comments separate
  * tokens and have no other meaning. The suffix of a number belongs to the number. Strings are in
  * single or double quotes; a backslash escapes the next character.
  */
private[esper] object EsperLexer {
  import Token._

  /** The tokens of `text`. The last one is [[Token.End]]. */
  def tokens(text: String): IndexedSeq[Token] = tokens(text, 0, text.length)

  /** The tokens between two places of `text`. The offsets of the tokens count from the beginning
    * of `text`.
    */
  def tokens(text: String, from: Int, until: Int): IndexedSeq[Token] = {
    val scan = new Scan(text, until)
    Vector.unfold(from) { place =>
      val start = scan.separated(place)
      Option.when(start < until) {
        val token = scan.token(start)
        (token, token.end)
      }
    } :+ End(until)
  }

  private val Symbols = "#.,:;@()[]{}+-*/%=<>!|&^?"

  /** The pattern of numbers. It repeats no group, so a long number cannot overflow the stack of
    * the matcher.
    */
  private val Numbers = {
    val suffixEnds = "(?![_\\p{L}\\p{Nd}])"
    val digits = "[0-9]++"
    Pattern.compile(
      s"$digits[lL]$suffixEnds" +
        s"|(?:$digits(?:\\.$digits)?|\\.$digits)(?:[eE][+-]?$digits)?(?:[dDfF]$suffixEnds)?")
  }

  private def blank(codePoint: Int): Boolean =
    Character.isWhitespace(codePoint) || Character.isSpaceChar(codePoint)

  private final class Scan(text: String, until: Int) {
    private val number = Numbers.matcher(text)

    /** The first place at or after `from` that is neither blank nor in a comment. */
    def separated(from: Int): Int = {
      var place = skip(from, blank)
      var end = comment(place)
      while (end > place) {
        place = skip(end, blank)
        end = comment(place)
      }
      place
    }

    def token(start: Int): Token = codePoint(start) match {
      case c if Names.starts(c) =>
        Word(text.substring(start, skip(start, Names.continues)), start)
      case _ if number.region(start, until).lookingAt() => Number(number.group, start)
      case '\'' | '"' => literal(start)
      case '`' => quoted(start)
      case '/' if is(start + 1, '*') => Bad("expected a closing */", start, until)
      case c if Symbols.indexOf(c) >= 0 => Symbol(c.toChar, start)
      case c => Bad(s"unexpected character ${describe(c)}", start, start + Character.charCount(c))
    }

    /** The end of the comment that begins at `start`, or `start` if none begins there. */
    private def comment(start: Int): Int =
      if (is(start, '/') && is(start + 1, '/')) skip(start, c => c != '\n' && c != '\r')
      else if (is(start, '/') && is(start + 1, '*')) {
        text.indexOf("*/", start + 2) match {
          case close if close >= 0 && close + 2 <= until => close + 2
          case _ => start
        }
      } else start

    private def literal(start: Int): Token = {
      val quote = text.charAt(start)
      var close = start + 1
      while (close < until && !is(close, quote)) close += (if (is(close, '\\')) 2 else 1)
      if (close >= until) Bad(s"expected a closing $quote", start, until)
      else Literal(start, close + 1)
    }

    private def quoted(start: Int): Token = {
      var close = start + 1
      while (close < until && (!is(close, '`') || is(close + 1, '`'))) {
        close += (if (is(close, '`')) 2 else 1)
      }
      if (close >= until) Bad("expected a closing `", start, until)
      else Quoted(text.substring(start + 1, close).replace("``", "`"), start, close + 1)
    }

    /** The first place at or after `from` whose code point is not of the kind. */
    private def skip(from: Int, kind: Int => Boolean): Int = {
      var place = from
      while (place < until && kind(codePoint(place))) {
        place += Character.charCount(codePoint(place))
      }
      math.min(place, until)
    }

    private def is(place: Int, char: Char): Boolean = place < until && text.charAt(place) == char

    private def codePoint(place: Int): Int = text.codePointAt(place)

    private def describe(codePoint: Int): String =
      if (codePoint > ' ' && codePoint < 127) Character.toString(codePoint)
      else f"U+$codePoint%04X"
  }
}
