package winops.spark.plan

import org.apache.spark.sql.catalyst.expressions._

import winops.spark.expressions.{BytesOfRow, PolicyExpression}

/** What the stream's and the table's operator share: a [[Keep]] whose group is attributes, over
  * rows that carry what groups and orders them.
  *
  * @param keys
  *   the group, among the input's attributes
  * @param groupExpressions
  *   the group, over the content
  * @param expressions
  *   what the policy's expressions mean, over the content
  * @param punctuation
  *   the column that marks the stream
  * @param content
  *   the attributes of a row as it is kept and given back
  * @param by
  *   values whose distinct combinations have results of their own
  * @param results
  *   what is computed of the content of a window
  * @param sourcePartition
  *   the column of the input by which rows of different micro-batches that are equal in time and
  *   order are ordered, before the order of their micro-batches; see [[SourcePartitions]]
  * @param positions
  *   columns of the input that order rows of a batch as their source does, the first decides
  *   first; none if the source says no order
  */
final case class KeepPlan(
    spec: KeepSpec,
    keys: Seq[Attribute],
    groupExpressions: Seq[Expression],
    expressions: Seq[PolicyExpression],
    punctuation: Option[Attribute],
    order: Seq[SortOrder],
    time: Option[Attribute],
    changeColumns: Seq[Attribute],
    by: Seq[Expression],
    results: Seq[Expression],
    content: Seq[Attribute],
    sourcePartition: Option[Attribute],
    positions: Seq[Attribute]) {

  def output: Seq[Attribute] = Keep.output(spec, changeColumns, content)

  /** The order in which the rows of a group are applied, up to ties. A row without a time is not
    * applied, but it may be an error: last, it is always among the newest.
    */
  def stamp: Seq[SortOrder] =
    (if (spec.rowsWait) time.map(SortOrder(_, Ascending, NullsLast, Nil)).toSeq else Nil) ++ order

  /** The order of the rows of one batch: ties are of rows that are equal. */
  def arrival: Seq[SortOrder] =
    (stamp ++ (sourcePartition ++ positions).map(SortOrder(_, Ascending))) :+ bytes

  /** The order of waiting rows of any micro-batches. Rows of one partition of a source with an
    * order keep that of their micro-batches and positions.
    */
  def waitingOrder: Seq[SortOrder] =
    stamp ++ sourcePartition.map(SortOrder(_, Ascending)) ++
      Option.when(positions.isEmpty)(bytes)

  /** The columns of a row that waits. */
  def waitingColumns: Seq[Attribute] = content ++ sourcePartition

  private def bytes: SortOrder = SortOrder(BytesOfRow(content), Ascending)

  /** The order that a task's input needs. With keys it needs none: the task brings the rows of a
    * group together and puts them in order by themselves.
    */
  def inputOrder: Seq[SortOrder] = if (spec.runsInOneTask) arrival else Nil

  /** The place of the time column in a row of the content, or -1. */
  def timeOrdinal: Int = time.fold(-1)(t => content.indexWhere(_.exprId == t.exprId))

  def punctuationOrdinal: Int =
    punctuation.fold(-1)(p => content.indexWhere(_.exprId == p.exprId))

  /** For EXPLAIN FORMATTED, under the node's name. */
  def verboseString(name: String): String = s"$name\n$simpleString\n"

  def simpleString: String = Keep.describe(spec, time)
}
