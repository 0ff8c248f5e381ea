package winops.spark.plan

import scala.annotation.tailrec

import org.apache.spark.sql.catalyst.plans.logical._

import winops.spark.source.{SourceOrder, SourcePartitions}

/** Puts a resolved [[Keep]] into the order of its source. */
private[spark] object InSourceOrder {

  /** Gives the rows of a `keep` the order of their source, if the source has one.
    *
    * @param definitions
    *   the plans of the WITH clause, by id
    */
  def apply(keep: Keep, definitions: Map[Long, CTERelationDef]): Keep =
    SourceOrder.of(keep.child, definitions) match {
      case Left(operator) if keep.needsSourceOrder =>
        throw SourceOrder.required(operator.nodeName)
      case Right(_) if keep.spec.rowsWait && keep.isStreaming =>
        SourcePartitions.of(keep.child, definitions) match {
          case Left(_) => keep.copy(followsSource = false)
          case Right(found) =>
            found.fold(keep) { case (partitioned, partition) =>
              keep.copy(sourcePartition = Some(partition), child = partitioned)
            }
        }
      case found => keep.copy(followsSource = found.isRight)
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
