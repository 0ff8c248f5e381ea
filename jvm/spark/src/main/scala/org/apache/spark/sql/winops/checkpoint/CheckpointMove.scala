package org.apache.spark.sql.winops.checkpoint

import scala.jdk.CollectionConverters._

import org.apache.hadoop.fs.{FileUtil, Path}

import org.apache.spark.sql.execution.streaming.runtime.StreamingCheckpointConstants.{DIR_NAME_METADATA, DIR_NAME_STATE}
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.streaming.state._
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.winops.execution.StatefulKeepExec
import org.apache.spark.sql.winops.source.HistoryRecord

import winops.spark.checkpoint.StoredKeep
import winops.spark.internal.WinopsErrors

/** Writes a checkpoint that continues another one with a change of its state.
  *
  * The offset log is written before the state, so that a query that is started too early fails:
  * it finds begun micro-batches without state. The commit of the last micro-batch is written
  * last.
  *
  * @param from
  *   the existing checkpoint
  * @param folder
  *   the folder of the new checkpoint
  * @param change
  *   the change
  */
private[winops] final class CheckpointMove(
    session: SparkSession,
    from: Checkpoint,
    folder: String,
    change: StateChange) {
  import CheckpointMove._

  private val hadoop = session.sessionState.newHadoopConf()
  private val fileSystem = new Path(folder).getFileSystem(hadoop)

  private val to =
    fileSystem.makeQualified(new Path(folder))

  /** Writes the checkpoint.
    *
    * @return
    *   the result for each `keep` operator
    */
  def run(): Seq[MovedKeep] = {
    refuseRunning()
    val (begun, batch) = (from.latestBatch, from.batch(None))
    val keeps = from.keeps(batch)
    refuseOthers(batch)
    refuseUnfinished(batch)
    if (fileSystem.exists(to) && fileSystem.listStatus(to).nonEmpty) {
      throw WinopsErrors.analysis("WINOPS_CHECKPOINT_EXISTS", "path" -> to.toString)
    }
    change.operator.foreach(number => from.keep(batch, Some(number)))
    // Reads the state of all operators, so that its errors are found before anything is written.
    val moves = keeps.map { keep =>
      val stores = from.stores(keep, batch)
      val stored = StoredKeep(keep.operatorPropertiesJson, stores.entryKeys)
      keep -> new StateMove(session, from, keep, stored, stores, batch, change)
    }
    copy(DIR_NAME_METADATA)
    val logs = new CheckpointLogs(session, to.toString)
    (Math.max(0L, batch - 1) to begun).foreach { number =>
      from.offsets(number).foreach(offsets => add(logs.add(number, change.offsets(offsets))))
    }
    copy(Sources)
    // A micro-batch that was begun runs again with the rows that it has read of a table.
    copy(HistoryRecord.Folder)
    val results = moves.map { case (keep, move) =>
      val (result, ids) = move.run(new Path(to, DIR_NAME_STATE))
      describe(keep, result.partitions, batch)
      result -> ids
    }
    if (from.latestBatch != begun || from.batch(None) != batch) {
      throw running("another micro-batch has run while the checkpoint was copied")
    }
    val ids = results.collect { case (keep, Some(ids)) => keep.operator -> ids.map(Array(_)) }
    add(logs.add(batch, CheckpointLogs.withStateIds(from.commit(batch), ids.toMap)))
    results.map(_._1)
  }

  /** Refuses the checkpoint of a query that runs in this application. Spark does not tell of the
    * queries of others.
    */
  private def refuseRunning(): Unit = session.sharedState.activeStreamingQueries
    .values()
    .asScala
    .find(query => new Path(query.resolvedCheckpointRoot) == from.root)
    .foreach { query =>
      val name = Option(query.name).fold(query.id.toString)(name => s"$name (${query.id})")
      throw running(s"the query $name runs with it")
    }

  private def running(reason: String): Throwable =
    WinopsErrors.analysis(
      "WINOPS_CHECKPOINT_RUNNING",
      "path" -> from.root.toString,
      "reason" -> reason)

  private def refuseOthers(batch: Long): Unit = {
    val others = from
      .operators(batch)
      .map(_.operatorInfo.operatorName)
      .filter(_ != StatefulKeepExec.OperatorName)
    if (others.nonEmpty) {
      throw WinopsErrors.analysis(
        "WINOPS_CHECKPOINT_OTHER_STATE",
        "operators" -> others.distinct.mkString(", "))
    }
  }

  /** Refuses a checkpoint that Spark has begun to repartition itself: its last micro-batch was
    * begun with another number of partitions than the state has.
    */
  private def refuseUnfinished(batch: Long): Unit = {
    def logged(number: Long): Option[String] =
      from.offsets(number).flatMap(CheckpointLogs.settings(_).get(SQLConf.SHUFFLE_PARTITIONS.key))
    val begun = logged(from.latestBatch)
    if (begun != logged(batch)) {
      throw WinopsErrors.analysis(
        "WINOPS_CHECKPOINT_REPARTITION",
        "path" -> from.root.toString,
        "batch" -> from.latestBatch.toString)
    }
  }

  /** Writes the operator's metadata and the schema file of its state. */
  private def describe(keep: OperatorStateMetadataV2, partitions: Int, batch: Long): Unit = {
    val operator = new Path(to, s"$DIR_NAME_STATE/${keep.operatorInfo.operatorId}")
    val schema = from.schemaFile(keep)
    val target =
      new Path(operator, s"${schema.getParent.getParent.getName}/${schema.getParent.getName}")
    fileSystem.mkdirs(target)
    copy(schema, new Path(target, schema.getName))
    val store = keep.stateStoreInfo.head.copy(
      numPartitions = partitions,
      stateSchemaFilePaths = List(new Path(target, schema.getName).toString))
    OperatorStateMetadataWriter
      .createWriter(operator, hadoop, keep.version, Some(batch))
      .write(keep.copy(stateStoreInfo = Array(store)))
  }

  private def copy(name: String): Unit = {
    val source = new Path(from.root, name)
    if (from.fileSystem.exists(source)) copy(source, new Path(to, name))
  }

  private def copy(source: Path, target: Path): Unit = {
    val _ = FileUtil.copy(from.fileSystem, source, fileSystem, target, false, true, hadoop)
  }

  private def add(isNew: Boolean): Unit =
    if (!isNew) throw WinopsErrors.analysis("WINOPS_CHECKPOINT_EXISTS", "path" -> to.toString)
}

private object CheckpointMove {

  /** The folder in which sources log the offsets and files that they have read. */
  private val Sources = "sources"
}
