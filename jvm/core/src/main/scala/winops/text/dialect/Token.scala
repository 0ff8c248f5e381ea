package winops.text.dialect

/** A word of a text, with its place: `offset` is its first character, `end` the one after its
  * last.
  */
sealed trait Token {
  def offset: Int
  def end: Int
}

object Token {

  /** A token whose characters stand in the text as they are. */
  sealed trait Plain extends Token {
    def text: String
    override def end: Int = offset + text.length
  }

  /** A name, by itself or in quotes. */
  sealed trait Named extends Token {
    def name: String
  }

  /** A keyword or a name. */
  final case class Word(text: String, offset: Int) extends Plain with Named {
    override def name: String = text
  }

  /** A name in double quotes or backticks, which is never a keyword. */
  final case class Quoted(name: String, offset: Int, end: Int) extends Named

  /** Digits, with a fraction or an exponent or without. */
  final case class Number(text: String, offset: Int) extends Plain {
    def isWhole: Boolean = text.forall(Character.isDigit)
  }

  /** Digits and colons, with a fraction or without. */
  final case class Colons(text: String, offset: Int) extends Plain

  /** What stands between single quotes, which are at `offset` and `end - 1`. */
  final case class Literal(offset: Int, end: Int) extends Token

  final case class Symbol(char: Char, offset: Int) extends Token {
    override def end: Int = offset + 1
  }

  /** What is no token; the message says why. */
  final case class Bad(message: String, offset: Int, end: Int) extends Token

  final case class End(offset: Int) extends Token {
    override def end: Int = offset
  }
}
