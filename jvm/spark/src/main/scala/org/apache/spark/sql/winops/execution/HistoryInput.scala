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

  /** The plan of one row: the greatest time of the table. For a table that replaces a state, also
    * the number of its rows; for one that is recorded by a digest, also the sum of their hashes.
    */
  def figures(table: WithHistory, operator: GroupedOperator): LogicalPlan = {
    val time = operator.time.map { column =>
      table.history.output(table.stream.output.indexWhere(_.exprId == column.exprId))
    }
    val greatest = time.map(value => call(Max(value), "greatest"))
    val needsDigest = HistorySource.needsDigest(table.history)
    val rows = Option.when(needsDigest || table.replaced.isDefined) {
      call(Count(Literal(1)), "rows")
    }
    val digest =
      if (!needsDigest) None
      else {
        val (unhashed, hashed) = table.history.output.partition(hasNoHash)
        val bytes = Option.when(unhashed.nonEmpty)(BytesOfRow(unhashed))
        val hash = ShiftRightUnsigned(new XxHash64(hashed ++ bytes), Literal(HashBits))
        Some(call(Sum(hash), "hashes"))
      }
    val read = if (digest.isEmpty) time.toSeq else table.history.output
    val columns = (greatest ++ rows ++ digest).toSeq
    if (columns.isEmpty) LocalRelation()
    else Aggregate(Nil, columns, Project(read, table.history))
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
  * @param rows
  *   the number of rows of a table that replaces a state or has a digest
  * @param newest
  *   the greatest time of the table
  * @param renewal
  *   what lets a micro-batch that is run again read the table as it is, as an instruction
  */
private[winops] final case class HistoryFigures(
    watermark: Long,
    times: HistoryTimes,
    rows: Option[Long],
    newest: Option[Literal],
    renewal: Option[String]) {

  /** The rows from which a restart forms the state, in English. A table that lacks delivered
    * rows, or has rows that are still to come, is recognized by it.
    */
  def warning: String = {
    val upTo = newest.fold("") { time =>
      s", up to ${Cast(time, StringType, Some(SQLConf.get.sessionLocalTimeZone)).eval()}"
    }
    s"The state is formed anew from ${rows.getOrElse(0L)} rows of the table of with_history$upTo. " +
      "They must be all rows that the query has processed before, and no others." +
      renewal.fold("") { instruction =>
        s" If the micro-batch fails, the next start reads the same rows. To change them, $instruction."
      }
  }
}

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
    val newest = for {
      greatest <- columns.get("greatest")
      found <- row if !found.isNullAt(greatest)
    } yield Literal(found.getLong(greatest), figures.output(greatest).dataType)
    val end = newest.map(time => DateTimeUtils.microsToMillis(time.value.asInstanceOf[Long]))
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
    val rows = for {
      counted <- columns.get("rows")
      found <- row
    } yield found.getLong(counted)
    HistoryFigures(watermark, times, rows, newest, table.record.map(_.renewal))
  }

  /** The delay of the watermark, which is of several operators as Spark's policy says. */
  private def delay(delays: Seq[Long]): Long =
    if (delays.isEmpty) 0L
    else if (SQLConf.get.getConf(SQLConf.STREAMING_MULTIPLE_WATERMARK_POLICY) == "max") delays.min
    else delays.max
}
