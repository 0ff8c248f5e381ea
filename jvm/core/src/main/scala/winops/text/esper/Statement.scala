package winops.text.esper

import winops.policy.{Named, Reclaim}
import winops.terms.{RowExpression, Stream}

/** A statement, with the values of parameters in place.
  *
  * @param reclaim
  *   rule by which groups are removed; without groups it has no effect
  * @param stream
  *   changes that the selector emits
  * @param filter
  *   condition on the rows of the stream
  * @param views
  *   chain of windows
  * @param isUnion
  *   true if rows stay until the last window evicts them
  * @param list
  *   values that are selected instead of the rows
  */
private[esper] final case class Statement(
    reclaim: Option[Reclaim],
    stream: Stream,
    filter: Option[Written[RowExpression]],
    views: Seq[View],
    isUnion: Boolean,
    list: Option[SelectList])

/** A select list that has aggregates.
  *
  * @param columns
  *   values of the list with their names
  * @param by
  *   keys of GROUP BY
  * @param offset
  *   place of the first column
  */
private[esper] final case class SelectList(
    columns: Written[Seq[Named]],
    by: Written[Seq[RowExpression]],
    offset: Int)
