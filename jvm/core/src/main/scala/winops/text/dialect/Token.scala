package winops.text.dialect

/** A lexical unit of a text. `offset` is the index of its first character, `end` the index after
  * its last one.
  */
sealed trait Token {
  def offset: Int
  def end: Int
}

object Token {

  /** A token that equals its characters in the text. */
  sealed trait Plain extends Token {
    def text: String
    override def end: Int = offset + text.length
  }

  /** A name, with or without quotes. */
  sealed trait Named extends Token {
    def name: String
  }

  /** A keyword or a name. */
  final case class Word(text: String, offset: Int) extends Plain with Named {
    override def name: String = text
  }

  /** A name in double quotes or backticks, which is never a keyword. */
  final case class Quoted(name: String, offset: Int, end: Int) extends Named

  /** Digits, with or without a fraction and an exponent. */
  final case class Number(text: String, offset: Int) extends Plain {
    def isWhole: Boolean = text.forall(Character.isDigit)
  }

  /** Digits and colons, with or without a fraction. */
  final case class Colons(text: String, offset: Int) extends Plain

  /** A text in quotes, which are at `offset` and `end - 1`. */
  final case class Literal(offset: Int, end: Int) extends Token

  /** A character that is a token by itself. */
  final case class Symbol(char: Char, offset: Int) extends Token {
    override def end: Int = offset + 1
  }

  /** Characters that form no token.
    *
    * @param message
    *   reason
    */
  final case class Bad(message: String, offset: Int, end: Int) extends Token

  /** The end of the text. */
  final case class End(offset: Int) extends Token {
    override def end: Int = offset
  }
}
