package winops.spark.testing

import scala.util.Random

import org.apache.spark.sql.{DataFrame, Row}

/** Compares queries that are stopped after every batch with uninterrupted ones. */
trait Interruptions extends KeepStreamTest {
  private val random = new Random(11)

  private val batches: Seq[Seq[Tick]] = (0 until 3).map { batch =>
    (0 until 100).map { i =>
      val n = batch * 100 + i
      Tick(s"${random.nextInt(5)}", 100L + batch * 17 + random.nextInt(20), n)
    }
  }

  private val heartbeat = Seq(Tick("z", 10000, -1))

  private def byGroup(rows: Seq[Row]): Map[String, Seq[Row]] =
    rows.groupBy(_.getAs[String]("k"))

  /** Checks that a query emits the same rows for each `k`, in order, with and without
    * interruptions.
    *
    * @return
    *   the output rows
    */
  protected def checkInterrupted(query: DataFrame => DataFrame): Seq[Row] = {
    val whole = ticks()
    val expected = runBatches(query(timed(whole)), whole)(batches :+ heartbeat: _*).rows
    val cut = ticks()
    val written = new Written
    withTempDir { dir =>
      (batches :+ heartbeat).foreach { batch =>
        cut.addData(batch)
        runAll(query(timed(cut)), dir.getCanonicalPath, written)
      }
    }
    assert(byGroup(written.rows) == byGroup(expected))
    expected
  }
}
