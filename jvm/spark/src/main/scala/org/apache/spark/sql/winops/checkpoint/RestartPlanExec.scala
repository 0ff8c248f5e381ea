package org.apache.spark.sql.winops.checkpoint

import org.apache.hadoop.fs.Path

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, UnsafeProjection}
import org.apache.spark.sql.execution.LeafExecNode
import org.apache.spark.sql.execution.streaming.runtime.StreamingCheckpointConstants.DIR_NAME_STATE
import org.apache.spark.sql.execution.streaming.state.OperatorStateMetadataV2
import org.apache.spark.sql.types.DataType
import org.apache.spark.unsafe.types.UTF8String

import winops.spark.internal.WinopsErrors
import winops.spark.restart.{Outcome, RestartPlan}
import winops.spark.state.StateIdentity

/** Compares a query with a checkpoint on the driver, on execution and not on analysis. Reads the
  * metadata, the summary of each partition, for which it loads the store, and the sizes of files.
  */
final case class RestartPlanExec(plan: RestartPlanRelation) extends LeafExecNode {
  import RestartPlanExec._

  override def output: Seq[Attribute] = plan.output

  private lazy val differences: Seq[InternalRow] = {
    val toRow = UnsafeProjection.create(output.map(_.dataType).toArray[DataType])
    val checkpoint = new Checkpoint(session, plan.folder)
    val batch = checkpoint.batch(None)
    val plans = pairs(checkpoint, batch).map { case (keep, operator) =>
      val before = keep.operatorPropertiesJson
      (keep, operator, StateIdentity.plan(before, operator.identity, operator.options))
    }
    val whole = RestartPlan.together(plans.map(_._3.hash))
    val fails = plans.exists(!_._3.isAllowed)
    plans.flatMap { case (keep, operator, found) =>
      val former = new FormerOperator(checkpoint, keep, batch)
      // It is not in the identity.
      val hasOtherIdle =
        found.isAllowed && former.summary.exists(_.idleMillis != operator.idleMillis)
      val rewrites = found.rewrites || found.replaces || hasOtherIdle || found.isAllowed &&
        StateIdentity.changesDueTimes(keep.operatorPropertiesJson, operator.identity)
      val cost = if (rewrites) costOf(checkpoint, keep, former, batch) else Cost(0L, 0L, 0L)
      val summary =
        if (fails && found.isAllowed) OtherFails
        else if (found.outcome == Outcome.NeedsHistory) {
          ofHistory(found, operator.options.isAbove, former.rowsOfTable(operator.identity))
        } else {
          summaryOf(found, hasOtherIdle) +
            (if (operator.options.hasHistory) s" $Ignored" else "")
        }
      rowsOf(keep.operatorInfo.operatorId, found, cost, summary, whole).map { row =>
        toRow(row).copy()
      }
    }
  }

  /** The operators of the checkpoint with those of the query. */
  private def pairs(
      checkpoint: Checkpoint,
      batch: Long): Seq[(OperatorStateMetadataV2, RestartedOperator)] = {
    val stored = checkpoint.keeps(batch).sortBy(_.operatorInfo.operatorId)
    if (plan.operator.isEmpty && stored.size == plan.operators.size) stored.zip(plan.operators)
    else {
      plan.operators match {
        case Seq(only) => Seq(checkpoint.keep(batch, plan.operator) -> only)
        case several =>
          throw WinopsErrors.argument(
            "VALUE",
            "query",
            s"a query with as many operators as the checkpoint, which has ${stored.size} and not ${several.size}")
      }
    }
  }

  private def costOf(
      checkpoint: Checkpoint,
      keep: OperatorStateMetadataV2,
      former: FormerOperator,
      batch: Long): Cost = {
    val operator = keep.operatorInfo.operatorId
    val partitions = keep.stateStoreInfo.head.numPartitions
    val counted = former.summaries()
    val bytes = (0 until partitions).map { partition =>
      val folder = new Path(checkpoint.root, s"$DIR_NAME_STATE/$operator/$partition")
      new StoreFiles(checkpoint.fileSystem, folder).bytes(batch + 1)
    }
    Cost(counted.map(_.groups).sum, counted.map(_.rows).sum, bytes.sum)
  }

  override protected def doExecute(): RDD[InternalRow] = sparkContext.parallelize(differences, 1)
}

object RestartPlanExec {

  /** The groups, rows and bytes that the first micro-batch rewrites. */
  private final case class Cost(groups: Long, rows: Long, bytes: Long)

  private val Fails = "The query fails in its first micro-batch, and the state stays as it is."

  private val Ignored = "The table of with_history is not read."

  private val OtherFails =
    s"$Fails Another one of its operators cannot use its state."

  /** A row for the whole state, then one for each difference.
    *
    * @param summary
    *   what becomes of the whole state
    * @param query
    *   the plan of the query with all its operators
    */
  private def rowsOf(
      operator: Long,
      plan: RestartPlan,
      cost: Cost,
      summary: String,
      query: String): Seq[InternalRow] = {
    val whole = row(
      operator,
      Seq("whole state", "", "", plan.outcome.name, summary, ""),
      Seq(cost.groups, cost.rows, cost.bytes),
      query)
    whole +: plan.differences.map { one =>
      row(
        operator,
        Seq(one.subject, one.before, one.now, one.outcome.name, one.because, one.remedy),
        Seq(null, null, null),
        query)
    }
  }

  private def summaryOf(plan: RestartPlan, hasOtherIdle: Boolean): String = plan.outcome match {
    case Outcome.Continues if hasOtherIdle =>
      "The query uses the state as it is. The first micro-batch reads and writes every group once, because idle has another value."
    case Outcome.Continues if plan.differences.isEmpty => "The query is that of the checkpoint."
    case Outcome.Continues => "The query uses the state as it is."
    case Outcome.Rebuilt =>
      "The first micro-batch reads and writes every group once, without output."
    case Outcome.Carried =>
      "The first micro-batch reads and writes every group once, and deletes the rows that leave."
    case Outcome.NeedsHistory | Outcome.Refused => Fails
  }

  /** The fate of a state that lacks rows, in one or two sentences.
    *
    * @param isAbove
    *   true if the operator processes the output of another one
    * @param rows
    *   the rows from which a table forms the state, in English
    */
  private def ofHistory(plan: RestartPlan, isAbove: Boolean, rows: String): String =
    if (plan.replaces)
      s"The first micro-batch removes every group, and forms the state from $rows."
    else if (isAbove) Fails
    else s"$Fails With with_history, the state would be formed from $rows."

  private def row(
      operator: Long,
      texts: Seq[String],
      numbers: Seq[Any],
      hash: String): InternalRow = {
    def text(value: String): Any = UTF8String.fromString(value)
    InternalRow.fromSeq((operator: Any) +: (texts.map(text) ++ numbers :+ text(hash)))
  }
}
