package winops.spark.plan

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.winops.internal.Catalyst

import winops.spark.expressions.{BytesOfRow, PolicyExpression}
import winops.spark.row.KeyTypes

/** The resolved plan that the streaming and the batch operator share: a [[Keep]] whose group key
  * is attributes, over rows with columns to group and order them by.
  *
  * @param keys
  *   the group key, among the input's attributes
  * @param groupExpressions
  *   the group key, as expressions over `content`, in its normalized form
  * @param shownKeys
  *   the group key as the rows write it, over `content`, if the normalized form has other types;
  *   empty otherwise
  * @param expressions
  *   the resolved expressions of the policy, over `content`
  * @param punctuation
  *   the column that marks punctuation
  * @param content
  *   the attributes of a stored and emitted row
  * @param by
  *   expressions whose distinct combinations have results of their own
  * @param results
  *   the computed columns of the contents of a window
  * @param sourcePartition
  *   the input column that orders rows of different micro-batches with equal time and order,
  *   before the order of their micro-batches; see [[SourcePartitions]]
  * @param positions
  *   input columns that order the rows of a micro-batch as their source does, the most
  *   significant first; none if the source has no order
  */
final case class KeepPlan(
    spec: KeepSpec,
    keys: Seq[Attribute],
    groupExpressions: Seq[Expression],
    shownKeys: Seq[Expression],
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

  /** The window functions and their identities, each once, sorted by their identities. The driver
    * computes them, because the state of groups has their order.
    */
  lazy val functions: Seq[(String, FramedFunction)] = results
    .collect { case one: FramedFunction => identityOf(one) -> one }
    .distinctBy(_._1)
    .sortBy(_._1)

  /** The identity of a window function of the plan. */
  def identityOf(function: Expression): String = FramedFunction.identityOf(function, content)

  /** The order in which the rows of a group are applied, without tie-breakers. A row without a
    * time is not applied, but it may be an error: sorted last, it is always among the newest
    * rows.
    */
  def stamp: Seq[SortOrder] =
    (if (spec.rowsWait) time.map(SortOrder(_, Ascending, NullsLast, Nil)).toSeq else Nil) ++ order

  /** The order of the rows of one micro-batch. Only equal rows tie. */
  def arrival: Seq[SortOrder] =
    (stamp ++ (sourcePartition ++ positions).map(SortOrder(_, Ascending))) :+ bytes

  /** The order of waiting rows across micro-batches. Rows of one partition of an ordered source
    * keep the order of their micro-batches and positions.
    */
  def waitingOrder: Seq[SortOrder] =
    stamp ++ sourcePartition.map(SortOrder(_, Ascending)) ++
      Option.when(positions.isEmpty)(bytes)

  /** The columns of a waiting row. */
  def waitingColumns: Seq[Attribute] = content ++ sourcePartition

  private def bytes: SortOrder = SortOrder(BytesOfRow(content), Ascending)

  /** The order that a task's input must have. Tasks of independent groups need none: the task
    * itself groups and sorts its rows.
    */
  def inputOrder: Seq[SortOrder] = if (spec.runsInOneTask) arrival else Nil

  /** The index of the time column in `content`, or -1. */
  def timeOrdinal: Int = time.fold(-1)(t => content.indexWhere(_.exprId == t.exprId))

  def punctuationOrdinal: Int =
    punctuation.fold(-1)(p => content.indexWhere(_.exprId == p.exprId))

  /** The node's description in EXPLAIN FORMATTED, under the node's name. */
  def verboseString(name: String): String = s"$name\n$simpleString\n"

  def simpleString: String = Keep.describe(spec, time, results)
}

object KeepPlan {

  /** The group key of a node, as columns; a key that is no column becomes a computed one. */
  def keys(keep: Keep): Seq[NamedExpression] = keep.group.zipWithIndex.map {
    case (expression, i) =>
      KeyTypes.normalized(expression) match {
        case attribute: Attribute => attribute
        case other => Alias(other, s"_group_$i")()
      }
  }

  /** The plan of a node.
    *
    * @param keys
    *   the columns of [[keys]]
    */
  def of(keep: Keep, keys: Seq[Attribute], positions: Seq[Attribute]): KeepPlan = KeepPlan(
    spec = keep.spec,
    keys = keys,
    groupExpressions = keep.group.map(KeyTypes.normalized),
    shownKeys =
      if (keep.spec.isOver || keep.group.map(_.dataType).forall(KeyTypes.areShown)) Nil
      else keep.group.map(Catalyst.normalizeFloatingNumbers),
    expressions = keep.expressionsOfRows,
    punctuation = keep.punctuation,
    order = keep.order,
    time = keep.time,
    changeColumns = keep.changeColumns,
    by = keep.by,
    results = keep.results,
    content = keep.content,
    sourcePartition = keep.sourcePartition,
    positions = positions)
}
