package winops.spark.plan

import org.apache.spark.sql.catalyst.expressions._

import winops.spark.expressions.{BytesOfRow, PolicyExpression}

/** The plan that the tasks of an operator get: its node without the child, over rows with columns
  * to group and order them by.
  */
sealed trait OperatorPlan extends Product with Serializable {
  def spec: OperatorSpec

  /** The group key, among the input's attributes. */
  def keys: Seq[Attribute]

  /** The group key, as expressions over `content`, in its normalized form. */
  def groupExpressions: Seq[Expression]

  /** The group key as the rows write it, over `content`, if the output shows it and the
    * normalized form has other types; empty otherwise.
    */
  def shownKeys: Seq[Expression]

  /** The order of the rows within a group that the user has given, behind the time. */
  def order: Seq[SortOrder]

  /** The event time column. */
  def time: Option[Attribute]

  /** The columns that the operator makes. */
  def changeColumns: Seq[Attribute]

  /** The computed columns, as expressions. */
  def results: Seq[Expression]

  /** The attributes of a stored row. */
  def content: Seq[Attribute]

  /** The input column that orders rows of different micro-batches with equal time and order,
    * before the order of their micro-batches; see [[SourcePartitions]].
    */
  def sourcePartition: Option[Attribute]

  /** The input columns that order the rows of a micro-batch as their source does, the most
    * significant first; none if the source has no order.
    */
  def positions: Seq[Attribute]

  /** In a micro-batch with a table before the stream, the input column that is true for rows of
    * the table, and NULL for rows of the stream that have waited in a state that it replaces.
    */
  def ofHistory: Option[Attribute]

  /** The column of `content` that only rows have that read the state of their group and do not
    * enter it. NULL in all other rows; None if the input has no such rows.
    */
  def asking: Option[Attribute]

  /** The columns of an output row. */
  def output: Seq[Attribute]

  /** All expressions on whose values the state depends. */
  def expressionsOfState: Seq[Expression]

  /** The plan with groups that are removed after an idle time, in milliseconds. */
  def withIdle(millis: Long): OperatorPlan

  /** The identity of an expression of the plan: its SQL, and a digest of what that does not show.
    */
  final def identityOf(expression: Expression): String =
    FramedFunction.identityOf(expression, content)

  /** The order in which the rows of a group are applied, without tie-breakers. A row without a
    * time is not applied, but it may be an error: sorted last, it is always among the newest
    * rows. Rows that read follow the rows of their time, or precede them.
    */
  final def stamp: Seq[SortOrder] =
    (if (spec.rowsWait) time.map(SortOrder(_, Ascending, NullsLast, Nil)).toSeq else Nil) ++
      asking.map(column => SortOrder(IsNotNull(column), orderOfAsking)) ++ order

  /** The order of rows of one time, by whether they read. */
  protected def orderOfAsking: SortDirection = Ascending

  /** The order of the rows of one micro-batch. Only equal rows tie. Rows of a table before the
    * stream precede its rows, or those of the same time.
    */
  final def arrival: Seq[SortOrder] = {
    val history = ofHistory.map { flag =>
      val isOfTable = if (flag.nullable) Coalesce(Seq(flag, Literal.FalseLiteral)) else flag
      SortOrder(isOfTable, Descending)
    }.toSeq
    val ordered = if (spec.rowsWait) stamp ++ history else history ++ stamp
    (ordered ++ (sourcePartition ++ positions).map(SortOrder(_, Ascending))) :+ bytes
  }

  /** The order of waiting rows across micro-batches. Rows of one partition of an ordered source
    * keep the order of their micro-batches and positions.
    */
  final def waitingOrder: Seq[SortOrder] =
    stamp ++ sourcePartition.map(SortOrder(_, Ascending)) ++
      Option.when(positions.isEmpty)(bytes)

  /** The columns of a waiting row. */
  final def waitingColumns: Seq[Attribute] = content ++ sourcePartition

  private def bytes: SortOrder = SortOrder(BytesOfRow(content), Ascending)

  /** The order that a task's input must have. Tasks of independent groups need none: the task
    * itself groups and sorts its rows.
    */
  final def inputOrder: Seq[SortOrder] = if (spec.runsInOneTask) arrival else Nil

