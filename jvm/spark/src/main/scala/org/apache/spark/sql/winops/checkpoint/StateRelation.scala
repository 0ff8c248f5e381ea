package org.apache.spark.sql.winops.checkpoint

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.AttributeReference
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.LogicalRDD

import winops.spark.checkpoint.{StateRelationReader, StoredGroups, StoredKeep}

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
    val session = SparkSession.active
    val checkpoint = new Checkpoint(session, folder)
    val number = checkpoint.batch(batch)
    val keep = checkpoint.keep(number, operator)
    val stores = checkpoint.stores(keep, number)
    val stored = StoredKeep(keep.operatorPropertiesJson, stores.entryKeys)
    val ids = checkpoint.stateIds(keep.operatorInfo.operatorId, number)
    val partitions = keep.stateStoreInfo.head.numPartitions
    val rows = session.sparkContext
      .parallelize(0 until partitions, partitions)
      .mapPartitions { given =>
        given.flatMap { partition =>
          stores.read[InternalRow](partition, number, ids.map(_(partition))) { store =>
            new StateRelationReader(stored, partition, StoredGroups.in(stored, store))
          }
        }
      }
    val columns = StateRelationReader.schema(stored).map { field =>
      AttributeReference(field.name, field.dataType, field.nullable)()
    }
    LogicalRDD(columns, rows)(session)
  }
}
