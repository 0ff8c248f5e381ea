package winops.text.dialect

/** How users give values to the names in a text. */
object Parameters {

  /** A sentence that shows how a call gives the parameter a number. */
  def howToGive(name: String): String = {
    val (python, sql) = arguments(name)
    s"Give it one: $python in Python, $sql in SQL"
  }

  /** The argument of a call in Python and in SQL that gives the parameter a number. */
  def arguments(name: String): (String, String) = {
    // A name that needs quotes in the policy may need others in Python and in SQL, and a long one
    // does not fit on a screen three times.
    val shown = if (Names.isPlain(name) && name.length <= LongestName) name else "name"
    (s"""params={"$shown": 100}""", s"params => named_struct('$shown', 100)")
  }

  private val LongestName = 40
}
