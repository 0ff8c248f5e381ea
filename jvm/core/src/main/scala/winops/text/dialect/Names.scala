package winops.text.dialect

/** The spelling of names and keywords. */
object Names {

  /** Returns true if a name without quotes can start with the code point. */
  def starts(codePoint: Int): Boolean = Character.isLetter(codePoint) || codePoint == '_'

  /** Returns true if a name without quotes can contain the code point after its start. */
  def continues(codePoint: Int): Boolean = starts(codePoint) || Character.isDigit(codePoint)

  /** Quotes a name with backticks unless it is plain ASCII, so that no two names look alike. */
  def quoted(name: String): String = quoted(name, Set.empty)

  /** Quotes a name in a language with keywords. A name that equals a keyword is quoted too. */
  def quoted(name: String, keywords: Set[String]): String =
    if (isPlain(name) && !keywords(name)) name else s"`${name.replace("`", "``")}`"

  /** Returns true if the name consists of ASCII letters, digits and underscores only, and does
    * not start with a digit.
    */
  def isPlain(name: String): Boolean = {
    def plain(c: Char) = c < 128 && continues(c.toInt)
    name.nonEmpty && starts(name.head.toInt) && name.forall(plain)
  }

  /** Formats a name for a message: cut to 60 characters, without line breaks, quoted if needed.
    */
  def shown(name: String): String = {
    val short =
      if (name.length <= Limits.ShownChars) name else s"${name.take(Limits.ShownChars)}..."
    quoted(short.map(c => if (c.isControl) ' ' else c))
  }

  /** Converts a keyword to upper case. Only ASCII letters change, because the upper case of other
    * letters depends on the language.
    */
  def upper(word: String): String =
    word.map(c => if (c >= 'a' && c <= 'z') (c - 'a' + 'A').toChar else c)
}
