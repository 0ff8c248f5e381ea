package winops.text.dialect

import winops.policy.{Category, PolicyError}

/** A mistake at a place of a text, before it is known what the whole text was.
  *
  * @param offset
  *   an index into the text, at most its length
  * @param message
  *   what was expected, without the place
  */
final case class Problem(category: Category, offset: Int, message: String) {

  /** The same mistake as users see it. */
  def in(text: String, example: String): PolicyError =
    PolicyError(category, message, text, offset, example)
}
