package winops.text.dialect

/** Explains in messages how a call gives values to parameters. */
object Parameters {

  /** A sentence that shows how a call gives the parameter a number. If `known` has the name in
    * other cases, the sentence says that the two differ.
    */
  def howToGive(name: String, known: Iterable[String]): String =
    known.find(_.equalsIgnoreCase(name)) match {
      case Some(other) =>
        s"${Names.shown(other)} has one: the case of letters distinguishes parameters"
      case None =>
        val (python, sql) = arguments(name)
        s"Give it one: $python in Python, $sql in SQL"
    }

  /** Returns the argument that gives the parameter a number: first in Python, then in SQL. */
  def arguments(name: String): (String, String) = {
    // A name that needs quotes in the policy may need other quotes in Python and SQL. A long name
    // would make the message too long, because the message repeats the name.
    val shown = if (Names.isPlain(name) && name.length <= LongestName) name else "name"
    (s"""params={"$shown": 100}""", s"params => named_struct('$shown', 100)")
  }

  private val LongestName = 40
}
