package org.apache.spark.sql.winops.execution

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateFunction, Count, Max, Sum}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.util.DateTimeUtils
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.streaming.operators.stateful.EventTimeWatermarkExec
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types._
import org.apache.spark.sql.winops.source.{HistoryRecord, HistorySource}

import winops.spark.expressions.BytesOfRow
import winops.spark.plan.GroupedOperator
import winops.spark.source.{FormerTimes, WithHistory}
import winops.spark.state.HistoryTimes

/** A table whose rows an operator processes before those of the stream.
  *
  * @param emits
  *   true if rows of the table have output
  * @param record
  *   the record of what is read
  * @param former
  *   the times of the query whose state the table replaces; None if the stream starts with it
  */
final case class HistoryInput(
    emits: Boolean,
    record: Option[HistoryRecord],
    former: Option[FormerTimes])

object HistoryInput {
  private val HashBits = 32

  /** The plan of one row: the greatest time of the table; for a table that is recorded by a
    * digest, also the number of its rows and the sum of their hashes.
    */
  def figures(table: WithHistory, operator: GroupedOperator): LogicalPlan = {
    val time = operator.time.map { column =>
      table.history.output(table.stream.output.indexWhere(_.exprId == column.exprId))
    }
    val greatest = time.map(value => call(Max(value), "greatest"))
    val digest =
      if (!HistorySource.needsDigest(table.history)) Nil
      else {
        val (unhashed, hashed) = table.history.output.partition(hasNoHash)
        val bytes = Option.when(unhashed.nonEmpty)(BytesOfRow(unhashed))
        val hash = ShiftRightUnsigned(new XxHash64(hashed ++ bytes), Literal(HashBits))
        Seq(call(Count(Literal(1)), "rows"), call(Sum(hash), "hashes"))
      }
    val read = if (digest.isEmpty) time.toSeq else table.history.output
    val columns = greatest ++ digest
    if (columns.isEmpty) LocalRelation()
    else Aggregate(Nil, columns.toSeq, Project(read, table.history))
  }

  /** Returns true for types that Spark does not hash, because equal maps may have another order.
    * The digest has their bytes: a program that is run again makes them in the same order.
    */
  private def hasNoHash(column: Attribute): Boolean = column.dataType.existsRecursively {
    case _: MapType | _: VariantType => true
    case _ => false
  }

  private def call(function: AggregateFunction, name: String): NamedExpression =
    Alias(function.toAggregateExpression(), name)()
}

/** The figures that the driver has of a table before the tasks read it.
  *
  * @param watermark
  *   the watermark that the rows of the table lead to, in milliseconds; 0 for none
  */
private[winops] final case class HistoryFigures(watermark: Long, times: HistoryTimes)

private[winops] object HistoryFigures {
  private val DigestKind = "digest"

  /** Reads the figures of a table, checks its digest, and moves the watermark that Spark computes
    * after this micro-batch.
    *
    * @param figures
    *   the plan of [[HistoryInput.figures]]
    * @param input
    *   the plan of the rows of the table and of the stream
    */
  def read(table: HistoryInput, figures: SparkPlan, input: SparkPlan): HistoryFigures = {
    val row = figures.executeCollect().headOption
    val columns = figures.output.map(_.name).zipWithIndex.toMap
    for {
      record <- table.record
      counted <- columns.get("rows")
      hashes <- columns.get("hashes")
    } {
      val digest = s"${row.get.getLong(counted)}\t${row.get.getLong(hashes)}"
      if (record.of(DigestKind, Seq(digest)) != Seq(digest)) {
        throw record.changed("the rows of the table are others")
      }
    }
    val end = columns
      .get("greatest")
      .flatMap(greatest => row.filterNot(_.isNullAt(greatest)).map(_.getLong(greatest)))
      .map(DateTimeUtils.microsToMillis)
    val watermarks = input.collect { case node: EventTimeWatermarkExec => node }
    end.foreach(millis => watermarks.foreach(_.eventTimeStats.add(millis)))
    val watermark =
      end.fold(0L)(millis => Math.max(0L, millis - delay(watermarks.map(_.delayMs))))
    val former = table.former.toSeq
    val times = HistoryTimes(
      (end ++ former.flatMap(_.passed) ++ former.flatMap(_.ofHistory)).maxOption
        .getOrElse(Long.MinValue),
      isSilent = !table.emits,
      isRead = true,
      // Without a time column, the former query had no timers of this time.
      table.former.map(_.passed.getOrElse(watermark)))
    HistoryFigures(watermark, times)
  }

  /** The delay of the watermark, which is of several operators as Spark's policy says. */
  private def delay(delays: Seq[Long]): Long =
    if (delays.isEmpty) 0L
    else if (SQLConf.get.getConf(SQLConf.STREAMING_MULTIPLE_WATERMARK_POLICY) == "max") delays.min
    else delays.max
}
