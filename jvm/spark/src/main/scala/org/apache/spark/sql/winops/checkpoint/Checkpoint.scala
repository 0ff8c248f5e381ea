package org.apache.spark.sql.winops.checkpoint

import org.apache.hadoop.fs.{FileSystem, Path}

import org.apache.spark.sql.execution.streaming.runtime.StreamingCheckpointConstants.{DIR_NAME_COMMITS, DIR_NAME_OFFSETS, DIR_NAME_STATE}
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.datasources.v2.state.metadata.StateMetadataPartitionReader
import org.apache.spark.sql.execution.streaming.state._
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.winops.execution.StatefulKeepExec
import org.apache.spark.sql.winops.state.KeepStores
import org.apache.spark.util.SerializableConfiguration

import winops.spark.checkpoint.StoredKeep
import winops.spark.internal.WinopsErrors

/** The checkpoint of a query, opened for reading.
  *
  * @throws org.apache.spark.sql.AnalysisException
  *   `WINOPS_CHECKPOINT_NOT_FOUND` if the folder is not a checkpoint
  */
private[winops] final class Checkpoint(session: SparkSession, folder: String) {
  private val conf = session.sessionState.newHadoopConf()

  val fileSystem: FileSystem = new Path(folder).getFileSystem(conf)

  val root: Path =
    fileSystem.makeQualified(new Path(folder))

  if (!isThere(DIR_NAME_OFFSETS) || !isThere(DIR_NAME_COMMITS)) {
    throw WinopsErrors.analysis("WINOPS_CHECKPOINT_NOT_FOUND", "path" -> root.toString)
  }

  private lazy val logs = new CheckpointLogs(session, root.toString)

  /** Returns the number of the last committed micro-batch, or `requested` if it was committed.
    *
    * @throws org.apache.spark.sql.AnalysisException
    *   `WINOPS_CHECKPOINT_BATCH` if the micro-batch was not committed
    */
  def batch(requested: Option[Long]): Long = {
    val committed = numbersIn(DIR_NAME_COMMITS)
    requested
      .filter(committed.contains)
      .orElse(committed.lastOption.filter(_ => requested.isEmpty))
      .getOrElse {
        val (commit, expected) = committed.headOption match {
          case Some(first) =>
            val batches = s"$first to ${committed.last}"
            s"commit of the micro-batch ${requested.fold("")(_.toString)}" ->
              s"Use one of its committed micro-batches: $batches"
          case None =>
            "committed micro-batch" ->
              "Start its query, and try again when it has committed one"
        }
        throw WinopsErrors.analysis(
          "WINOPS_CHECKPOINT_BATCH",
          "path" -> root.toString,
          "commit" -> commit,
          "expected" -> expected)
      }
  }

  /** The number of the last micro-batch that was begun. */
  def latestBatch: Long = numbersIn(DIR_NAME_OFFSETS).last

  def offsets(batch: Long): Option[CheckpointLogs.Offsets] = logs.offsets(batch)
  def commit(batch: Long): CheckpointLogs.Commit = logs.commit(batch).get

  /** Returns the metadata of all stateful operators of the query in a micro-batch. */
  def operators(batch: Long): Seq[OperatorStateMetadata] =
    if (!isThere(DIR_NAME_STATE)) Nil
    else {
      val reader = new StateMetadataPartitionReader(
        root.toString,
        new SerializableConfiguration(conf),
        batch)
      reader.allOperatorStateMetadata.toSeq
    }

  /** Returns the metadata of all `keep` operators of the query in a micro-batch.
    *
    * @throws org.apache.spark.sql.AnalysisException
    *   `WINOPS_CHECKPOINT_NO_KEEP` if there is none
    */
  def keeps(batch: Long): Seq[OperatorStateMetadataV2] = {
    val found = operators(batch).collect {
      case keep: OperatorStateMetadataV2
          if keep.operatorInfo.operatorName == StatefulKeepExec.OperatorName =>
        keep
    }
    if (found.isEmpty) {
      throw WinopsErrors.analysis("WINOPS_CHECKPOINT_NO_KEEP", "path" -> root.toString)
    }
    found
  }

  /** Returns the `keep` operator with a number among the query's stateful operators, or the only
    * one.
    *
    * @throws org.apache.spark.sql.AnalysisException
    *   `WINOPS_CHECKPOINT_OPERATOR` if there is no such operator, or several and no number is
    *   given
    */
  def keep(batch: Long, operator: Option[Long]): OperatorStateMetadataV2 = {
    val all = keeps(batch)
    (all, operator) match {
      case (Seq(only), None) => only
      case _ =>
        all.find(keep => operator.contains(keep.operatorInfo.operatorId)).getOrElse {
          val operators = all.map { keep =>
            s"${keep.operatorInfo.operatorId} [${StoredKeep.windowOf(keep.operatorPropertiesJson)}]"
          }
          throw WinopsErrors.analysis(
            "WINOPS_CHECKPOINT_OPERATOR",
            "path" -> root.toString,
            "operators" -> operators.mkString(", "))
        }
    }
  }

  /** Returns the state stores of an operator with the settings of a micro-batch. */
  def stores(keep: OperatorStateMetadataV2, batch: Long): KeepStores = {
    val operator = keep.operatorInfo.operatorId
    KeepStores(
      new Path(root, DIR_NAME_STATE).toString,
      operator,
      entryKeys(keep),
      StateStoreConf(settings(batch)),
      SerializableConfiguration.broadcast(session.sparkContext, conf))
  }

  /** Returns the unique ids of an operator's state after a micro-batch, by partition. Older
    * checkpoint formats have no ids.
    */
  def stateIds(operator: Long, batch: Long): Option[Array[String]] =
    commit(batch).stateUniqueIds.flatMap(_.get(operator)).map(_.map(_.head))

  /** Returns the columns of the keys of an operator's state entries.
    *
    * @throws org.apache.spark.sql.winops.internal.WinopsRuntimeException
    *   `WINOPS_STATE_FORMAT` if the schema file is not readable
    */
  def entryKeys(keep: OperatorStateMetadataV2): StructType =
    EntryKeysFile.read(fileSystem.open(schemaFile(keep)))

  /** The path of the schema file of an operator's state. The recorded path is outdated if the
    * checkpoint has been moved, so only its last components are used.
    */
  def schemaFile(keep: OperatorStateMetadataV2): Path = {
    val written = new Path(keep.stateStoreInfo.head.stateSchemaFilePaths.last)
    val folder = Seq(written.getParent.getParent, written.getParent).map(_.getName)
    new Path(
      root,
      s"$DIR_NAME_STATE/${keep.operatorInfo.operatorId}/${folder.mkString("/")}/${written.getName}")
  }

  /** Returns the session's settings, overridden by the query's settings in a micro-batch.
    *
    * @throws org.apache.spark.sql.AnalysisException
    *   `WINOPS_CHECKPOINT_CLASS` if they name a class that is neither Spark's own nor the
    *   session's
    */
  def settings(batch: Long): SQLConf = {
    val settings = session.sessionState.conf.clone()
    offsets(batch).foreach(CheckpointLogs.restore(_, settings))
    NamedClasses.check(session.sessionState.conf, settings)
    // The coordinator that stores would report to exists only after the session's first query.
    settings.setConf(SQLConf.STATE_STORE_COORDINATOR_REPORT_SNAPSHOT_UPLOAD_LAG, false)
    settings
  }

  private def isThere(name: String): Boolean = fileSystem.exists(new Path(root, name))

  private def numbersIn(name: String): Seq[Long] =
    fileSystem
      .listStatus(new Path(root, name))
      .flatMap(_.getPath.getName.toLongOption)
      .sorted
      .toSeq
}
