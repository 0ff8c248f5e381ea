package winops.spark.over

import java.time.Instant

import org.apache.spark.sql.{AnalysisException, DataFrame}
import org.apache.spark.sql.internal.SQLConf

import winops.testing.Longer

/** Window functions over times around changes of the clock, and over times without a zone. */
class OverTimesSuite extends OverStreamTest {
  import OverTimesSuite._
  import testImplicits._

  Seq("in spring" -> Spring, "in autumn" -> Autumn).foreach { case (change, instant) =>
    test(
      s"intervals of days and months where the clock changes $change",
      Longer.unless(instant == Autumn): _*) {
      val rows = around(instant)
      withSQLConf(SQLConf.SESSION_LOCAL_TIMEZONE.key -> Zone) {
        val expected = onTable(rows)(query)
        assert(expected.size == rows.size)
        val (first, second) = rows.grouped(rows.size / 5).toSeq.splitAt(3)
        assertSameRows(onStream(Seq(first, second))(query), expected, change)
      }
    }
  }

  test("a time without a zone has no watermark, and may be a further sort key") {
    val rows = around(Autumn).take(30)
    val stream = memoryStream[Quote]
    val local = withTimeOf(stream.toDF()).withColumn("local", $"ts".cast("timestamp_ntz"))
    val byLocal = "lag(n) OVER (PARTITION BY k ORDER BY local)"
    Seq(
      "EVENT_TIME_IS_NOT_ON_TIMESTAMP_TYPE" -> (() => local.withWatermark("local", "0 seconds")),
      "WINOPS_OVER" -> (() => local.withWatermark("ts", "0 seconds"))).foreach {
      case (condition, watermarked) =>
        val error = intercept[AnalysisException] {
          watermarked().createOrReplaceTempView(View)
          withTempDir { checkpoint =>
            val df = spark.sql(s"SELECT seq, $byLocal FROM $View")
            start(df, checkpoint.getCanonicalPath, new Written).stop()
          }
        }
        assert(error.getCondition == condition)
    }
    def further = spark.sql(
      "SELECT seq, lag(n) OVER (PARTITION BY k ORDER BY ts, CAST(ts AS TIMESTAMP_NTZ) DESC) AS b " +
        s"FROM $View")
    assertSameRows(onStream(Seq(rows.grouped(10).toSeq))(further), onTable(rows)(further), "")
  }

  private def query: DataFrame = {
    val columns = Frames.zipWithIndex.map { case (frame, i) =>
      s"sum(n) OVER (PARTITION BY k ORDER BY ts RANGE BETWEEN $frame) AS c$i"
    }
    spark.sql(s"SELECT seq, ${columns.mkString(", ")} FROM $View")
  }
}

private object OverTimesSuite {
  val Zone = "Europe/Berlin"

  /** A time before the clocks change. */
  val Spring = "2026-03-29T01:00:00Z"
  val Autumn = "2026-10-25T01:00:00Z"

  val Frames: Seq[String] = Seq(
    "INTERVAL 1 DAY PRECEDING AND CURRENT ROW",
    "INTERVAL 25 HOURS PRECEDING AND INTERVAL 3 HOURS PRECEDING",
    "INTERVAL 1 MONTH PRECEDING AND CURRENT ROW",
    "INTERVAL 12 HOURS PRECEDING AND INTERVAL 24 HOURS FOLLOWING",
    "CURRENT ROW AND INTERVAL 2 DAYS FOLLOWING")

  /** Rows of 40 days before a change of the clock and some days after it, many of them in the
    * hours of the change.
    */
  def around(change: String): Seq[Quote] = {
    val middle = Instant.parse(change)
    val hours = (-40 * 24 to 4 * 24 by 17).map(_ * 3600L)
    val minutes = (-28 * 60 to 28 * 60 by 97).map(_ * 60L)
    val near = (-5 * 60 to 5 * 60 by 20).map(_ * 60L)
    (hours ++ minutes ++ near).distinct.sorted.zipWithIndex.map { case (seconds, i) =>
      val at = middle.plusSeconds(seconds)
      Quote("a", at.getEpochSecond * 1000000L, i, Some(1 << (i % 20)), None, None)
    }
  }
}
