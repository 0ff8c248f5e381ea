package winops.spark

import org.apache.spark.sql.catalyst.plans.logical._

/** Which nodes of a plan bring the rows of several tasks together, in an order that a retry need
  * not repeat.
  */
object Exchanges {

  /** Such a node of the plan, if it has one.
    *
    * @param definitions
    *   the plans of the WITH clause, by id
    */
  def find(plan: LogicalPlan, definitions: Map[Long, LogicalPlan]): Option[LogicalPlan] =
    plan match {
      case reference: CTERelationRef =>
        definitions
          .get(reference.cteId)
          .fold(Option[LogicalPlan](reference))(find(_, definitions))
      case node if keepsPlaces(node) =>
        node.children.flatMap(find(_, definitions)).headOption
      case node => Some(node)
    }

  /** Nodes known to leave each row in its task and its place; all others may not. */
  private def keepsPlaces(plan: LogicalPlan): Boolean = plan match {
    case _: LeafNode | _: Project | _: Filter | _: SubqueryAlias | _: EventTimeWatermark |
        _: Generate | _: Union | _: Sample | _: View | _: ResolvedHint | _: LocalLimit |
        _: SerializeFromObject | _: DeserializeToObject | _: MapElements | _: MapPartitions |
        _: TypedFilter | _: BaseEvalPython | _: MapInPandas | _: MapInArrow | _: WithCTE |
        _: CTERelationDef | _: Expand | _: DataFrameDropColumns | _: CollectMetrics =>
      true
    // Which tasks are put together depends on where their data is, unless it is all of them.
    case repartition: Repartition => !repartition.shuffle && repartition.numPartitions == 1
    case sort: Sort => !sort.global
    case _ => false
  }
}
