package winops.text.dialect

/** How names and keywords are spelled. */
object Names {

  /** Whether a name can start with this code point without quotes. */
  def starts(codePoint: Int): Boolean = Character.isLetter(codePoint) || codePoint == '_'

  /** Whether a name can go on with this code point without quotes. */
  def continues(codePoint: Int): Boolean = starts(codePoint) || Character.isDigit(codePoint)

  /** The name so that no two names look alike: as it is if it is plain ASCII, else in backticks.
    */
  def quoted(name: String): String = quoted(name, Set.empty)

  /** The same in a language with keywords, which are no plain names. */
  def quoted(name: String, keywords: Set[String]): String =
    if (isPlain(name) && !keywords(name)) name else s"`${name.replace("`", "``")}`"

  /** Returns true if the name consists of ASCII letters, digits and underscores only, and starts
    * with no digit.
    */
  def isPlain(name: String): Boolean = {
    def plain(c: Char) = c < 128 && continues(c.toInt)
    name.nonEmpty && starts(name.head.toInt) && name.forall(plain)
  }

  /** The name for a message: cut to what fits on a screen, without line breaks. */
  def shown(name: String): String = {
    val short =
      if (name.length <= Limits.ShownChars) name else s"${name.take(Limits.ShownChars)}..."
    quoted(short.map(c => if (c.isControl) ' ' else c))
  }

  /** A keyword in its one spelling. Only ASCII letters change, because the others have upper
    * cases that are other letters in some languages.
    */
  def upper(word: String): String =
    word.map(c => if (c >= 'a' && c <= 'z') (c - 'a' + 'A').toChar else c)
}
