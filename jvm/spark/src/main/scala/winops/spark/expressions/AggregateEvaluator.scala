package winops.spark.expressions

import java.util.HashSet

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.{DeclarativeAggregate, ImperativeAggregate}

import winops.spark.row.KeyTypes

/** Evaluates one aggregate over rows that are added one by one in the order of the window.
  *
  * @param aggregate
  *   the aggregate
  * @param content
  *   the columns of the rows
  */
private[spark] final class AggregateEvaluator(
    aggregate: WindowAggregate,
    content: Seq[Attribute]) {
  import AggregateEvaluator._

  private val filter = aggregate.filter.map(Predicate.create(_, content))
  private val distinct =
    if (aggregate.isDistinct) Some(new Distinct(aggregate.distinctValues, content)) else None
  private val state = aggregate.function match {
    case function: DeclarativeAggregate => new Declarative(function, content)
    case function: ImperativeAggregate => new Imperative(function, content)
    case other => throw new IllegalArgumentException(s"${other.prettyName} keeps no buffer")
  }

  /** Removes all rows. */
  def clear(): Unit = {
    distinct.foreach(_.clear())
    state.clear()
  }

  /** Adds a row. The caller may change the row after the call. */
  def add(row: InternalRow): Unit =
    if (filter.forall(_.eval(row)) && distinct.forall(_.isNew(row))) state.add(row)

  /** The aggregate of the added rows. */
  def result: Any = state.result
}

private[spark] object AggregateEvaluator {

  /** Returns true for each row with values that no earlier row had. */
  private final class Distinct(arguments: Seq[Expression], content: Seq[Attribute]) {
    private val values = UnsafeProjection.create(arguments.map(KeyTypes.normalized), content)
    private val seen = new HashSet[UnsafeRow]

    def clear(): Unit = seen.clear()

    def isNew(row: InternalRow): Boolean = {
      val value = values(row)
      val isNew = !seen.contains(value)
      if (isNew) seen.add(value.copy())
      isNew
    }
  }

  private sealed trait State {
    def clear(): Unit
    def add(row: InternalRow): Unit
    def result: Any
  }

  private final class Declarative(function: DeclarativeAggregate, content: Seq[Attribute])
      extends State {
    private val columns = function.aggBufferAttributes
    private val buffer = new SpecificInternalRow(columns.map(_.dataType))
    private val both = new JoinedRow().withLeft(buffer)
    private val start = BufferProjection.create(function.initialValues, Nil).target(buffer)
    private val update =
      BufferProjection.create(function.updateExpressions, columns ++ content).target(buffer)
    private val evaluate = BindReferences.bindReference(function.evaluateExpression, columns)

    override def clear(): Unit = start(InternalRow.empty)
    override def add(row: InternalRow): Unit = update(both.withRight(row))
    override def result: Any = evaluate.eval(buffer)
  }

  private final class Imperative(function: ImperativeAggregate, content: Seq[Attribute])
      extends State {
    private val bound = BindReferences
      .bindReference[Expression](
        function.withNewMutableAggBufferOffset(0).withNewInputAggBufferOffset(0),
        content)
      .asInstanceOf[ImperativeAggregate]
    private val buffer = new SpecificInternalRow(bound.aggBufferAttributes.map(_.dataType))

    override def clear(): Unit = bound.initialize(buffer)
    override def add(row: InternalRow): Unit = bound.update(buffer, row)
    override def result: Any = bound.eval(buffer)
  }
}
