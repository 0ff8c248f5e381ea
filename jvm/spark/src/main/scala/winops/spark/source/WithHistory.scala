package winops.spark.source

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.winops.source.{HistoryRecord, HistorySource}

/** The rows of a stream, after those of a table in the first micro-batch.
  *
  * @param history
  *   the table, whose columns are those of the stream by their places
  * @param emits
  *   true if rows of the table have output
  * @param until
  *   the time before which rows of the table are read, until the column of the time is known
  * @param cut
  *   the condition of that time, over the columns of the table, until the table is read
  * @param record
  *   the record of what is read, in the checkpoint of the query whose micro-batch is planned
  * @param replaced
  *   the state of another query that the rows of the table replace
  */
final case class WithHistory(
    stream: LogicalPlan,
    history: LogicalPlan,
    emits: Boolean,
    until: Option[Literal] = None,
    cut: Option[Expression] = None,
    record: Option[HistoryRecord] = None,
    replaced: Option[ReplacedState] = None)
    extends BinaryNode {
  override def left: LogicalPlan = stream
  override def right: LogicalPlan = history
  override def output: Seq[Attribute] = stream.output

  // A column that is pruned from one of the inputs would be missing in the other.
  override lazy val references: AttributeSet =
    AttributeSet.fromAttributeSets(children.map(_.outputSet))

  override protected def withNewChildrenInternal(
      newLeft: LogicalPlan,
      newRight: LogicalPlan): WithHistory = copy(stream = newLeft, history = newRight)

  /** The expression over the columns of the table. */
  private def ofHistory(expression: Expression): Expression = {
    val columns = AttributeMap(stream.output.zip(history.output))
    expression.transform { case column: Attribute => columns.getOrElse(column, column) }
  }

  /** The node below a row-by-row operator as the node above it; None if `operator` is another
    * one, for which [[WithHistory.maySeparate]] is false.
    */
  private def above(operator: UnaryNode): Option[WithHistory] = {
    val ofTable = operator match {
      case _ if !WithHistory.maySeparate(operator) => None
      case Project(columns, _) =>
        val own = columns.map {
          case alias: Alias => Alias(ofHistory(alias.child), alias.name)()
          case column => Alias(ofHistory(column), column.name)()
        }
        Some(Project(own, history))
      case Filter(condition, _) => Some(Filter(ofHistory(condition), history))
      case generate: Generate =>
        Some(
          generate.copy(
            generator = ofHistory(generate.generator).asInstanceOf[Generator],
            generatorOutput = generate.generatorOutput.map(_.newInstance()),
            child = history))
      case _: EventTimeWatermark | _: SubqueryAlias | _: View | _: StoredColumns |
          _: ResolvedHint =>
        Some(history)
      case _ => None
    }
    ofTable.map(copy(operator.withNewChildren(Seq(stream)), _))
  }

  /** Reads the rows of the table before the time [[until]] only, unless it replaces a state. */
  def cutAt(time: Option[Attribute]): WithHistory = (until, time) match {
    case (Some(end), Some(column)) =>
      val own = ofHistory(column)
      // A row without a time is left to the operator.
      val instant =
        if (end.dataType == column.dataType) end
        else Cast(end, column.dataType, Some(SQLConf.get.sessionLocalTimeZone))
      val before = Or(IsNull(own), LessThan(own, instant))
      copy(until = None, cut = Some(before))
    case _ => this
  }

  /** The node as the first micro-batch of a checkpoint reads it. */
  def begun(record: HistoryRecord): WithHistory = read(cut, record)

  /** The node as it is read in the place of a state, which decides what is read instead of
    * [[cut]].
    */
  def replacing(state: ReplacedState, record: HistoryRecord): WithHistory = {
    val before = state.until.map { case (column, instant) =>
      val own = history.output(column)
      Or(IsNull(own), LessThan(own, Literal(instant, own.dataType)))
    }
    read(before, record).copy(replaced = Some(state))
  }

  private def read(condition: Option[Expression], record: HistoryRecord): WithHistory = {
    val rows = HistorySource.recorded(history, record)
    copy(history = condition.fold(rows)(Filter(_, rows)), cut = None, record = Some(record))
  }

  /** Gives the rows of the stream another plan, with further columns behind its own. */
  def withColumns(rows: LogicalPlan, ofHistory: Seq[Expression]): WithHistory = {
    val added = ofHistory.map(Alias(_, "_added")())
    copy(rows, Project(history.output ++ added, history))
  }
}

object WithHistory {

  /** Returns true for operators that may be between a table and the operator that reads it. */
  def maySeparate(operator: LogicalPlan): Boolean = operator match {
    case _: Project | _: Filter | _: Generate | _: EventTimeWatermark | _: SubqueryAlias |
        _: View | _: StoredColumns | _: ResolvedHint =>
      !hasCorrelatedSubquery(operator)
    case _ => false
  }

  /** Returns true for operators with a subquery over columns of their input. Within a subquery,
    * they would stay those of the stream.
    */
  def hasCorrelatedSubquery(operator: LogicalPlan): Boolean =
    operator.expressions.exists(SubqueryExpression.hasCorrelatedSubquery)

  /** Moves a node up through the row-by-row operators above it.
    *
    * @param definitions
    *   the plans of the WITH clause, by id
    * @param ofUnion
    *   true if the rows are a union, of which the node may be in the first input
    */
  def hoisted(
      plan: LogicalPlan,
      definitions: Map[Long, CTERelationDef],
      ofUnion: Boolean): LogicalPlan =
    plan match {
      case operator: UnaryNode =>
        hoisted(operator.child, definitions, ofUnion) match {
          case below: WithHistory => below.above(operator).getOrElse(operator)
          case _ => operator
        }
      case union: Union if ofUnion =>
        hoisted(union.children.head, definitions, ofUnion = false) match {
          case below: WithHistory =>
            below.copy(stream = union.copy(children = below.stream +: union.children.tail))
          case _ => union
        }
      case reference: CTERelationRef =>
        definitions.get(reference.cteId).map(_.child).filter(isIn) match {
          case Some(definition) =>
            val columns = definition.output.zip(reference.output).map { case (column, renamed) =>
              Alias(column, renamed.name)(renamed.exprId)
            }
            hoisted(Project(columns, definition), definitions, ofUnion = false)
          case None => reference
        }
      case other => other
    }

  private def isIn(plan: LogicalPlan): Boolean = plan.exists(_.isInstanceOf[WithHistory])
}
