package winops.spark.over

import java.sql.Timestamp
import java.util.UUID

import scala.io.Source
import scala.util.{Failure, Success, Try}

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.catalyst.encoders.ExpressionEncoder
import org.apache.spark.sql.catalyst.expressions.Alias
import org.apache.spark.sql.catalyst.plans.logical.{EventTimeWatermark, LogicalPlan, Project, Window}
import org.apache.spark.sql.execution.streaming.runtime.MemoryStream
import org.apache.spark.sql.streaming.Trigger
import org.apache.spark.sql.types.{StructField, StructType}
import org.apache.spark.sql.winops.testing.PlannedQuery
import org.apache.spark.unsafe.types.CalendarInterval

import winops.spark.internal.WinopsAnalysisException
import winops.spark.testing.{CompiledCode, KeepStreamTest}
import winops.testing.Longer

/** The queries of Spark's own tests of window functions, over a stream. */
class SparkQueriesSuite extends KeepStreamTest with CompiledCode {
  import SparkQueriesSuite._
  import testImplicits._

  // `make test-over` runs all of them.
  private val isWhole = sys.props.contains("over")

  test("each query gives the rows of a table, or is refused by a condition of winops", Longer) {
    val outcomes = files.flatMap(statementsOf(_).distinct).flatMap(outcomeOf)
    val counts = outcomes.groupMapReduce(identity)(_ => 1)(_ + _)
    if (isWhole) assert(counts == expected)
    else {
      assert(counts.keySet -- expected.keySet == Set.empty)
      expected.foreach { case (outcome, all) =>
        assert(all < QueriesPerSample || counts.contains(outcome))
      }
    }
  }

  override def beforeAll(): Unit = {
    super.beforeAll()
    spark.read
      .schema(tenk)
      .option("sep", "\t")
      .csv(lines("test-data/postgresql/tenk.data").toDS())
      .cache()
      .createOrReplaceTempView("tenk1")
  }

  /** The outcome of a query; None if the statement is none with a window function, or is not in
    * the sample.
    */
  private def outcomeOf(sql: String): Option[Outcome] = Try(spark.sql(sql)) match {
    case Failure(_) if sql.toLowerCase.contains(" over") => Some(FailsOnTables)
    case Failure(_) => None
    case Success(df) if !PlannedQuery.planOf(df).exists(_.isInstanceOf[Window]) => None
    case Success(df) if Try(df.collect()).isFailure => Some(FailsOnTables)
    case Success(df) =>
      val isInSample = isWhole || Math.floorMod(sql.hashCode, QueriesPerSample) == 0
      TimedWindows.of(PlannedQuery.planOf(df)).filter(_ => isInSample).map { query =>
        withClue(sql.replaceAll("\\s+", " "))(compared(query))
      }
  }

  private def compared(query: TimedWindows): Outcome = overTable(query) match {
    case None => HasNoTime
    case Some((rows, answer)) =>
      Try(stream(query, rows)) match {
        case Failure(error) => refusalOf(error).getOrElse(fail(error))
        case Success(found) =>
          assert(found == answer)
          Equal
      }
  }

  /** The input and the result over a table. A number may be no time, and Spark itself may fail,
    * for example by an overflow.
    */
  private def overTable(query: TimedWindows): Option[(Seq[Row], Seq[String])] = Try {
    val rows = timed(PlannedQuery.of(spark, query.input).collect().toSeq)
    rows -> table(query, rows)
  }.toOption

  private def refusalOf(error: Throwable): Option[Outcome] =
    causeOf[WinopsAnalysisException](error).filter(_.getCondition == "WINOPS_OVER").map {
      refusal =>
        val reason = refusal.getMessageParameters.get("reason")
        if (reason == Filter) FailsOnTables
        else Refused(reasons.find(reason.contains).getOrElse(reason))
    }

  /** The rows that have a time, in its order. */
  private def timed(rows: Seq[Row]): Seq[Row] =
    rows.filter(row => !row.isNullAt(row.size - 1)).sortBy(timeOf(_).getTime)

  private def timeOf(row: Row): Timestamp = row.getTimestamp(row.size - 1)

  private def table(query: TimedWindows, rows: Seq[Row]): Seq[String] = {
    val local = spark.createDataFrame(spark.sparkContext.parallelize(rows, 1), numbered(query))
    texts(
      PlannedQuery
        .of(spark, query.over(named(query, PlannedQuery.planOf(local))))
        .collect()
        .toSeq)
  }

