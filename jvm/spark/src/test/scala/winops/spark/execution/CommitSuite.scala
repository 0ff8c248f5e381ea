package winops.spark.execution

import java.util.concurrent.atomic.AtomicInteger

import scala.concurrent.{Await, Future}
import scala.concurrent.ExecutionContext.Implicits.global
import scala.concurrent.duration._

import org.apache.spark.{SparkConf, TaskContext}
import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.functions.udf
import org.apache.spark.sql.streaming.StreamingQueryException
import org.apache.spark.sql.winops.testing.RetriedTasks

import winops.spark.testing.{KeepStreamTest, Tick}
import winops.testing.{Longer, TableTests}

/** Failing sinks and tasks do not change the final output. */
class CommitSuite extends KeepStreamTest with RetriedTasks with TableTests {
  import CommitSuite._
  import testImplicits._

  override protected def sparkConf: SparkConf = {
    val (provider, rocksDb) = KeepStreamTest.rocksDb
    super.sparkConf.set(provider, rocksDb)
  }

  private val call = "PARTITION BY (k), 'KEEP 2 ROWS SLACK 2'"

  private val batches = Seq(
    (1 to 7).map(i => Tick(s"${i % 2}", i.toLong, i)),
    (8 to 15).map(i => Tick(s"${i % 3}", i.toLong, i)),
    (16 to 20).map(i => Tick(s"${i % 4}", i.toLong, i)))

  private lazy val expected: Set[Row] = {
    val stream = ticks()
    emitted(runBatches(keep(stream.toDF(), call), stream)(batches: _*).rows)
  }

  private def emitted(rows: Seq[Row]): Set[Row] = {
    val facts = rows.map { r =>
      Row(
        r.getAs[String]("_change_type"),
        r.getAs[Long]("_change_step"),
        r.getAs[Long]("_change_seq"),
        r.getAs[String]("k"),
        r.getAs[Int]("n"))
    }
    assert(facts.distinct.size == facts.size)
    facts.toSet
  }

  /** Runs all batches; in the second one the sink executes `once`, and the query then restarts.
    */
  private def interrupted(once: DataFrame => Unit): (Written, StreamingQueryException) = {
    val stream = ticks()
    val written = new Written
    var failure: StreamingQueryException = null
    withTempDir { dir =>
      val checkpoint = dir.getCanonicalPath
      val kept = keep(stream.toDF(), call)
      stream.addData(batches.head)
      val failing = start(kept, checkpoint, written, (batch, id) => if (id == 1) once(batch))
      failure =
        try {
          failing.processAllAvailable()
          stream.addData(batches(1))
          intercept[StreamingQueryException](failing.processAllAvailable())
        } finally failing.stop()
      val again = start(kept, checkpoint, written)
      try {
        again.processAllAvailable()
        stream.addData(batches(2))
        again.processAllAvailable()
      } finally again.stop()
    }
    (written, failure)
  }

  test("a sink that fails before it reads", Longer) {
    val (written, _) = interrupted(_ => throw new IllegalStateException("no disk"))
    assert(emitted(written.rows) == expected)
  }

  test("a sink that fails after it has read, when the state is written already") {
    val (written, _) = interrupted { batch =>
      batch.collect()
      throw new IllegalStateException("no disk")
    }
    assert(emitted(written.rows) == expected)
  }

  test("a sink that reads some rows only is reported so by Spark, and nothing half is kept") {
    val (written, failure) = interrupted { batch =>
      batch.limit(1).collect()
      throw new Partial
    }
    assert(causeOf[Partial](failure).isDefined)
    assert(emitted(written.rows) == expected)
  }

