package winops.spark.over

import java.sql.Timestamp
import java.util.UUID

import scala.io.Source
import scala.util.{Failure, Success, Try}

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.catalyst.encoders.ExpressionEncoder
import org.apache.spark.sql.catalyst.expressions.Alias
import org.apache.spark.sql.catalyst.plans.logical.{EventTimeWatermark, LogicalPlan, Project}
import org.apache.spark.sql.execution.streaming.runtime.MemoryStream
import org.apache.spark.sql.streaming.Trigger
import org.apache.spark.sql.types.{StructField, StructType}
import org.apache.spark.sql.winops.testing.PlannedQuery
import org.apache.spark.unsafe.types.CalendarInterval

import winops.spark.internal.WinopsAnalysisException
import winops.spark.testing.KeepStreamTest

/** The queries of Spark's own tests of window functions, over a stream. */
class SparkQueriesSuite extends KeepStreamTest {
  import SparkQueriesSuite._
  import testImplicits._

  test("each query gives the rows of a table, or is refused by a condition of winops") {
    val outcomes = for {
      file <- files
      sql <- statementsOf(file).distinct
      outcome <- outcomeOf(sql)
    } yield sql.replaceAll("\\s+", " ") -> outcome
    outcomes.foreach {
      case (sql, Differs(table, stream)) =>
        fail(s"$sql\nover a table: ${table.mkString(", ")}\nover a stream: ${stream.mkString(", ")}")
      case (sql, Fails(error)) => fail(sql, error)
      case _ =>
    }
    assert(outcomes.groupMapReduce(_._2)(_ => 1)(_ + _) == expected)
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

  /** Runs a statement; None if it is no query with a window function. */
  private def outcomeOf(sql: String): Option[Outcome] = Try(spark.sql(sql)) match {
    case Failure(_) if sql.toLowerCase.contains(" over") => Some(FailsOnTables)
    case Failure(_) => None
    case Success(df) => TimedWindows.of(PlannedQuery.planOf(df)).map(compared)
  }

  private def compared(query: TimedWindows): Outcome = {
    val result = for {
      // A number may be no time, and Spark itself may fail, for example by an overflow.
      rows <- Try(timed(PlannedQuery.of(spark, query.input).collect().toSeq))
      expected <- Try(table(query, rows))
    } yield Try(stream(query, rows)) match {
      case Failure(error) => refusalOf(error).getOrElse(Fails(error))
      case Success(found) if found == expected => Equal
      case Success(found) => Differs(expected, found)
    }
    result.getOrElse(FailsOnTables)
  }

  private def refusalOf(error: Throwable): Option[Refused] =
    causeOf[WinopsAnalysisException](error).filter(_.getCondition == "WINOPS_OVER").map { refusal =>
      // Some reasons begin with the name of a column.
      Refused(refusal.getMessageParameters.get("reason").replaceFirst("^.* is no timestamp", "no timestamp"))
    }

  /** The rows that have a time, in its order. */
  private def timed(rows: Seq[Row]): Seq[Row] =
    rows.filter(row => !row.isNullAt(row.size - 1)).sortBy(timeOf(_).getTime)

  private def timeOf(row: Row): Timestamp = row.getTimestamp(row.size - 1)

  private def table(query: TimedWindows, rows: Seq[Row]): Seq[String] = {
    val local = spark.createDataFrame(spark.sparkContext.parallelize(rows, 1), numbered(query))
    texts(PlannedQuery.of(spark, query.over(named(query, PlannedQuery.planOf(local)))).collect().toSeq)
  }

  /** The rows of a stream of two micro-batches, with a restart between them. */
  private def stream(query: TimedWindows, rows: Seq[Row]): Seq[String] = {
    val source = MemoryStream[Row](spark)(ExpressionEncoder(numbered(query)))
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
  private final case class Differs(table: Seq[String], stream: Seq[String]) extends Outcome
  private final case class Refused(reason: String) extends Outcome
  private final case class Fails(error: Throwable) extends Outcome

  /** Spark refuses the query over a table, or fails. */
  private case object FailsOnTables extends Outcome

  private val files =
    "window.sql" +: (1 to 4).map(part => s"postgreSQL/window_part$part.sql")

  /** The number of queries by their outcome. */
  private val expected = Map.empty[Outcome, Int]

  private val tenk = StructType.fromDDL(
    "unique1 INT, unique2 INT, two INT, four INT, ten INT, twenty INT, hundred INT, " +
      "thousand INT, twothousand INT, fivethous INT, tenthous INT, odd INT, even INT, " +
      "stringu1 STRING, stringu2 STRING, string4 STRING")
}