  /** The rows of a stream of two micro-batches, with a restart between them. */
  private def stream(query: TimedWindows, rows: Seq[Row]): Seq[String] = {
    val source = memoryStream[Row](ExpressionEncoder(numbered(query)))
    val written = new Written
    val batches = batchesOf(rows)
    withTempDir { checkpoint =>
      batches.zipWithIndex.foreach { case (batch, number) =>
        val atEnd = if (number == batches.size - 1) "flush" else "wait"
        withSQLConf(OverSettings.AtEnd -> atEnd) {
          source.addData(batch)
          val running = streaming(query, source).writeStream
            .option("checkpointLocation", checkpoint.getCanonicalPath)
            .trigger(Trigger.AvailableNow())
            .foreachBatch((rows: DataFrame, id: Long) => written.add(id, rows.collect().toSeq))
            .start()
          try running.awaitTermination()
          finally running.stop()
        }
      }
    }
    texts(written.rows)
  }

  private def streaming(query: TimedWindows, source: MemoryStream[Row]): DataFrame = {
    val rows = named(query, PlannedQuery.planOf(source.toDF()))
    val delay = new CalendarInterval(0, 0, 0L)
    val timed = EventTimeWatermark(UUID.randomUUID(), rows.output.last, delay, rows)
    PlannedQuery.of(spark, query.over(timed))
  }

  /** The rows in two micro-batches, each of which ends with a time. */
  private def batchesOf(rows: Seq[Row]): Seq[Seq[Row]] = {
    val times = rows.map(timeOf).distinct
    val batches = times.grouped(Math.max(1, (times.size + 1) / 2)).map(_.toSet)
    batches.map(times => rows.filter(row => times(timeOf(row)))).toSeq
  }

  private def numbered(query: TimedWindows): StructType =
    StructType(query.input.output.zipWithIndex.map { case (column, i) =>
      StructField(s"c$i", column.dataType)
    })

  private def named(query: TimedWindows, rows: LogicalPlan): LogicalPlan =
    Project(
      query.input.output.zip(rows.output).map { case (column, from) =>
        Alias(from, column.name)(exprId = column.exprId)
      },
      rows)

  private def texts(rows: Seq[Row]): Seq[String] = rows.map(_.toString).sorted

  private def statementsOf(file: String): Seq[String] = {
    val text = lines(s"sql-tests/inputs/$file").map(_.replaceFirst("--.*", "")).mkString("\n")
    text.split(";").map(_.trim).filter(_.nonEmpty).toSeq
  }

  private def lines(resource: String): Seq[String] = {
    val source = Source.fromURL(getClass.getClassLoader.getResource(resource))("UTF-8")
    try source.getLines().toSeq
    finally source.close()
  }
}

object SparkQueriesSuite {
  private sealed trait Outcome
  private case object Equal extends Outcome
  private final case class Refused(reason: String) extends Outcome

  /** Spark refuses the query over a table, or fails. */
  private case object FailsOnTables extends Outcome

  /** A value of the query's order is no time, or its distances are none. */
  private case object HasNoTime extends Outcome

  private val QueriesPerSample = 5

  private val files =
    "window.sql" +: (1 to 4).map(part => s"postgreSQL/window_part$part.sql")

  private val NoOrder = "it has all rows of the partition as its frame"
  private val NoEnd = "ends with the last row of the partition"
  private val WholePartition = "it needs all rows of the partition"

  /** Spark itself refuses such a query before 4.2. */
  private val Filter = "it has a FILTER"
  private val Descending = "a stream has no last row to begin with"
  private val reasons = Seq(NoOrder, NoEnd, WholePartition, Descending)

  /** The number of queries by their outcome. */
  private val expected = Map[Outcome, Int](
    Equal -> 73,
    Refused(NoOrder) -> 14,
    Refused(NoEnd) -> 18,
    Refused(WholePartition) -> 3,
    Refused(Descending) -> 15,
    FailsOnTables -> 34,
    HasNoTime -> 2)

  private val tenk = StructType.fromDDL(
    "unique1 INT, unique2 INT, two INT, four INT, ten INT, twenty INT, hundred INT, " +
      "thousand INT, twothousand INT, fivethous INT, tenthous INT, odd INT, even INT, " +
      "stringu1 STRING, stringu2 STRING, string4 STRING")
}
