package winops.spark.state

import winops.spark.frames.FrameForm
import winops.spark.restart.{AggregatesForm, ColumnDifferences, FormerColumn, FrameForms, FunctionsIdentity}
import winops.spark.restart.IdentityFields._

/** The state of another query, which the running one rebuilds in its first micro-batch.
  *
  * @param before
  *   the identity of the query that stored the groups
  * @param now
  *   the identity of the running query
  * @param idleBefore
  *   the idle time in milliseconds after which that query removed groups
  * @param isCarried
  *   true if the rows of the groups enter another window
  */
final class RebuiltState(
    val before: String,
    now: String,
    val idleBefore: Long,
    val isCarried: Boolean) {
  private val was = StateIdentity.fields(before)
  private val is = StateIdentity.fields(now)

  /** The columns of the stored rows, in their order. */
  private[spark] val columns: Seq[FormerColumn] =
    new ColumnDifferences(was(Columns), is(Columns)).former

  /** True if rows are stored as the query stores them. */
  val areRowsSame: Boolean = was(Columns) == is(Columns)

  /** True if the query has the stored aggregates. */
  val areAggregatesSame: Boolean = was.get(Results) == is.get(Results) &&
    (was.get(Aggregates) == is.get(Aggregates) || !was.contains(Aggregates)) &&
    columns.forall(column => column.isSame || column.place < 0)

  /** The form of the stored aggregates; None if there are none. */
  private[spark] def aggregates: Option[AggregatesForm] =
    was.get(Aggregates).map { json =>
      AggregatesForm
        .parse(json)
        .getOrElse(throw StateErrors.failure("the form of its aggregates is unknown"))
    }

  /** The forms in which window functions are stored. Functions that read a column of another type
    * have no name there, because their values cannot be taken over.
    */
  private[spark] def frames: Seq[FrameForm] = {
    val altered = columns.filter(column => column.place >= 0 && !column.isSame).map(_.field.name)
    val invalid = FunctionsIdentity.reading(was, altered.toSet)
    def valid(name: String): String = if (invalid(name)) "" else name
    was
      .get(Frames)
      .flatMap(FrameForms.parse)
      .getOrElse(throw StateErrors.failure("the form of its window functions is unknown"))
      .map { form =>
        form.copy(
          functions = form.functions.map(valid),
          buffers = form.buffers.map { case (name, types) => valid(name) -> types })
      }
  }

  /** The names of the columns that are stored for window functions. */
  def columnsOfFrames: Set[String] = FunctionsIdentity.columns(was)
}
