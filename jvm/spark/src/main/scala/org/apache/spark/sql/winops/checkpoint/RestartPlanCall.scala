package org.apache.spark.sql.winops.checkpoint

import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference}
import org.apache.spark.sql.catalyst.plans.logical.{LeafNode, LogicalPlan, UnaryNode}
import org.apache.spark.sql.types.{LongType, StringType}

import winops.spark.plan.{GroupedOperator, RestartOptions}
import winops.spark.state.StateIdentity

/** A call that compares a query with a checkpoint, before the query is resolved.
  *
  * @param folder
  *   the folder of the checkpoint
  * @param operator
  *   the number of the operator in the checkpoint; all if it is not given
  * @param child
  *   the query, which is not run
  */
final case class RestartPlanCall(
    folder: String,
    operator: Option[Long],
    output: Seq[Attribute],
    child: LogicalPlan)
    extends UnaryNode {
  // The query may be a stream, and its plan of a restart is a table.
  override def isStreaming: Boolean = false

  override protected def withNewChildInternal(newChild: LogicalPlan): RestartPlanCall =
    copy(child = newChild)
}

object RestartPlanCall {
  def apply(folder: String, operator: Option[Long], query: LogicalPlan): RestartPlanCall =
    RestartPlanCall(folder, operator, columns, query)

  private def columns: Seq[Attribute] = {
    def text(name: String) = AttributeReference(name, StringType)()
    def number(name: String) = AttributeReference(name, LongType)()
    Seq(number("operator"), text("subject"), text("before"), text("now"), text("outcome")) ++
      Seq(text("because"), text("remedy"), number("groups"), number("rows"), number("bytes")) :+
      text("plan")
  }
}

/** The plan of a restart. It is computed when the relation is executed.
  *
  * @param operators
  *   the operators of the query, in the order of their numbers
  */
final case class RestartPlanRelation(
    folder: String,
    operator: Option[Long],
    operators: Seq[RestartedOperator],
    output: Seq[Attribute])
    extends LeafNode {
  override def simpleString(maxFields: Int): String = s"RestartPlan of $folder"
}

/** An operator of the query that restarts.
  *
  * @param identity
  *   the identity of the operator
  * @param options
  *   its arguments for a restart
  * @param idleMillis
  *   the idle time in milliseconds after which it removes a group
  */
final case class RestartedOperator(
    identity: String,
    options: RestartOptions,
    idleMillis: Option[Long])

object RestartedOperator {

  /** The operators in a query, in the order of their numbers. */
  def in(query: LogicalPlan): Seq[GroupedOperator] = query.collect {
    case operator: GroupedOperator if operator.isStreaming => operator
  }

  /** The operators in an optimized query, in the order of their numbers. */
  def of(query: LogicalPlan): Seq[RestartedOperator] = in(query).map { operator =>
    val plan = operator.plan(operator.keys.map(_.toAttribute), Nil)
    RestartedOperator(
      StateIdentity.of(plan),
      plan.spec.restart
        .copy(hasHistory = operator.history.isDefined, isAbove = in(operator.child).nonEmpty),
      plan.spec.idleMillis)
  }
}
