package org.apache.spark.sql.winops.checkpoint

import java.util

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Expression, UnsafeProjection}
import org.apache.spark.sql.catalyst.plans.physical.HashPartitioning
import org.apache.spark.sql.connector.catalog.{CatalogV2Util, Column, SupportsRead, Table, TableCapability}
import org.apache.spark.sql.connector.expressions.filter.Predicate
import org.apache.spark.sql.connector.read._
import org.apache.spark.sql.execution.datasources.v2.PartitionReaderFromIterator
import org.apache.spark.sql.internal.connector.SupportsPushDownCatalystFilters
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.util.CaseInsensitiveStringMap
import org.apache.spark.sql.winops.state.KeepStores

import winops.spark.checkpoint.{GroupFilter, StateRelationReader, StoredGroups, StoredKeep}

/** The rows that a `keep` held after a micro-batch, as a table that Spark reads with the filters
  * on the group key pushed down.
  *
  * @param folder
  *   the folder of the checkpoint
  * @param batch
  *   the number of the micro-batch
  * @param ids
  *   the unique ids of the state of each partition, in checkpoints of the format with such ids
  */
private[checkpoint] final class StateTable(
    folder: String,
    batch: Long,
    stored: StoredKeep,
    stores: KeepStores,
    ids: Option[Array[String]],
    partitions: Int)
    extends Table
    with SupportsRead {
  private val shape = StateRelationReader.schema(stored)

  override def name: String = s"winops_state('$folder', batch => $batch)"
  override def columns: Array[Column] = CatalogV2Util.structTypeToV2Columns(shape)

  override def capabilities: util.Set[TableCapability] =
    util.EnumSet.of(TableCapability.BATCH_READ)

  override def newScanBuilder(options: CaseInsensitiveStringMap): ScanBuilder = new Builder

  private final class Builder extends SupportsPushDownCatalystFilters {
    private var pushed = Seq.empty[Expression]
    private var filter = GroupFilter.All

    /** Returns all filters, which Spark evaluates again for each row. */
    override def pushFilters(filters: Seq[Expression]): Seq[Expression] = {
      val columns = filters.flatMap(_.references).filter { column =>
        column.name == shape(StateRelationReader.GroupColumn).name
      }
      columns.headOption.foreach { column =>
        pushed = filters.filter(GroupFilter.canEvaluate(_, column))
        filter = GroupFilter(pushed, column, stored.keys)
      }
      filters
    }

    override def pushedFilters: Array[Predicate] = Array.empty

    override def build(): Scan = new StateScan(filter, pushed.map(_.sql))
  }

  private final class StateScan(filter: GroupFilter, pushed: Seq[String])
      extends Scan
      with Batch {
    override def readSchema(): StructType = shape
    override def description(): String = s"GroupFilters: ${pushed.mkString("[", ", ", "]")}"
    override def toBatch: Batch = this

    override def planInputPartitions(): Array[InputPartition] = {
      val read = filter.keys.fold(0 until partitions: Seq[Int])(_.map(partitionOf).distinct)
      read.map(number => StatePartition(number): InputPartition).toArray
    }

    override def createReaderFactory(): PartitionReaderFactory =
      new StateReaderFactory(stored, stores, batch, ids, filter)
  }

  /** The partition of a group, for which Spark's shuffle computes the same. */
  private lazy val partitionOf: InternalRow => Int = {
    val number = HashPartitioning(stored.keys, partitions).partitionIdExpression
    val project = UnsafeProjection.create(Seq(number), stored.keys)
    key => project(key).getInt(0)
  }
}

private final case class StatePartition(number: Int) extends InputPartition

private final class StateReaderFactory(
    stored: StoredKeep,
    stores: KeepStores,
    batch: Long,
    ids: Option[Array[String]],
    filter: GroupFilter)
    extends PartitionReaderFactory {
  override def createReader(partition: InputPartition): PartitionReader[InternalRow] = {
    val number = partition.asInstanceOf[StatePartition].number
    val rows = stores.read[InternalRow](number, batch, ids.map(_(number))) { store =>
      new StateRelationReader(stored, number, StoredGroups.in(stored, store), filter)
    }
    // The store is closed with its last row, or at the end of the task.
    new PartitionReaderFromIterator(rows)
  }
}
