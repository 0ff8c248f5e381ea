package winops.text.esper

import winops.text.dialect.Names

/** The words with a meaning in expressions. */
private[esper] object Words {

  /** The name of the stream in canonical texts. */
  val Stream = "stream"

  /** Converts a word to lower case. Only ASCII letters change, as in [[Names.upper]]. */
  def lower(word: String): String =
    word.map(c => if (c >= 'A' && c <= 'Z') (c - 'A' + 'a').toChar else c)

  /** Returns true for words of expressions that are never columns, functions or parameters. */
  def isReserved(word: String): Boolean = Reserved(Names.upper(word))

  /** Esper: the rows at both ends of the window, in the condition of `expr` and `expr_batch`. */
  val Events: Set[String] = Set("newest_event", "oldest_event")

  /** Esper: all properties of the window that such a condition can read besides columns. */
  val OfWindow: Set[String] = Events ++ Set(
    "current_count",
    "expired_count",
    "newest_timestamp",
    "oldest_timestamp",
    "view_reference")

  /** Formats the name of a column, in backticks unless the plain name means the column
    * everywhere.
    */
  def quoted(name: String): String =
    if (isReserved(name) || OfWindow(name) || Clauses(Names.upper(name)) || name == Stream) {
      s"`$name`"
    } else Names.quoted(name)

  /** The words that end a select list or a name in it. */
  private val Clauses: Set[String] = Set("FROM", "AS")

  private val Reserved: Set[String] = Set(
    "AND",
    "OR",
    "NOT",
    "IS",
    "IN",
    "BETWEEN",
    "LIKE",
    "ESCAPE",
    "REGEXP",
    "NULL",
    "TRUE",
    "FALSE",
    "CASE",
    "WHEN",
    "THEN",
    "ELSE",
    "END",
    "SELECT",
    "DISTINCT",
    "ASC",
    "DESC")
}
