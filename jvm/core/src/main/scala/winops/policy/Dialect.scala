package winops.policy

/** A language in which policies are written: text in, pieces out, and nothing evaluated between.
  *
  * A dialect refuses what is too long, too deep or too large for it while it reads, so that a
  * text from anywhere costs no more than the time to read it.
  */
trait Dialect {

  /** The name by which users choose the dialect. */
  def name: String

  /** The policy that `text` means in `scope`, or the mistake that the reading stopped at. */
  def parse(text: String, scope: Scope): Either[PolicyError, Policy]
}
