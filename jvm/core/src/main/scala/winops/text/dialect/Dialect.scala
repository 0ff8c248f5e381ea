package winops.text.dialect

import winops.policy.{Category, Policy, PolicyError, Scope}

/** A language in which policies are written: text in, pieces out, and nothing evaluated between.
  *
  * A dialect refuses what is too long, too deep or too large for it while it reads, so that a
  * text from anywhere costs no more than the time to read it.
  */
trait Dialect {

  /** The name by which users choose the dialect. */
  def name: String

  /** The product whose language it is. */
  def product: String

  /** The first words or signs of texts, in upper case, by which the language can be told from the
    * others here.
    */
  def openings: Set[String]

  /** All windows of the language, over columns `symbol`, `price` and `ts`. */
  def windows: Seq[NamedWindow]

  /** The policy that `text` means in `scope`, or the mistake that the reading stopped at. */
  final def parse(text: String, scope: Scope): Either[PolicyError, Policy] =
    Limits.read(text).flatMap(read(_, scope)).left.map(error(_, text, scope))

  /** A mistake in `text` as users see it. */
  final def error(problem: Problem, text: String, scope: Scope): PolicyError =
    problem.in(text, example(problem.category, scope))

  /** Reads a text that is not too long. */
  protected def read(text: String, scope: Scope): Either[Problem, Policy]

  /** A text that is valid in the scope and shows what the mistake was about. */
  protected def example(category: Category, scope: Scope): String
}

/** A window of a product.
  *
  * @param name
  *   what the product calls it
  * @param text
  *   an example, as its users write it
  */
final case class NamedWindow(name: String, text: String)
