package org.apache.spark.sql.winops.checkpoint

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation

import winops.spark.checkpoint.StoredKeep

/** Creates the relation of the rows in the checkpointed state of a `keep` operator. */
object StateRelation {

  /** Reads the rows that the operator held after a micro-batch.
    *
    * @param folder
    *   the folder of the checkpoint
    * @param batch
    *   the number of the micro-batch; by default the last committed one
    * @param operator
    *   the number of the `keep` among the query's stateful operators; required if there are
    *   several
    */
  def apply(folder: String, batch: Option[Long], operator: Option[Long]): LogicalPlan = {
    val checkpoint = new Checkpoint(SparkSession.active, folder)
    val number = checkpoint.batch(batch)
    val keep = checkpoint.keep(number, operator)
    val stores = checkpoint.stores(keep, number)
    val table = new StateTable(
      checkpoint.root.toString,
      number,
      StoredKeep(keep.operatorPropertiesJson, stores.entryKeys),
      stores,
      checkpoint.stateIds(keep.operatorInfo.operatorId, number),
      keep.stateStoreInfo.head.numPartitions)
    DataSourceV2Relation.create(table, None, None)
  }
}
