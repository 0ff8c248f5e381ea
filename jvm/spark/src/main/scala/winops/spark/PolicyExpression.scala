package winops.spark

import org.apache.spark.sql.catalyst.expressions.{Expression, LeafExpression, SortOrder, UnaryExpression, Unevaluable}
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateFunction
import org.apache.spark.sql.types.{DataType, LongType}

import winops.policy.RowExpression
import winops.window.WindowView

/** What the machine asks of a row by an expression; [[winops.window.Evaluator]] has a method for
  * each.
  */
sealed trait Role

object Role {
  case object Key extends Role
  case object SortKey extends Role
  case object Timestamp extends Role
  case object Number extends Role
  case object Condition extends Role
}

/** An expression of a policy with its meaning over the columns of a row. Plans carry it as they
  * carry any expression, so that it follows when they rename columns; only a [[RowEvaluator]]
  * evaluates it.
  *
  * @param source
  *   the expression as the policy has it
  * @param child
  *   its meaning
  */
final case class PolicyExpression(role: Role, source: RowExpression, child: Expression)
    extends UnaryExpression
    with Unevaluable {
  override def dataType: DataType = child.dataType

  override protected def withNewChildInternal(newChild: Expression): PolicyExpression =
    copy(child = newChild)
}

/** A row that a condition may look at beside the one it examines. */
sealed abstract class OtherRow(val name: String) extends Serializable

object OtherRow {
  case object Newest extends OtherRow("newest_event")
  case object Oldest extends OtherRow("oldest_event")

  val all: Seq[OtherRow] = Seq(Newest, Oldest)
}

/** In a condition: the value of `child` over another row of the window. */
final case class OfRow(row: OtherRow, child: Expression)
    extends UnaryExpression
    with Unevaluable {
  override def dataType: DataType = child.dataType

  override protected def withNewChildInternal(newChild: Expression): OfRow =
    copy(child = newChild)
}

/** A number that a condition may ask of the window. */
sealed abstract class Fact(val name: String) extends Serializable {
  def of(view: WindowView): Long
}

object Fact {
  case object CurrentCount extends Fact("current_count") {
    override def of(view: WindowView): Long = view.count
  }

  case object ExpiredCount extends Fact("expired_count") {
    override def of(view: WindowView): Long = view.expired
  }

  case object NewestTimestamp extends Fact("newest_timestamp") {
    override def of(view: WindowView): Long = view.newestArrival
  }

  case object OldestTimestamp extends Fact("oldest_timestamp") {
    override def of(view: WindowView): Long = view.oldestArrival
  }

  val all: Seq[Fact] = Seq(CurrentCount, ExpiredCount, NewestTimestamp, OldestTimestamp)
}

/** In a condition: a number of the window. */
final case class WindowFact(fact: Fact) extends LeafExpression with Unevaluable {
  override def nullable: Boolean = false
  override def dataType: DataType = LongType
}

/** In a condition or a result: an aggregate over the rows in the window. It is no
  * `AggregateExpression`, because Spark has those in its own operators only.
  *
  * @param filter
  *   which rows it is over; all where there is none
  */
final case class WindowAggregate(
    function: AggregateFunction,
    isDistinct: Boolean,
    filter: Option[Expression])
    extends Expression
    with Unevaluable {

  /** The values that DISTINCT compares. An order behind them, as in WITHIN GROUP, is by the same
    * values, and cannot be evaluated.
    */
  def distinctValues: Seq[Expression] = function.children.filterNot(_.isInstanceOf[SortOrder])

  override def children: Seq[Expression] = function +: filter.toSeq
  override def sql: String =
    function.sql(isDistinct) + filter.fold("")(condition => s" FILTER (WHERE ${condition.sql})")
  override def nullable: Boolean = function.nullable
  override def dataType: DataType = function.dataType

  override protected def withNewChildrenInternal(
      newChildren: IndexedSeq[Expression]): WindowAggregate =
    copy(
      function = newChildren.head.asInstanceOf[AggregateFunction],
      filter = newChildren.tail.headOption)
}
