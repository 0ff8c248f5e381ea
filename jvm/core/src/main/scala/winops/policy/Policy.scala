package winops.policy

import winops.terms.{RowExpression, Stream}
import winops.window.changes.ChangeReason
import winops.window.piece._

/** A retention policy: which rows of a stream stay in a window, and which changes are emitted.
  *
  * Every window of every dialect is a combination of six pieces: the group, the stream, and for
  * each window its admit rule, order, bound and triggers. The machine knows only these pieces. A
  * dialect maps each named window of its product to such a combination.
  *
  * @param group
  *   group keys; the rows of one group share one machine
  * @param retention
  *   one window, or several windows and the rule that combines them
  * @param stream
  *   changes that are emitted, and their order within a step
  * @param text
  *   canonical text of the policy in its dialect, with the values of parameters in place; EXPLAIN
  *   shows this text
  * @param window
  *   canonical text without the group, which a caller can also give beside the text; a checkpoint
  *   stores this text, because equal windows over equal groups mean equal policies
  * @param filter
  *   condition on the rows that the policy applies to; all other rows are ignored
  * @param projection
  *   values that are emitted instead of the rows
  * @param isSplit
  *   true for the result of [[Policy.splitByKey]], in which a row that is one too many is one
  *   that a newer row of its key replaces
  * @param key
  *   the primary key, of which a group holds one row at a time; if it is empty, every row is an
  *   insert
  * @param buffer
  *   the number of rows with a primary key that are stored behind a window of a number of rows,
  *   and return into it when a delete or an update makes room; 0 if evicted rows do not return
  */
final case class Policy(
    group: Group,
    retention: Retention,
    stream: Stream,
    text: String,
    window: String,
    filter: Option[RowExpression] = None,
    projection: Option[Projection] = None,
    isSplit: Boolean = false,
    key: Seq[RowExpression] = Nil,
    buffer: Long = 0L) {

  /** Returns true if rows have a primary key, so that updates and deletes can name them. */
  def isKeyed: Boolean = key.nonEmpty

  /** The policy in one English sentence. */
  def describe: String = PolicyDescriber.of(this, None)

  /** The pieces of the policy, each as its name and an English phrase. */
  def pieces: Seq[(String, String)] = PolicyDescriber.pieces(this)

  /** The same sentence with a second rule that removes groups.
    *
    * @param reclaim
    *   rule that is given beside the policy's text
    */
  def describeWith(reclaim: Option[Reclaim]): String = PolicyDescriber.of(this, reclaim)

  /** Returns true if rows leave or contents are reported because time passes, so that the machine
    * needs a clock.
    */
  def usesTime: Boolean = retention.windows.exists(_.usesTime) || group.reclaim.exists(_.usesTime)

  /** The names of the independent windows; empty for any other retention. */
  def windowNames: Seq[String] = retention match {
    case Retention.Independent(parts) => parts.map(_._1)
    case _ => Nil
  }

  /** The number n such that the window contents are the group's newest n rows, if their number
    * alone decides.
    */
  def newestRows: Option[Long] = retention match {
    case Retention.One(window) if group.reclaim.isEmpty && !usesTime && !isKeyed =>
      window.newestRows
    case _ => None
  }

  /** Returns true if each row enters when it arrives, and not at a later trigger. */
  def takesRowsAtOnce: Boolean = retention.windows.forall(_.triggers.enter == EachRow)

  /** Returns true if the machine needs the arrival times of rows: for time, or for a condition
    * that can read them.
    */
  def needsArrivals: Boolean = usesTime || retention.windows.exists(_.readsArrivals)

  /** Returns true if rows may leave in any order, so that the group's rows have holes. */
  def leavesHoles: Boolean = isKeyed || retention.leavesHoles

  /** Returns true if the changes delete rows in the order of their insertion. */
  def leavesFromFront: Boolean =
    !leavesHoles && retention.windows.forall(_.order == Arrival)

  /** The reasons for which rows leave, as [[winops.window.changes.ChangeReason]]s, without those
    * of an idle time that is given beside the text.
    */
  def reasons: Seq[Int] =
    (retention.windows.flatMap(_.reasons) ++ group.reclaim.flatMap(_.reason) ++
      (if (isKeyed) Seq(ChangeReason.Updated, ChangeReason.Deleted) else Nil)).distinct

  /** The number of rows that a group holds at most between steps, those behind its window
    * included, if its window limits it.
    */
  def mostRows: Option[Long] = retention match {
    // A buffer for all rows may be the largest number.
    case Retention.One(window) =>
      window.mostRows.map(rows => rows + Math.min(buffer, Long.MaxValue - rows))
    case _ => None
  }

  /** The class of windows of which a restart may choose another length; None if more than a
    * length decides which rows stay.
    */
  def resizable: Option[Resizable] = this match {
    case Policy(
          Group(_, None),
          Retention.One(Window(EveryRow, Arrival, bound, Triggers(EachRow, leave, Never))),
          Stream.InsertsThenDeletes,
          _,
          _,
          None,
          None,
          _,
          _,
          _) =>
      bound.resizable(leave)
    case _ => None
  }

  /** Says how a group fills that was kept by a shorter window; None if the window before was not
    * shorter, or of another class.
    */
  def growth(before: Policy): Option[String] = (before.retention, retention) match {
    case (Retention.One(was), Retention.One(is))
        if resizable.isDefined && resizable == before.resizable =>
      is.bound.growth(was.bound)
    case _ => None
  }

  /** A policy that emits the same changes over smaller groups, or this policy if none exists. A
    * window that holds one row for each key becomes one window for each key. All other windows
    * must evict each row independently of other rows. A cross-group policy is not split, and
    * neither is a policy with a projection, because its values are computed over the original
    * groups.
    */
  def splitByKey: Policy = {
    val keys = retention.windows.flatMap(_.keyOfEachRow)
    val others = retention.windows.filter(_.keyOfEachRow.isEmpty)
    val splits =
      !isKeyed && keys.size == 1 && others.forall(_.looksAtEachRow) && projection.isEmpty &&
        !isCrossGroup
    retention.withinKey.filter(_ => splits).fold(this) { within =>
      copy(
        group = group.copy(keys = (group.keys ++ keys.head).distinct),
        retention = within,
        isSplit = true)
    }
  }

  /** Returns true if a window punctuation empties a window. */
  def takesPunctuation: Boolean = retention.windows.exists(_.triggers.leave.firesAtPunctuation)

  /** Returns true if the changes of one group depend on other groups. One task must then process
    * all groups in the order of the rows.
    */
  def isCrossGroup: Boolean =
    group.reclaim.exists(_.isCrossGroup) || projection.exists(_.acrossGroups) ||
      takesPunctuation
}
