package winops.window.piece

/** The triggers of a window.
  *
  * @param enter
  *   trigger at which waiting rows enter the window
  * @param leave
  *   trigger at which the window evicts the rows that exceed its bound
  * @param report
  *   trigger at which the window contents are reported
  */
final case class Triggers(enter: Trigger, leave: Trigger, report: Trigger) {

  /** The three triggers. */
  def all: Seq[Trigger] = Seq(enter, leave, report)
}
