package winops.text.dialect

/** Explains in messages how a call gives values to parameters. */
object Parameters {

  /** A sentence that shows how a call gives the parameter a number. */
  def howToGive(name: String): String = {
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
