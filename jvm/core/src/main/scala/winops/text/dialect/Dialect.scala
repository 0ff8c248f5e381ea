package winops.text.dialect

import winops.policy.{Category, Policy, PolicyError, Scope}

/** A language in which policies are written. A dialect turns a text into a [[Policy]] and
  * evaluates nothing but constant expressions.
  *
  * A dialect refuses a text that is too long, too deep or too large while reading the text, so
  * the cost of any text is bounded by the time to read it.
  */
trait Dialect {

  /** The name by which users choose the dialect. */
  def name: String

  /** The product that defines the language. */
  def product: String

  /** First words or symbols of the language's texts, in upper case. They distinguish the language
    * from the other dialects.
    */
  def openings: Set[String]

  /** All windows of the language, over columns `symbol`, `price` and `ts`. */
  def windows: Seq[NamedWindow]

  /** Returns the policy that `text` means in `scope`, or the first mistake. */
  final def parse(text: String, scope: Scope): Either[PolicyError, Policy] =
    Limits.read(text).flatMap(read(_, scope)).left.map(error(_, text, scope))

  /** Turns a mistake in `text` into an error for the user. */
  final def error(problem: Problem, text: String, scope: Scope): PolicyError =
    problem.in(text, example(problem.category, scope))

  /** Reads a text whose length is within the limit. */
  protected def read(text: String, scope: Scope): Either[Problem, Policy]

  /** A text that is valid in the scope and shows how to avoid a mistake of the category. */
  protected def example(category: Category, scope: Scope): String
}

/** A window of a product.
  *
  * @param name
  *   name of the window in the product's documentation
  * @param text
  *   example of a text with the window
  */
final case class NamedWindow(name: String, text: String)
