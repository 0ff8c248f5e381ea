package org.apache.spark.sql.winops

import org.apache.hadoop.fs.Path

import org.apache.spark.HashPartitioner
import org.apache.spark.sql.catalyst.expressions.{BoundReference, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.catalyst.plans.physical.HashPartitioning
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.streaming.state._

import winops.spark.{EntryShape, MovedGroups, PartitionState, StateFormat, StoredGroups, StoredKeep}

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

  private val summaries: Seq[(Boolean, PartitionState.Summary)] = {
    val (stores, stored, batch, ids) = (this.stores, this.stored, this.batch, this.ids)
    session.sparkContext
      .parallelize(0 until before, before)
      .mapPartitions(_.flatMap { partition =>
        stores.read(partition, batch, ids.map(_(partition))) { store =>
          StateFormat.reading {
            val groups = StoredGroups.in(stored, store)
            groups.summary.map(groups.areCoupled -> _).iterator
          }
        }
      })
      .collect()
      .toSeq
  }

  if (summaries.map(_._2).map(one => (one.passed, one.idle)).distinct.size > 1) {
    throw StateFormat.failure("its partitions are not those of one batch")
  }

  // What has no groups, or groups that depend on each other, stays together.
  private val isOneTask = stored.isUngrouped || summaries.exists(_._1)
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
    val keys = stored.keys
    val width = keys.size
    val (stores_, batch_, ids_, after_, whole) = (stores, batch, ids, after, isOneTask)
    val place = placeOf
    val entries = session.sparkContext
      .parallelize(0 until before, before)
      .mapPartitions(_.flatMap { partition =>
        stores_.read(partition, batch_, ids_.map(_(partition))) { store =>
          lazy val placeOfKey = UnsafeProjection.create(Seq(place))
          val shape = new EntryShape(keys)
          store
            .iterator(StateStore.DEFAULT_COL_FAMILY_NAME)
            .map(entry => StateFormat.reading(shape.checked(entry)))
            .filter(entry => whole || entry.key.getLong(width + 1) >= 0)
            .map { entry =>
              val to = if (whole) 0 else placeOfKey(entry.key).getInt(0)
              (to, (entry.key.getBytes, entry.value.getBytes))
            }
        }
      })
    val (stored_, groupsBefore) = (stored, summaries.map(_._2))
    val written = entries
      .partitionBy(new HashPartitioner(after))
      .mapPartitionsWithIndex { (partition, moved) =>
        var held = (0L, 0L)
        val id = target.write(partition) { store =>
          moved.foreach { case (_, (key, value)) =>
            store.put(row(key, width + 2), row(value, 1), StateStore.DEFAULT_COL_FAMILY_NAME)
          }
          if (whole) held = (groupsBefore.map(_.groups).sum, groupsBefore.map(_.rows).sum)
          else
            groupsBefore.headOption.foreach { one =>
              held = StateFormat.reading(MovedGroups.enter(stored_, store, one))
            }
        }
        Iterator((partition, id, held))
      }
      .collect()
      .sortBy(_._1)
    (0 until after_).foreach(number => asVersion(target, number))
    val moved =
      MovedKeep(operator, after, written.map(_._3._1).sum, written.map(_._3._2).sum)
    (moved, Option.when(ids.isDefined)(written.flatMap(_._2)))
  }

  /** The partition of the key of an entry, as the shuffle before the operator has it. */
  private def placeOf = {
    val columns = stored.keys.zipWithIndex.map { case (key, i) =>
      BoundReference(i + 1, key.dataType, nullable = true)
    }
    HashPartitioning(columns, after).partitionIdExpression
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
  private val FirstVersion = "1([._].*)".r

  private def row(bytes: Array[Byte], columns: Int): UnsafeRow = {
    val row = new UnsafeRow(columns)
    row.pointTo(bytes, bytes.length)
    row
  }
}
