package org.apache.spark.sql.winops.checkpoint

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference}
import org.apache.spark.sql.catalyst.plans.logical.LeafNode
import org.apache.spark.sql.execution.LeafExecNode
import org.apache.spark.sql.types.{BooleanType, LongType}
import org.apache.spark.sql.winops.state.KeepStores

import winops.spark.checkpoint.{StoredGroups, StoredKeep, WaitingRowsReader}
import winops.spark.source.SourcePartitions

/** The rows that wait for the watermark after a micro-batch.
  *
  * @param ids
  *   the unique ids of the state of each partition, in checkpoints of the format with such ids
  * @param content
  *   the columns of the rows, as they are stored
  */
final case class StoredWaitingRows(
    stored: StoredKeep,
    stores: KeepStores,
    batch: Long,
    ids: Option[Array[String]],
    partitions: Int,
    content: Seq[Attribute],
    sourcePartition: Option[Attribute],
    number: Attribute,
    ofHistory: Attribute)
    extends LeafNode {
  override def output: Seq[Attribute] = content ++ sourcePartition :+ number :+ ofHistory
  override def simpleString(maxFields: Int): String = s"StoredWaitingRows after batch $batch"
}

object StoredWaitingRows {
  def apply(
      stored: StoredKeep,
      stores: KeepStores,
      batch: Long,
      ids: Option[Array[String]],
      partitions: Int,
      content: Seq[Attribute]): StoredWaitingRows = StoredWaitingRows(
    stored,
    stores,
    batch,
    ids,
    partitions,
    content,
    Option.when(stored.hasSourcePartition)(SourcePartitions.column),
    AttributeReference("_number", LongType, nullable = false)(),
    AttributeReference("_of_history", BooleanType, nullable = false)())
}

/** Reads [[StoredWaitingRows]] from the state of each partition. */
final case class StoredWaitingRowsExec(rows: StoredWaitingRows) extends LeafExecNode {
  override def output: Seq[Attribute] = rows.output

  override protected def doExecute(): RDD[InternalRow] = {
    val (stored, stores, batch, ids) = (rows.stored, rows.stores, rows.batch, rows.ids)
    sparkContext.parallelize(0 until rows.partitions, rows.partitions).mapPartitions {
      _.flatMap { partition =>
        stores.read[InternalRow](partition, batch, ids.map(_(partition))) { store =>
          new WaitingRowsReader(StoredGroups.in(stored, store))
        }
      }
    }
  }
}
