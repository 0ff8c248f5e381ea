package winops.text.dialect

import winops.policy.Category

/** Limits of the texts that parsers read. A text can come from people other than the submitter of
  * the job, so no text may cost memory, stack or time out of proportion.
  */
object Limits {

  /** The longest text, in UTF-16 units. A parameter's text has the same limit. */
  val MaxChars = 10000

  /** The greatest nesting depth of parentheses, minus signs and other expressions. */
  val MaxDepth = 32

  /** The most expressions of a list, such as a select list. A parser tries several alternatives
    * for each of them.
    */
  val MaxInList = 500

  /** The greatest number of rows in a policy. It is more than any state holds, and sums of
    * several such numbers fit into a Long.
    */
  val MaxRows = 1000000000000L

  /** The longest interval: 100,000 days in microseconds. A Spark timestamp plus this interval, in
    * milliseconds, fits into a Long.
    */
  val MaxMicros: Long = 100000L * 24 * 60 * 60 * 1000000

  /** The most digits of a number with a fraction, as in IEEE's decimal128. */
  val MaxDigits = 34

  /** The greatest absolute power of ten of a number with a fraction. */
  val MaxExponent = 64

  private[text] val ShownChars = 60

  /** Returns `text`, or a `limit` problem if the text is longer than [[MaxChars]]. */
  def read(text: String): Either[Problem, String] = Either.cond(
    text.length <= MaxChars,
    text,
    Problem(Category.Limit, MaxChars, s"expected at most $MaxChars characters"))
}
