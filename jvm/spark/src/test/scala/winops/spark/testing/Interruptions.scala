package winops.spark.testing

import scala.util.Random

import org.apache.spark.sql.{DataFrame, Row}

/** Queries that are stopped after every batch, beside the same ones that are not. */
trait Interruptions extends KeepStreamTest {
  private val random = new Random(11)

  private val batches: Seq[Seq[Tick]] = (0 until 5).map { batch =>
    (0 until 60).map { i =>
      val n = batch * 60 + i
      Tick(s"${random.nextInt(5)}", 100L + batch * 10 + random.nextInt(12), n)
    }
  }

  private val heartbeat = Seq(Tick("z", 10000, -1))

  private def byGroup(rows: Seq[Row]): Map[String, Seq[Row]] =
    rows.groupBy(_.getAs[String]("k"))

  /** A query tells the same of each `k`, in the same order, with and without interruptions.
    *
    * @return
    *   what it tells
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

  /** A `keep` with these arguments tells the same with and without interruptions. */
  protected def checkInterrupted(arguments: String): Seq[Row] =
    checkInterrupted(keep(_, arguments))
}
