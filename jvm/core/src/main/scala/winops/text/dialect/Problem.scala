package winops.text.dialect

import winops.policy.{Category, PolicyError}

/** A mistake at a place of a text. [[in]] adds the text.
  *
  * @param category
  *   kind of the mistake
  * @param offset
  *   index into the text, at most its length
  * @param message
  *   what was expected; the message does not name the place
  * @param unknownColumn
  *   the named column that the rows do not have, if that is the mistake
  */
final case class Problem(
    category: Category,
    offset: Int,
    message: String,
    unknownColumn: Option[String] = None) {

  /** Turns the mistake into an error for the user. */
  def in(text: String, example: String): PolicyError =
    PolicyError(category, message, text, offset, example, unknownColumn)
}
