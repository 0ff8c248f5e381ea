package winops.spark

import org.apache.spark.sql.catalyst.plans.logical._

/** Which nodes of a plan bring the rows of several tasks together, in an order that a retry need
  * not repeat.
  */
object Exchanges {

  /** Nodes known to leave each row in its task and its place; all others may not. */
  def makesOne(plan: LogicalPlan): Boolean = plan match {
    case _: LeafNode | _: Project | _: Filter | _: SubqueryAlias | _: EventTimeWatermark |
        _: Generate | _: Union | _: Sample | _: View | _: ResolvedHint | _: LocalLimit |
        _: SerializeFromObject | _: DeserializeToObject | _: MapElements | _: MapPartitions |
        _: TypedFilter | _: BaseEvalPython | _: MapInPandas | _: MapInArrow | _: WithCTE |
        _: CTERelationDef | _: Expand | _: DataFrameDropColumns | _: CollectMetrics =>
      false
    case repartition: Repartition => repartition.shuffle
    case sort: Sort => sort.global
    case _ => true
  }
}
