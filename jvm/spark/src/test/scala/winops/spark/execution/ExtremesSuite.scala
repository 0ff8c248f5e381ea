package winops.spark.execution

import org.apache.spark.sql.{AnalysisException, DataFrame, Row}
import org.apache.spark.sql.functions._

import winops.spark.testing.{CompiledCode, KeepStreamTest, Tick}
import winops.testing.TableTests

/** Unusually large rows, many groups and distant instants. */
class ExtremesSuite extends KeepStreamTest with CompiledCode with TableTests {
  import ExtremesSuite._
  import testImplicits._

  testEach("strings of ten megabytes, over restarts", short = 1)(
    "esper => '#sort(2, n desc)'" -> KeepStreamTest.rocksDb,
    "'KEEP 2 ROWS'" -> KeepStreamTest.hdfs) { case (window, provider) =>
    withSQLConf(provider) {
      withTempDir { dir =>
        val stream = ticks()
        val large = stream.toDF().withColumn("text", repeat($"n".cast("string"), LongText))
        val lengths = keep(large, s"PARTITION BY (k), $window")
          .select($"_change_type", $"n", length($"text"), $"text" === expr(SameText))
        val written = new Written
        Seq(Seq(1, 2), Seq(3, 4)).foreach { numbers =>
          stream.addData(numbers.map(Tick("a", 0, _)))
          runAll(lengths, dir.getCanonicalPath, written)
        }
        val expected = (1 to 4).map(Row("insert", _, LongText, true)) ++
          (1 to 2).map(Row("delete", _, LongText, true))
        assert(written.rows.toSet == expected.toSet)
      }
    }
  }

  test("a thousand columns") {
    val rows = (1 to 10).map(n => Tick(s"${n % 2}", 0, n))
    // A sample of the columns of every type; all columns are kept.
    val sample = 1 to Columns by 37
    val some = "n" +: sample.map(i => s"c$i")
    val stream = ticks()
    val changes = keep(wideOf(stream.toDF(), 1 to Columns), "PARTITION BY (k), 'KEEP 3 ROWS'")
      .select("_change_type", some: _*)
    val written = new Written
    withTempDir { dir =>
      rows.grouped(5).foreach { batch =>
        stream.addData(batch)
        runAll(changes, dir.getCanonicalPath, written)
      }
    }
    val expected = wideOf(rows.toDF(), sample).select(some.head, some.tail: _*).collect().toSeq
    val emitted = written.rows.map(row => (row.getString(0), Row.fromSeq(row.toSeq.tail)))
    assert(
      emitted.toSet == (expected.map("insert" -> _) ++ expected.take(4).map("delete" -> _)).toSet)
  }

  test("a hundred thousand groups that expire at one instant") {
    withSQLConf(KeepStreamTest.rocksDb) {
      val stream = ticks()
      val kept = keep(
        timed(stream),
        "PARTITION BY (k), 'KEEP 10 SECONDS', time => 'ts', apply => 'arrival', " +
          "idle => '15 seconds'")
      val emitted =
        kept.where($"k" =!= "z").select($"_change_type", unix_seconds($"_change_time"))
      withTempDir { dir =>
        stream.addData((0 until Groups).map(n => Tick(s"$n", 5, n)))
        assert(runAll(emitted, dir.getCanonicalPath).rows == Seq.fill(Groups)(Row("insert", 5L)))
        stream.addData(Tick("z", 1000, 0))
        val query = start(emitted, dir.getCanonicalPath, new Written)
        try {
          query.processAllAvailable()
          eventually(timeout(streamingTimeout)) {
            val batches = progressOf(query).map(_.stateOperators.head.customMetrics)
            assert(batches.map(_.get("rowsDeleted").toInt).filter(_ > 0) == Seq(Groups))
            assert(batches.map(_.get("groupsExpired").toInt).filter(_ > 0) == Seq(Groups))
            assert(batches.last.get("groups") == 1L)
          }
        } finally query.stop()
      }
    }
  }

  test("an idle time that no clock reaches is refused by name, and the longest is not") {
    val df = Seq(Tick("a", 1, 1)).toDF().select($"k", timestamp_seconds($"sec").as("ts"), $"n")
    def forgotten(idle: String): DataFrame =
      keep(df, s"PARTITION BY (k), 'KEEP 1 ROW', time => 'ts', idle => '$idle'")
    assert(forgotten("106751991 days").count() == 1)
    Seq("106751992 days", "200000000 days", "178956970 years").foreach { idle =>
      val error = intercept[AnalysisException](forgotten(idle))
      assert(error.getCondition == "WINOPS_ARGUMENT.VALUE", idle)
    }
    val late = df.withColumn("ts", timestamp_micros(lit(Long.MaxValue)))
    val lasting = "PARTITION BY (k), 'KEEP 100000 DAYS', time => 'ts', idle => '106751991 days'"
    assert(keep(late, lasting).count() == 1)
  }

  private def wideOf(df: DataFrame, numbers: Seq[Int]): DataFrame = {
    val columns = numbers.map { i =>
      (i % 4 match {
        case 0 => $"n" * i
        case 1 => concat($"k", lit(s" $i"))
        case 2 => when($"n" % 3 =!= 0, $"n" / i)
        case _ => lit(null).cast("date")
      }).as(s"c$i")
    }
    df.select(($"k" +: $"sec" +: $"n" +: columns): _*)
  }
}

private object ExtremesSuite {
  val LongText = 10 * 1000 * 1000
  val SameText = s"repeat(CAST(n AS STRING), $LongText)"
  val Columns = 1000
  val Groups = 100000
}
