package winops.spark.plan

import scala.annotation.tailrec

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical._

import winops.spark.source.{SourceOrder, SourcePartitions}

/** The rows of an operator, in the order of their source if it has one.
  *
  * @param followsSource
  *   true if rows with equal sort keys have the order of their source
  * @param sourcePartition
  *   the column that [[SourcePartitions]] has added
  */
private[spark] final case class InSourceOrder(
    child: LogicalPlan,
    followsSource: Boolean,
    sourcePartition: Option[Attribute] = None)

private[spark] object InSourceOrder {

  /** Gives rows the order of their source.
    *
    * @param rows
    *   the input of the operator
    * @param definitions
    *   the plans of the WITH clause, by id
    */
  def of(
      rows: LogicalPlan,
      spec: OperatorSpec,
      definitions: Map[Long, CTERelationDef]): InSourceOrder =
    SourceOrder.of(rows, definitions) match {
      case Left(operator) if spec.needsSourceOrder =>
        throw SourceOrder.required(operator.nodeName)
      case Right(_) if spec.rowsWait && rows.isStreaming =>
        SourcePartitions.of(rows, definitions) match {
          case Left(_) => InSourceOrder(rows, followsSource = false)
          case Right(None) => InSourceOrder(rows, followsSource = true)
          case Right(Some((partitioned, partition))) =>
            InSourceOrder(partitioned, followsSource = true, Some(partition))
        }
      case found => InSourceOrder(rows, found.isRight)
    }

  /** Removes the definitions of streams that nothing refers to. Where a call has replaced the
    * references by their plan, Spark would read the sources of the definition a second time.
    */
  @tailrec
  def withoutUnused(plan: LogicalPlan): LogicalPlan = {
    val references =
      plan.collectWithSubqueries { case reference: CTERelationRef => reference.cteId }.toSet
    def isUnused(definition: CTERelationDef): Boolean =
      definition.isStreaming && !references.contains(definition.id)
    if (plan.exists { case one: CTERelationDef => isUnused(one); case _ => false }) {
      val rest = plan.resolveOperatorsUp { case withClause: WithCTE =>
        withClause.copy(cteDefs = withClause.cteDefs.filterNot(isUnused))
      }
      withoutUnused(rest)
    } else plan
  }
}
