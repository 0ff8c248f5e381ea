package winops.text.dialect

import winops.policy.Category

/** What the parsers agree to read. Texts may come from people who are not the submitter of the
  * job, so none of them may cost memory, stack or time out of proportion.
  */
object Limits {

  /** The longest text, in UTF-16 units; a parameter's text has the same limit. */
  val MaxChars = 10000

  /** How deep parentheses and minus signs may nest. */
  val MaxDepth = 32

  /** The most expressions of a list, such as a select list: each is read in many ways before it
    * is known what it is.
    */
  val MaxInList = 500

  /** The greatest number of rows that a policy may name: far more than fits anywhere, and small
    * enough that sums of several stay far from the end of a Long.
    */
  val MaxRows = 1000000000000L

  /** The longest interval, 100,000 days in microseconds: small enough that adding it to any
    * timestamp of Spark's stays within milliseconds of a Long.
    */
  val MaxMicros: Long = 100000L * 24 * 60 * 60 * 1000000

  /** The digits of a number with a fraction, as in IEEE's decimal128. */
  val MaxDigits = 34

  /** The greatest power of ten, up or down, of a number with a fraction. */
  val MaxExponent = 64

  private[text] val ShownChars = 60

  /** `text`, if it is short enough to be read. */
  def read(text: String): Either[Problem, String] = Either.cond(
    text.length <= MaxChars,
    text,
    Problem(Category.Limit, MaxChars, s"expected at most $MaxChars characters"))
}
