package winops.spark.execution

import org.apache.logging.log4j.Level

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streaming.Trigger
import org.apache.spark.sql.winops.testing.ListenerBus

import winops.spark.testing.{KeepStreamTest, Tick}

/** Log messages about streaming queries with `keep` or OVER. */
class StreamReporterSuite extends KeepStreamTest {

  /** The warnings of a query over ten rows of two groups. */
  private def warningsOf(keepOf: DataFrame => DataFrame): Seq[String] = {
    val stream = ticks()
    stream.addData((1 to 10).map(i => Tick("ab".substring(i % 2, i % 2 + 1), i.toLong, i)))
    val appender = new LogAppender("warnings of winops")
    withLogAppender(appender, Seq(classOf[StreamReporter].getName), Some(Level.WARN)) {
      val query = keepOf(withTime(stream.toDF()).withWatermark("ts", "1 hour")).writeStream
        .format("noop")
        .trigger(Trigger.AvailableNow())
        .start()
      query.awaitTermination()
      ListenerBus.drain(spark.sparkContext)
    }
    appender.loggingEvents.map(_.getMessage.getFormattedMessage).toSeq
  }

  private def waits(df: DataFrame): DataFrame =
    keep(df, "PARTITION BY (k), 'KEEP 2 ROWS', time => 'ts'")

  test("a query that ends with rows that wait says how many, and how they can be applied") {
    val warning = warningsOf(waits).mkString("\n")
    assert(warning.contains("(10) waited for the watermark"))
    assert(warning.contains("""at_end="flush""""))
    // A session has one reporter, however many queries it starts.
    assert(warningsOf(waits).size == 1)
    assert(spark.streams.listListeners().count(_.isInstanceOf[StreamReporter]) == 1)
  }

  test("a query of window functions says so too, without a keep in its session before") {
    spark.streams.listListeners().foreach {
      case reporter: StreamReporter => spark.streams.removeListener(reporter)
      case _ =>
    }
    val warnings = warningsOf(_.selectExpr("lag(n) OVER (PARTITION BY k ORDER BY ts, n)"))
    assert(warnings.size == 1)
    assert(warnings.head.contains("(10) waited for the watermark"))
    assert(warnings.head.contains("spark.winops.over.atEnd"))
  }

  test("a query without rows that wait says nothing") {
    val flushed =
      warningsOf(keep(_, "PARTITION BY (k), 'KEEP 2 ROWS', time => 'ts', at_end => 'flush'"))
    assert(flushed.isEmpty)
    assert(warningsOf(keep(_, "PARTITION BY (k), 'KEEP 2 ROWS'")).isEmpty)
    assert(warningsOf(_.dropDuplicates("k")).isEmpty)
  }

  test("a first micro-batch with far more partitions than rows is reported, once") {
    withSQLConf(SQLConf.SHUFFLE_PARTITIONS.key -> "50") {
      val warnings = warningsOf(keep(_, "PARTITION BY (k), 'KEEP 2 ROWS'"))
      assert(warnings.size == 1)
      val warning = warnings.head
      assert(warning.contains("few rows (10) for its 50 shuffle partitions"))
      assert(warning.contains("spark.sql.shuffle.partitions"))
      // A query that runs in one task has one partition.
      assert(warningsOf(keep(_, ", 'KEEP 2 ROWS'")).isEmpty)
    }
  }

  test("a first micro-batch with as many rows as partitions is not") {
    withSQLConf(SQLConf.SHUFFLE_PARTITIONS.key -> "10") {
      assert(warningsOf(keep(_, "PARTITION BY (k), 'KEEP 2 ROWS'")).isEmpty)
    }
  }
}