  /** The index of the time column in `content`, or -1. */
  final def timeOrdinal: Int = time.fold(-1)(t => content.indexWhere(_.exprId == t.exprId))

  /** The name of the time column in the input of the user.
    *
    * @param isAsking
    *   true for rows that read
    */
  def timeName(isAsking: Boolean): String = time.fold("")(_.name)

  /** The node's description in EXPLAIN FORMATTED, under the node's name. */
  final def verboseString(name: String): String = s"$name\n$simpleString\n"

  final def simpleString: String = spec.describe(time, results)
}

/** The plan of a retention window: a [[Keep]] whose group key is attributes.
  *
  * @param expressions
  *   the resolved expressions of the policy, over `content`
  * @param punctuation
  *   the column that marks punctuation
  * @param operation
  *   the column that says what a row with a primary key does
  * @param by
  *   expressions whose distinct combinations have results of their own
  * @param results
  *   the computed columns of the contents of a window
  * @param asking
  *   the column with the row of another input that reads the windows, as a struct
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
    positions: Seq[Attribute],
    ofHistory: Option[Attribute] = None,
    operation: Option[Attribute] = None,
    asking: Option[Attribute] = None)
    extends OperatorPlan {
  override def output: Seq[Attribute] = Keep.output(spec, changeColumns, content)

  override protected def orderOfAsking: SortDirection =
    if (spec.lookup.exists(_.before)) Descending else Ascending

  override def timeName(isAsking: Boolean): String =
    spec.lookup.filter(_ => isAsking).flatMap(_.time).getOrElse(super.timeName(isAsking))

  override def expressionsOfState: Seq[Expression] =
    groupExpressions ++ order ++ expressions ++ by ++ results

  override def withIdle(millis: Long): KeepPlan =
    copy(spec = spec.copy(idleMillis = Some(millis)))

  def operationOrdinal: Int =
    operation.fold(-1)(o => content.indexWhere(_.exprId == o.exprId))

  def punctuationOrdinal: Int =
    punctuation.fold(-1)(p => content.indexWhere(_.exprId == p.exprId))
}

/** The plan of window functions: an [[Over]] whose group key is attributes.
  *
  * @param results
  *   the window functions
  */
final case class OverPlan(
    spec: OverSpec,
    keys: Seq[Attribute],
    groupExpressions: Seq[Expression],
    order: Seq[SortOrder],
    time: Option[Attribute],
    changeColumns: Seq[Attribute],
    results: Seq[Expression],
    content: Seq[Attribute],
    sourcePartition: Option[Attribute],
    positions: Seq[Attribute],
    ofHistory: Option[Attribute] = None)
    extends OperatorPlan {
  override def output: Seq[Attribute] = OverPlan.output(content, results, changeColumns)

  override def shownKeys: Seq[Expression] = Nil

  override def asking: Option[Attribute] = None

  override def expressionsOfState: Seq[Expression] =
    groupExpressions ++ order ++ results ++
      results.collect { case function: FramedFunction => function.zonedBounds }.flatten

  override def withIdle(millis: Long): OverPlan =
    copy(spec = spec.copy(idleMillis = Some(millis)))

  /** The window functions and their identities, each once, sorted by their identities. The driver
    * computes them, because the state of groups has their order.
    */
  lazy val functions: Seq[(String, FramedFunction)] = results
    .collect { case one: FramedFunction => identityOf(one) -> one }
    .distinctBy(_._1)
    .sortBy(_._1)

  /** The sort keys of rows, the time first. */
  def sortKeys: Seq[SortOrder] = time.map(SortOrder(_, Ascending)).toSeq ++ order
}

object OverPlan {

  /** The columns of an output row. Rows that wait for the rows that follow are older than the
    * watermark when they are emitted.
    */
  def output(
      content: Seq[Attribute],
      results: Seq[Expression],
      ofResults: Seq[Attribute]): Seq[Attribute] =
    (if (needsFollowing(results)) content.map(GroupedOperator.withoutWatermark)
     else content) ++ ofResults

  /** Returns true if a result depends on rows that follow. */
  def needsFollowing(results: Seq[Expression]): Boolean = results.exists {
    case function: FramedFunction => function.needsFollowing
    case _ => false
  }
}