  test("Spark refuses a batch whose sink did not read all rows") {
    withTempDir { dir =>
      val stream = ticks()
      stream.addData(batches.head)
      val ignoring = (batch: DataFrame, _: Long) => {
        batch.limit(1).collect()
        ()
      }
      val query = keep(stream.toDF(), call).writeStream
        .option("checkpointLocation", dir.getCanonicalPath)
        .foreachBatch(ignoring)
        .start()
      val failure =
        try intercept[StreamingQueryException](query.processAllAvailable())
        finally query.stop()
      assert(conditionsOf(failure).contains("STATE_STORE_COMMIT_VALIDATION_FAILED"))
    }
  }

  test("a task that fails in the middle of its rows is tried again") {
    val stream = ticks()
    val kept = keep(stream.toDF(), call)
    failures.set(0)
    val failing = kept.withColumn("n", failsOnce($"n"))
    val written = runBatches(failing, stream)(batches: _*)
    assert(failures.get > 0)
    assert(emitted(written.rows) == expected)
  }

  test("a task that fails after it has written its state is tried again", Longer) {
    val stream = ticks()
    val kept = keep(stream.toDF(), call)
    failures.set(0)
    val failing = kept.as[Fact].mapPartitions { rows =>
      val all = rows.toVector
      failAtFirst()
      all.iterator
    }
    val written = runBatches(failing.toDF(), stream)(batches: _*)
    assert(failures.get >= batches.size)
    assert(emitted(written.rows) == expected)
  }

  test("order on retry: an attempt that gets its rows in another order gives the same changes") {
    val stream = ticks()
    failures.set(0)
    val reordered = stream.toDF().repartition(3).as[Tick].mapPartitions { rows =>
      val all = rows.toVector
      if (all.nonEmpty) failAtFirst()
      all.reverseIterator
    }
    val kept =
      keep(reordered.toDF(), "PARTITION BY (k) ORDER BY (n), 'KEEP 2 ROWS SLACK 2'")
    val written = runBatches(kept, stream)(batches: _*)
    assert(failures.get >= batches.size)
    assert(emitted(written.rows) == expected)
  }

  test("commit twice: a sink that reads its batch again reads the same") {
    val attempts = attemptsOf(batch => Seq(batch.collect().toSeq, batch.collect().toSeq))
    assert(attempts.forall(emitted(_) == expected))
  }

  testEach(
    "concurrent attempts: those that run side by side give the same, and one state is kept",
    short = 1)("RocksDB" -> KeepStreamTest.rocksDb, "HDFS" -> KeepStreamTest.hdfs) {
    case (_, provider) =>
      withSQLConf(provider) {
        val attempts = attemptsOf { batch =>
          val sideBySide = Seq.fill(2)(Future(batch.collect().toSeq))
          Await.result(Future.sequence(sideBySide), 1.minute)
        }
        assert(attempts.forall(emitted(_) == expected))
      }
  }

  /** The outputs of two attempts for all batches. */
  private def attemptsOf(attempts: DataFrame => Seq[Seq[Row]]): Seq[Seq[Row]] = {
    val stream = ticks()
    val ofAttempts = Seq.fill(2)(new Written)
    withTempDir { dir =>
      val query = start(
        keep(stream.toDF(), call),
        dir.getCanonicalPath,
        new Written,
        (batch, id) =>
          ofAttempts.zip(attempts(batch)).foreach { case (written, rows) =>
            written.add(id, rows)
          })
      try
        batches.foreach { batch =>
          stream.addData(batch)
          query.processAllAvailable()
        }
      finally query.stop()
    }
    ofAttempts.map(_.rows)
  }
}

private object CommitSuite {
  final case class Fact(
      _change_type: String,
      _change_step: Long,
      _change_seq: Long,
      k: String,
      n: Int)

  final class Partial extends RuntimeException

  val failures = new AtomicInteger

  def failAtFirst(): Unit = if (TaskContext.get().attemptNumber() == 0) {
    failures.incrementAndGet()
    throw new IllegalStateException("this attempt fails")
  }

  val failsOnce = udf { (n: Int) =>
    if (n == 5 || n == 12) failAtFirst()
    n
  }
}
