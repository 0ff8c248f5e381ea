package org.apache.spark.sql.winops.checkpoint

import scala.reflect.ClassTag

import org.apache.hadoop.fs.Path

import org.apache.spark.Partitioner
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.catalyst.plans.physical.HashPartitioning
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.streaming.state._
import org.apache.spark.sql.winops.state.KeepStores

import winops.spark.checkpoint.{GroupCondition, MovedGroups, StoredGroups, StoredKeep}
import winops.spark.state.{EntryShape, GroupPiece, PartitionSummary, StateErrors, StateGroupStore}

/** Moves the state of one `keep` operator after a micro-batch into a new checkpoint: into another
  * number of partitions, or without some groups.
  */
private[winops] final class StateMove(
    session: SparkSession,
    checkpoint: Checkpoint,
    keep: OperatorStateMetadataV2,
    stored: StoredKeep,
    stores: KeepStores,
    batch: Long,
    change: StateChange) {
  import StateMove._

  private val operator = keep.operatorInfo.operatorId
  private val before = keep.stateStoreInfo.head.numPartitions
  private val ids = checkpoint.stateIds(operator, batch)
  private val forgotten = change.forgotten(keep, stored)

  private val parts: Seq[OldPartition] = {
    val (stores, stored, batch, ids) = (this.stores, this.stored, this.batch, this.ids)
    val forgotten = this.forgotten
    session.sparkContext
      .parallelize(0 until before, before)
      .mapPartitions(_.flatMap { partition =>
        stores.read(partition, batch, ids.map(_(partition))) { store =>
          StateErrors.translated {
            val groups = StoredGroups.in(stored, store)
            // Also finds a failure of the condition before anything is written.
            val leaving = forgotten.fold(0L)(groups.count)
            groups.summary
              .map(OldPartition(groups.isCrossGroup, groups.buckets, leaving, _))
              .iterator
          }
        }
      })
      .collect()
      .toSeq
  }

  if (parts.map(part => (part.summary.passed, part.summary.idle)).distinct.size > 1) {
    throw StateErrors.failure("its partitions are not those of one batch")
  }

  // An ungrouped operator and cross-group state have a single partition.
  private val isOneTask = stored.isUngrouped || parts.exists(_.isCrossGroup)
  private val after = if (isOneTask) 1 else change.partitions(keep)

  if (isOneTask && forgotten.isDefined) {
    throw GroupCondition.withoutGroups(
      stored,
      operator,
      "its groups depend on each other, so that the others would be different without the group")
  }

  /** Writes the new state.
    *
    * @param folder
    *   the state folder of the new checkpoint
    * @return
    *   the result, and the unique ids of the new state if the checkpoint has ids
    */
  def run(folder: Path): (MovedKeep, Option[Array[String]]) = {
    val settings = checkpoint.settings(batch)
    // With changelogs the first version would not be a snapshot, which asVersion requires.
    settings.setConfString(Changelog, "false")
    val target = stores.copy(folder = folder.toString, settings = StateStoreConf(settings))
    val written = (if (isOneTask) moveEntries(target) else moveGroups(target)).sortBy(_.partition)
    (0 until after).foreach(number => asVersion(target, number))
    val (groups, rows) = (written.map(_.groups).sum, written.map(_.rows).sum)
    val moved = MovedKeep(
      operator,
      after,
      groups,
      rows,
      forgottenGroups = parts.map(_.leaving).sum,
      forgottenRows = parts.map(_.summary.rows).sum - rows)
    (moved, Option.when(ids.isDefined)(written.flatMap(_.id)))
  }

  /** Moves all entries into one store. */
  private def moveEntries(target: KeepStores): Array[Written] = {
    val keys = stored.keys
    val columns = keys.size + 2
    val held = (parts.map(_.summary.groups).sum, parts.map(_.summary.rows).sum)
    move(target)(
      store => {
        val shape = new EntryShape(keys)
        store.iterator(StateStore.DEFAULT_COL_FAMILY_NAME).map { entry =>
          val _ = shape.checked(entry)
          ((0, 0L), (entry.key.getBytes, entry.value.getBytes))
        }
      },
      (store: StateStore, entries: Iterator[(Array[Byte], Array[Byte])]) => {
        entries.foreach { case (key, value) =>
          store.put(row(key, columns), row(value, 1), StateStore.DEFAULT_COL_FAMILY_NAME)
        }
        held
      })
  }

  /** Moves each group that is not forgotten into the partition to which the query's shuffle sends
    * its rows.
    */
  private def moveGroups(target: KeepStores): Array[Written] = {
    val (stored, keys, forgotten) = (this.stored, this.stored.keys, this.forgotten)
    // Equals the partitioning of the query's shuffle.
    val place = HashPartitioning(keys, after).partitionIdExpression
    val before = parts.headOption.map(_.summary)
    val buckets = parts.map(_.buckets).sum / after + 1
    move(target)(
      store => {
        val placeOfGroup = UnsafeProjection.create(Seq(place), keys)
        val groups = StateGroupStore.readOnly(store, keys)
        for {
          piece <- groups.pieces
          group = piece.group(keys.size)
          if !forgotten.exists(_.accepts(group))
        } yield ((placeOfGroup(group).getInt(0), groups.rankOf(group)), piece)
      },
      (store: StateStore, pieces: Iterator[GroupPiece]) =>
        before.fold((0L, 0L))(MovedGroups.enter(stored, store, pieces, buckets, _)))
  }

  /** Moves entries or groups through a shuffle.
    *
    * @param read
    *   returns the entries, each with its target partition and its rank within the partition
    * @param write
    *   writes the entries of a partition and returns the number of groups and rows
    */
  private def move[A: ClassTag](target: KeepStores)(
      read: ReadStateStore => Iterator[((Int, Long), A)],
      write: (StateStore, Iterator[A]) => (Long, Long)): Array[Written] = {
    val (stores, batch, ids) = (this.stores, this.batch, this.ids)
    session.sparkContext
      .parallelize(0 until before, before)
      .mapPartitions(_.flatMap { partition =>
        stores.read(partition, batch, ids.map(_(partition))) { store =>
          reading(StateErrors.translated(read(store)))
        }
      })
      .repartitionAndSortWithinPartitions(new ByTarget(after))
      .mapPartitionsWithIndex { (partition, moved) =>
        var held = (0L, 0L)
        val id = target.write(partition) { store =>
          held = StateErrors.translated(write(store, moved.map(_._2)))
        }
        Iterator(Written(partition, id, held._1, held._2))
      }
      .collect()
  }

  /** Renames the first version of a store, which is a snapshot, to the version after `batch`. */
  private def asVersion(target: KeepStores, partition: Int): Unit = {
    val folder = StateStoreId(target.folder, operator, partition).storeCheckpointLocation()
    val files = folder.getFileSystem(target.hadoop.value.value)
    files.listStatus(folder).map(_.getPath).foreach { file =>
      file.getName match {
        case FirstVersion(rest) =>
          val name = s"${batch + 1}${rest.replace(".delta", ".snapshot")}"
          if (name != file.getName && !files.rename(file, new Path(folder, name))) {
            throw new java.io.IOException(s"$file cannot be renamed to $name")
          }
        case _ =>
      }
    }
  }
}

private object StateMove {
  private val Changelog =
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled"

  /** An existing partition.
    *
    * @param leaving
    *   the number of groups that are forgotten
    */
  private final case class OldPartition(
      isCrossGroup: Boolean,
      buckets: Long,
      leaving: Long,
      summary: PartitionSummary)

  /** Partitions entries by their target partition. */
  private final class ByTarget(override val numPartitions: Int) extends Partitioner {
    override def getPartition(key: Any): Int = key.asInstanceOf[(Int, Long)]._1
  }

  /** The result of writing a new partition. */
  private final case class Written(partition: Int, id: Option[String], groups: Long, rows: Long)

  private def reading[A](read: Iterator[A]): Iterator[A] = new Iterator[A] {
    override def hasNext: Boolean = StateErrors.translated(read.hasNext)
    override def next(): A = StateErrors.translated(read.next())
  }

  private val FirstVersion = "1([._].*)".r

  private def row(bytes: Array[Byte], columns: Int): UnsafeRow = {
    val row = new UnsafeRow(columns)
    row.pointTo(bytes, bytes.length)
    row
  }
}
