package winops.spark.restart

/** One difference between the query of a checkpoint and the query that restarts with it.
  *
  * @param subject
  *   what differs, such as `column price`
  * @param before
  *   the value in the checkpoint, as text
  * @param now
  *   the value in the query, as text
  * @param because
  *   why the outcome is what it is, in one sentence
  * @param remedy
  *   what to write instead, or how to supply what is missing; empty if nothing is missing
  */
final case class Difference(
    subject: String,
    before: String,
    now: String,
    outcome: Outcome,
    because: String,
    remedy: String = "") {

  /** The difference with its outcome and reason, in one line of a message. */
  def text: String = {
    val todo = if (remedy.isEmpty) "" else s" $remedy."
    s"- $subject ${outcome.name}: $because$todo"
  }
}
