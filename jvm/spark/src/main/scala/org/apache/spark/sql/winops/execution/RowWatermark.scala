package org.apache.spark.sql.winops.execution

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.catalyst.plans.{Inner, LeftSemi}
import org.apache.spark.sql.catalyst.plans.logical.EventTimeWatermark
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.adaptive.{AdaptiveSparkPlanExec, QueryStageExec}
import org.apache.spark.sql.execution.columnar.InMemoryTableScanExec
import org.apache.spark.sql.execution.streaming.operators.stateful._
import org.apache.spark.sql.execution.streaming.operators.stateful.join.StreamingSymmetricHashJoinExec
import org.apache.spark.sql.internal.SQLConf

import winops.spark.group.BatchTimes

/** The watermark that the rows of a plan have, relative to other watermarks, in milliseconds.
  *
  * Spark's operators drop a row at exactly their watermark, so a `keep` passes them a watermark
  * that is one millisecond earlier than its own. A `keep` above it drops no such row. Without a
  * correction, each `keep` of a chain would lag one more millisecond behind, and a flush of the
  * chain would move the query's watermark past rows that are still to come.
  *
  * @param behindQuery
  *   the lag of the rows' watermark behind the watermark of the query
  * @param aheadOfSpark
  *   the lead of the rows' watermark over the one that Spark gives an operator over the plan
  * @param isOfSource
  *   true if all operators between the source and the plan emit a row when they get it, or in a
  *   flush
  */
private[winops] final case class RowWatermark(
    behindQuery: Long,
    aheadOfSpark: Long,
    isOfSource: Boolean) {

  /** The time behind the watermark up to which all rows are there at the end of the input, in
    * microseconds.
    */
  def passedAtEnd: Long = if (isOfSource) BatchTimes.OneMilli else BatchTimes.OneMicro
}

private[winops] object RowWatermark {

  /** A watermark of the query for which the watermarks of operators are computed. Their
    * differences do not depend on it.
    */
  private val OfQuery = 4000000000000L

  /** The watermarks of one node for [[OfQuery]].
    *
    * @param spark
    *   the output watermark in Spark's propagation
    * @param rows
    *   the greatest watermark that no later row of the node is before
    */
  private final case class Output(spark: Long, rows: Long, isOfSource: Boolean)

  /** The watermark of the rows of a plan. */
  def of(plan: SparkPlan): RowWatermark = outputOf(plan) match {
    // Spark then gives all operators the watermark of the query.
    case _ if !plan.conf.getConf(SQLConf.STATEFUL_OPERATOR_ALLOW_MULTIPLE) => OfSource
    case Some(output) =>
      RowWatermark(OfQuery - output.rows, output.rows - output.spark, output.isOfSource)
    case None => OfSource
  }

  private val OfSource = RowWatermark(0L, 0L, isOfSource = true)

  /** The watermarks of a node, as Spark's `PropagateWatermarkSimulator` computes them; None
    * without a watermark.
    */
  private def outputOf(plan: SparkPlan): Option[Output] = plan match {
    case cached: InMemoryTableScanExec => outputOf(cached.relation.cachedPlan)
    case adaptive: AdaptiveSparkPlanExec => outputOf(adaptive.executedPlan)
    case stage: QueryStageExec => outputOf(stage.plan)
    case _: EventTimeWatermarkExec => Some(Output(OfQuery, OfQuery, isOfSource = true))
    case node =>
      val inputs = node.children.flatMap(outputOf)
      if (inputs.isEmpty) None
      else {
        val input =
          Output(inputs.map(_.spark).min, inputs.map(_.rows).min, inputs.forall(_.isOfSource))
        node match {
          case operator: StateStoreWriter =>
            operator.produceOutputWatermark(input.spark).map { spark =>
              if (emitsAtOnce(operator)) input.copy(spark = spark)
              else Output(spark, spark, isOfSource = false)
            }
          case _ => Some(input)
        }
      }
  }

  /** Returns true if no output row is before the watermark of the input rows. Operators that emit
    * rows when Spark's watermark passes them may emit rows that are.
    */
  private def emitsAtOnce(operator: StateStoreWriter): Boolean = operator match {
    case _: StatefulKeepExec | _: StreamingGlobalLimitExec => true
    case _: StreamingDeduplicateExec | _: StreamingDeduplicateWithinWatermarkExec => true
    case join: StreamingSymmetricHashJoinExec =>
      (join.joinType == Inner || join.joinType == LeftSemi) &&
      (join.leftKeys ++ join.rightKeys).exists(hasWatermark)
    case _ => false
  }

  private def hasWatermark(key: Expression): Boolean = key match {
    case column: Attribute => column.metadata.contains(EventTimeWatermark.delayKey)
    case _ => false
  }
}
