package winops.spark.execution

import org.apache.spark.sql.{AnalysisException, Row}

import winops.spark.testing.{KeepStreamTest, Tick}
import winops.testing.TableTests

/** Windows whose time is the watermark. */
class WatermarkSuite extends KeepStreamTest with TableTests {
  import testImplicits._

  private def facts(rows: Seq[Row]): Seq[(String, Int)] =
    rows.map(r => (r.getAs[String]("_change_type"), r.getAs[Int]("n")))

  /** Runs a query over these batches in sequence, and returns the number of micro-batches for
    * each.
    */
  private def batchesRun(arguments: String)(batches: Seq[Tick]*): (Seq[Int], Written) = {
    val stream = ticks()
    val written = new Written
    val counts = Seq.newBuilder[Int]
    withTempDir { dir =>
      val query = start(keep(timed(stream), arguments), dir.getCanonicalPath, written)
      try {
        batches.foreach { batch =>
          val before = written.batchCount
          stream.addData(batch)
          query.processAllAvailable()
          counts += written.batchCount - before
        }
      } finally query.stop()
    }
    (counts.result(), written)
  }

  test("a batch without rows runs only when the watermark has reached something") {
    val (runs, written) =
      batchesRun("PARTITION BY (k), 'KEEP 10 SECONDS', time => 'ts', apply => 'arrival'")(
        Seq(Tick("a", 1, 1)),
        Seq(Tick("b", 5, 2)),
        Seq(Tick("b", 10, 3)),
        Seq(Tick("b", 11, 4)),
        Seq(Tick("b", 11, 5)),
        Seq(Tick("b", 14, 6)),
        Seq(Tick("b", 30, 7)))
    assert(runs == Seq(1, 1, 1, 2, 1, 1, 2))
    assert(facts(written.rows).filter(_._1 == "delete").map(_._2) == Seq(1, 2, 3, 4, 5, 6))
  }

  test("rows that wait are applied in a batch of their own once the watermark is past them") {
    val (runs, written) = batchesRun("PARTITION BY (k), 'KEEP ALL', time => 'ts'")(
      Seq(Tick("a", 5, 5), Tick("a", 3, 3)),
      Seq(Tick("a", 4, 4), Tick("a", 6, 6), Tick("a", 5, 50)),
      Seq(Tick("b", 7, 7)),
      Seq(Tick("b", 7, 70)))
    // Watermark 5 applies row 3; row 4 arrives after it and is late; watermark 6 applies both
    // rows 5; watermark 7 applies row 6.
    assert(runs == Seq(2, 2, 2, 1))
    assert(facts(written.rows) == Seq(3, 5, 50, 6).map("insert" -> _))
  }

  test("a count window without time has no use for batches without rows") {
    val (runs, _) =
      batchesRun("PARTITION BY (k), 'KEEP 1 ROW', time => 'ts', apply => 'arrival'")(
        Seq(Tick("a", 1, 1)),
        Seq(Tick("a", 100, 2)),
        Seq(Tick("a", 200, 3)))
    assert(runs == Seq(1, 1, 1))
  }

  test("a source that falls silent does not stop the others from moving time") {
    val one = ticks()
    val other = ticks()
    val both = timed(one).union(timed(other))
    val kept = keep(both, "PARTITION BY (k), 'KEEP 10 SECONDS', time => 'ts', apply => 'arrival'")
    withSQLConf("spark.sql.streaming.multipleWatermarkPolicy" -> "max") {
      val written = new Written
      withTempDir { dir =>
        val query = start(kept, dir.getCanonicalPath, written)
        try {
          one.addData(Tick("a", 1, 1))
          query.processAllAvailable()
          other.addData(Tick("b", 50, 2))
          query.processAllAvailable()
        } finally query.stop()
      }
      assert(facts(written.rows) == Seq("insert" -> 1, "insert" -> 2, "delete" -> 1))
    }
  }

  test("idle partition: groups leave though no row comes to their partition any more") {
    val stream = ticks()
    val kept = keep(timed(stream), "PARTITION BY (k), 'KEEP 10 SECONDS', time => 'ts'")
    val silent = (1 to 20).map(n => Tick(s"silent $n", 5, n))
    val written = runBatches(kept, stream)(
      silent,
      Seq(Tick("other", 12, 100)),
      Seq(Tick("other", 14, 101)),
      Seq(Tick("other", 16, 102)))
    val deletes = facts(written.rows).collect { case ("delete", n) => n }
    assert(deletes.sorted == (1 to 20))
  }

  test("the input's own time column is no event time in the output, the change's is") {
    val kept = keep(timed(ticks()), "PARTITION BY (k), 'KEEP 1 ROW', time => 'ts'")
    def delay(column: String) =
      kept.schema(column).metadata.contains("spark.watermarkDelayMs")
    assert(delay("_change_time") && !delay("ts"))
    val untimed = keep(timed(ticks()), "PARTITION BY (k), 'KEEP 1 ROW'")
    assert(!untimed.schema("_change_time").metadata.contains("spark.watermarkDelayMs"))
  }

  testEach("a stream without a watermark is refused where time is used")(
    ", 'KEEP 1 ROW', time => 'ts'",
    ", 'KEEP 1 SECOND', time => 'ts', apply => 'arrival'",
    ", 'KEEP 1 ROW', time => 'ts', apply => 'arrival', idle => '1 day'") { arguments =>
    val error = intercept[AnalysisException](keep(withTime(ticks().toDF()), arguments))
    assert(error.getCondition == "WINOPS_WATERMARK_REQUIRED")
  }

  test("a stream without a watermark may have a time for the order of rows") {
    keep(withTime(ticks().toDF()), ", 'KEEP 1 ROW', time => 'ts', apply => 'arrival'")
  }

  test("a row is released by microseconds though the clock counts milliseconds") {
    val stream = ticks()
    val fine = stream
      .toDF()
      .selectExpr("k", "n", "timestamp_micros(sec) AS ts")
      .withWatermark("ts", "0 seconds")
    val kept = keep(fine, "PARTITION BY (k), 'KEEP ALL', time => 'ts'").where($"k" === "a")
    val written = runBatches(kept, stream)(
      Seq(Tick("a", 5000999, 3), Tick("a", 5000001, 2), Tick("a", 4999999, 1)),
      Seq(Tick("b", 5000999, 9)),
      Seq(Tick("b", 5001000, 9)))
    assert(facts(written.rows).map(_._2) == Seq(1, 2, 3))
  }
}
