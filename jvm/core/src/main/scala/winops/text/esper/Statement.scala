package winops.text.esper

import winops.policy.{Named, Reclaim, RowExpression, Stream}

/** What a text says, parameters filled in.
  *
  * @param reclaim
  *   when groups are forgotten, if there are groups
  * @param stream
  *   which changes the selector tells
  * @param filter
  *   which rows there are at all
  * @param views
  *   the chain of windows
  * @param isUnion
  *   whether rows stay until the last window lets them go
  * @param list
  *   what is selected instead of the rows
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
  * @param offset
  *   the place of its first column
  */
private[esper] final case class SelectList(
    columns: Written[Seq[Named]],
    by: Written[Seq[RowExpression]],
    offset: Int)
