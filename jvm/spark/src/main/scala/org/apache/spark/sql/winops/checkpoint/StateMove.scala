package org.apache.spark.sql.winops.checkpoint

import scala.reflect.ClassTag

import org.apache.hadoop.fs.Path

import org.apache.spark.Partitioner
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.catalyst.plans.physical.HashPartitioning
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.streaming.state._
import org.apache.spark.sql.winops.state.KeepStores

import winops.spark.checkpoint.{MovedGroups, StoredGroups, StoredKeep}
import winops.spark.state.{EntryShape, GroupPiece, PartitionState, StateFormat, StateGroupStore}

/** Moves the state of one `keep` as it was after a batch into stores of another number. */
private[winops] final class StateMove(
    session: SparkSession,
    checkpoint: Checkpoint,
    keep: OperatorStateMetadataV2,
    stored: StoredKeep,
    stores: KeepStores,
    batch: Long,
    partitions: Int) {
  import StateMove._

  private val operator = keep.operatorInfo.operatorId
  private val before = keep.stateStoreInfo.head.numPartitions
  private val ids = checkpoint.stateIds(operator, batch)

  private val parts: Seq[Part] = {
    val (stores, stored, batch, ids) = (this.stores, this.stored, this.batch, this.ids)
    session.sparkContext
      .parallelize(0 until before, before)
      .mapPartitions(_.flatMap { partition =>
        stores.read(partition, batch, ids.map(_(partition))) { store =>
          StateFormat.reading {
            val groups = StoredGroups.in(stored, store)
            groups.summary.map(Part(groups.isCrossGroup, groups.buckets, _)).iterator
          }
        }
      })
      .collect()
      .toSeq
  }

  if (parts.map(part => (part.summary.passed, part.summary.idle)).distinct.size > 1) {
    throw StateFormat.failure("its partitions are not those of one batch")
  }

  // What has no groups, or groups that depend on each other, stays together.
  private val isOneTask = stored.isUngrouped || parts.exists(_.isCrossGroup)
  private val after = if (isOneTask) 1 else partitions

  /** @param folder
    *   where all state of the new checkpoint is
    * @return
    *   what was moved, and the ids that the new states got if the checkpoint has ids
    */
  def run(folder: Path): (MovedKeep, Option[Array[String]]) = {
    val settings = checkpoint.settings(batch)
    // With it the first version would be no snapshot, on which a later version can stand alone.
    settings.setConfString(Changelog, "false")
    val target = stores.copy(folder = folder.toString, settings = StateStoreConf(settings))
    val written = (if (isOneTask) moveEntries(target) else moveGroups(target)).sortBy(_.partition)
    (0 until after).foreach(number => asVersion(target, number))
    val moved = MovedKeep(operator, after, written.map(_.groups).sum, written.map(_.rows).sum)
    (moved, Option.when(ids.isDefined)(written.flatMap(_.id)))
  }

  /** All entries to one store. */
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

  /** Groups to where the shuffle before the operator brings their rows. */
  private def moveGroups(target: KeepStores): Array[Written] = {
    val (stored, keys) = (this.stored, this.stored.keys)
    // As the shuffle before the operator has it.
    val place = HashPartitioning(keys, after).partitionIdExpression
    val before = parts.headOption.map(_.summary)
    val buckets = parts.map(_.buckets).sum / after + 1
    move(target)(
      store => {
        val placeOfGroup = UnsafeProjection.create(Seq(place), keys)
        val groups = StateGroupStore.readOnly(store, keys)
        groups.pieces.map { piece =>
          val group = piece.group(keys.size)
          ((placeOfGroup(group).getInt(0), groups.rankOf(group)), piece)
        }
      },
      (store: StateStore, pieces: Iterator[GroupPiece]) =>
        before.fold((0L, 0L))(MovedGroups.enter(stored, store, pieces, buckets, _)))
  }

  /** @param read
    *   what goes to which partition, and in what order it is written there
    * @param write
    *   how many groups and rows it was that were written
    */
  private def move[A: ClassTag](target: KeepStores)(
      read: ReadStateStore => Iterator[((Int, Long), A)],
      write: (StateStore, Iterator[A]) => (Long, Long)): Array[Written] = {
    val (stores, batch, ids) = (this.stores, this.batch, this.ids)
    session.sparkContext
      .parallelize(0 until before, before)
      .mapPartitions(_.flatMap { partition =>
        stores.read(partition, batch, ids.map(_(partition))) { store =>
          reading(StateFormat.reading(read(store)))
        }
      })
      .repartitionAndSortWithinPartitions(new ByPlace(after))
      .mapPartitionsWithIndex { (partition, moved) =>
        var held = (0L, 0L)
        val id = target.write(partition) { store =>
          held = StateFormat.reading(write(store, moved.map(_._2)))
        }
        Iterator(Written(partition, id, held._1, held._2))
      }
      .collect()
  }

  /** A store's first version is a snapshot: under another name it is that version. */
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

  /** What a partition is before. */
  private final case class Part(
      isCrossGroup: Boolean,
      buckets: Long,
      summary: PartitionState.Summary)

  /** Brings what has a place and a rank to its place. */
  private final class ByPlace(override val numPartitions: Int) extends Partitioner {
    override def getPartition(key: Any): Int = key.asInstanceOf[(Int, Long)]._1
  }

  /** What became one partition. */
  private final case class Written(partition: Int, id: Option[String], groups: Long, rows: Long)

  private def reading[A](read: Iterator[A]): Iterator[A] = new Iterator[A] {
    override def hasNext: Boolean = StateFormat.reading(read.hasNext)
    override def next(): A = StateFormat.reading(read.next())
  }

  private val FirstVersion = "1([._].*)".r

  private def row(bytes: Array[Byte], columns: Int): UnsafeRow = {
    val row = new UnsafeRow(columns)
    row.pointTo(bytes, bytes.length)
    row
  }
}
