package org.apache.spark.sql.winops.execution

import java.util.UUID

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager
import org.apache.spark.sql.execution.streaming.operators.stateful._
import org.apache.spark.sql.execution.streaming.state._

import winops.spark.execution.GrownWindow
import winops.spark.internal.WinopsErrors
import winops.spark.plan.{KeepPlan, OperatorPlan, RestartOptions}
import winops.spark.restart.{Outcome, RestartPlan, RestartSettings}
import winops.spark.state.{StateGroupStore, StateIdentity}

/** The metadata of a [[StatefulKeepExec]] in its checkpoint: its [[StateIdentity]] and the schema
  * of its state.
  *
  * @param operator
  *   name of the operator in the metadata
  * @param identity
  *   the identity of the plan
  * @param restart
  *   the arguments of the query for a restart
  * @param state
  *   the state store of the operator
  * @param schemaFolder
  *   folder of the files with the schema
  * @param warn
  *   logs a warning
  */
private[execution] final class KeepMetadata(
    operator: String,
    plan: OperatorPlan,
    identity: String,
    restart: RestartOptions,
    state: StatefulOperatorStateInfo,
    schemaFolder: => Path,
    session: SparkSession,
    warn: String => Unit) {
  import KeepMetadata._

  /** The metadata that Spark writes when it plans the first micro-batch of a run. They are those
    * of the query that stored the state before the micro-batch, because a sink that has its rows
    * already does not run it; [[begin]] replaces them.
    *
    * @param schemaPaths
    *   paths of the files with the schema
    */
  def planned(
      conf: Configuration,
      batch: Long,
      schemaPaths: List[String]): OperatorStateMetadataV2 =
    OperatorStateMetadataV2(
      OperatorInfoV1(state.operatorId, operator),
      Array(
        StateStoreMetadataV2(
          StateStoreId.DEFAULT_STORE_NAME,
          0,
          state.numPartitions,
          schemaPaths)),
      committed(conf, batch).fold(identity)(_.operatorPropertiesJson))

  /** Checks that the query can continue with metadata of its checkpoint. Warns if a window that
    * it continues has grown.
    *
    * @throws org.apache.spark.SparkException
    *   if it cannot
    */
  private def check(before: OperatorStateMetadataV2): Unit = {
    val found = StateIdentity.check(before.operatorPropertiesJson, identity, restart)
    checkConfirmed(found)
    plan match {
      case keep: KeepPlan if !found.replaces =>
        StateIdentity
          .window(before.operatorPropertiesJson)
          .flatMap(GrownWindow.warning(_, keep.spec.policy, keep.spec.dialect))
          .foreach(warn)
      case _ =>
    }
  }

  /** Refuses a changed query that is not confirmed, if the session asks for it. */
  private def checkConfirmed(found: RestartPlan): Unit = {
    val settings = session.sessionState.conf
    def setting(name: String): String = settings.getConfString(name, "").trim
    val isRequired = setting(RestartSettings.Confirm).equalsIgnoreCase("true")
    // Each operator checks its own part of the plan of the query.
    val confirmed = RestartPlan.parts(setting(RestartSettings.Plan))
    if (isRequired && found.outcome != Outcome.Continues && !confirmed.contains(found.hash)) {
      val others =
        if (confirmed.isEmpty) ""
        else
          " Parts of former plans may be left out: restart_plan(df, checkpoint) shows the whole plan."
      throw WinopsErrors.runtime(
        "WINOPS_RESTART_UNCONFIRMED",
        "differences" -> found.text,
        "setting" -> RestartSettings.Plan,
        "plan" -> RestartPlan.together(confirmed :+ found.hash),
        "others" -> others)
    }
  }

  /** Checks the metadata of the checkpoint before a micro-batch, then the schema of the state.
    * Writes the schema if the checkpoint has none.
    */
  def checkSchema(conf: Configuration, batch: Long): List[StateSchemaValidationResult] = {
    if (batch > 0) refuseOtherFormat()
    val before = committed(conf, batch)
    // Spark's own check compares the schema only, and its error would hide the actual difference.
    before.foreach(check)
    // The recorded paths are outdated if the checkpoint has been moved.
    val schemaPaths = before.toList
      .flatMap(_.stateStoreInfo.head.stateSchemaFilePaths)
      .map(path => new Path(schemaFolder, new Path(path).getName))
    val keySchema = StateGroupStore.keySchema(plan.keys)
    val schema = StateStoreColFamilySchema(
      StateStore.DEFAULT_COL_FAMILY_NAME,
      0,
      keySchema,
      0,
      StateGroupStore.valueSchema,
      Some(NoPrefixKeyStateEncoderSpec(keySchema)))
    List(
      StateSchemaCompatibilityChecker.validateAndMaybeEvolveStateSchema(
        state,
        conf,
        List(schema),
        session.sessionState,
        SchemaVersion,
        oldSchemaFilePaths = schemaPaths,
        newSchemaFilePath = Some(new Path(schemaFolder, s"${batch}_${UUID.randomUUID()}"))))
  }

  /** Refuses a query with another `checkpointFormatVersion` than its checkpoint. Spark 4.1
    * refuses it itself; later versions would fail in the store or when they commit.
    */
  private def refuseOtherFormat(): Unit = {
    val format = session.sessionState.conf.stateStoreCheckpointFormatVersion
    // Version 1 has no ids, and later ones have them after each commit.
    if (state.stateStoreCkptIds.isDefined != format >= 2) {
      throw WinopsErrors.runtime(
        "WINOPS_CHECKPOINT_FORMAT",
        "before" -> (if (state.stateStoreCkptIds.isDefined) "2" else "1"),
        "now" -> format.toString)
    }
  }

  /** The metadata with which the state before a micro-batch was stored; None before the first
    * one.
    */
  private def committed(conf: Configuration, batch: Long): Option[OperatorStateMetadataV2] =
    if (batch == 0) None
    else {
      OperatorStateMetadataReader.createReader(root, conf, Version, batch - 1).read().collect {
        case found: OperatorStateMetadataV2 => found
      }
    }

  /** Prepares the state for the tasks of a micro-batch. The metadata of the micro-batch may be
    * those of another query: of the former one, or of one that failed in the micro-batch, which
    * Spark does not replace. That query may also have left snapshots of a state that it has
    * stored. The store writes these in the background, and would later read them in place of what
    * this query stores. Both are removed only now, not when the micro-batch is planned: a sink
    * that has its rows already does not run it, and the state stays that of the query which has
    * written them.
    *
    * @return
    *   the identity with which the state before the micro-batch was stored, if there is one
    */
  def begin(conf: Configuration, batch: Long): Option[String] = {
    val before = committed(conf, batch)
    val files = CheckpointFileManager.create(root, conf)
    val file = OperatorStateMetadataV2.metadataFilePath(root, batch)
    val planned = if (files.exists(file)) read(files, file) else None
    val others = (before ++ planned).filter(_.operatorPropertiesJson != identity)
    others.lastOption.foreach { other =>
      // Spark has checked the first micro-batch of the run, which the sink did not run.
      if (planned.isEmpty) before.foreach(check)
      removeSnapshots(files)
      if (!planned.exists(_.operatorPropertiesJson == identity)) {
        if (planned.isDefined) files.delete(file)
        // The states of both queries have the same schema.
        val own = other.copy(operatorPropertiesJson = identity)
        new OperatorStateMetadataV2Writer(root, conf, batch).write(own)
      }
    }
    before.map(_.operatorPropertiesJson)
  }

  /** Reads the metadata of a micro-batch. Spark's own reader refuses those of a micro-batch whose
    * offsets are not logged, as in real-time mode before its end.
    */
  private def read(files: CheckpointFileManager, file: Path): Option[OperatorStateMetadataV2] =
    OperatorStateMetadataUtils.readMetadata(files.open(file), Version).collect {
      case found: OperatorStateMetadataV2 => found
    }

  /** Removes the snapshots of the state that the micro-batch stores. */
  private def removeSnapshots(files: CheckpointFileManager): Unit =
    if (state.stateStoreCkptIds.isEmpty) {
      for (partition <- 0 until state.numPartitions; kind <- SnapshotKinds) {
        files.delete(
          new Path(new Path(root, partition.toString), s"${state.storeVersion + 1}.$kind"))
      }
    }

  private def root: Path = new Path(state.checkpointLocation, state.operatorId.toString)
}

private[execution] object KeepMetadata {

  /** The version of Spark's metadata. */
  val Version = 2

  private val SchemaVersion = 3

  /** Endings of the names of the stores' snapshots. In version 2 of the checkpoint format, names
    * have ids, and no state is read that is not committed.
    */
  private val SnapshotKinds = Seq("snapshot", "zip")
}
