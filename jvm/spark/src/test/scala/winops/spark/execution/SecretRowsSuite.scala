package winops.spark.execution

import scala.util.Try

import org.apache.spark.sql.functions.{col, lit, timestamp_seconds, when}

import winops.spark.testing.SecretRows

/** No failure shows a value of a row, neither in its messages nor in the log. */
class SecretRowsSuite extends SecretRows {
  private val inWindows = Seq(
    "WINOPS_NULL_TIME" -> "'KEEP 5 ROWS', time => 'no_time'",
    "WINOPS_PUNCTUATION" -> "spl => 'tumbling, punct()', punct => 'k'",
    "WINOPS_MAX_ROWS" -> "'KEEP ALL', max_rows => 2",
    "WINOPS_CONTENT_SIZE" -> "'KEEP ALL', output => 'snapshots', max_content => 1",
    "WINOPS_EXPRESSION" -> "esper => '#expr(cast(newest_event.k, int) > 5)'",
    "WINOPS_EXPRESSION" -> "esper => '#sort(3, cast(k, int))'",
    "WINOPS_EXPRESSION" -> "esper => '#unique(cast(k, int))', time => 'ts', idle => '1 day'",
    "WINOPS_EXPRESSION" -> "esper => '#ext_timed(cast(k, long), 5 sec)'",
    "WINOPS_EXPRESSION" -> "esper => '#sort(3, from_utc_timestamp(ts, k))'",
    "WINOPS_EXPRESSION" -> "esper => '#sort(3, date_format(ts, k))'")

  private val besideWindows = Seq(
    "'#groupwin(cast(k, int))#length(3)'",
    "'#groupwin(coalesce(cast(k, int), cast(k, int) + 1), cast(k, int) + 1)#length(3)'",
    "'#groupwin(cast(k, int))#length(3)#merge(cast(k, int))#size', output => 'agg'",
    "'#length(3)#uni(cast(k, double))', output => 'agg'",
    "'select sum(cast(k, int)) from S#length(3)', output => 'agg'",
    "'select count(distinct cast(k, int)) from S#length(3)', output => 'agg'",
    "'select cast(max(k), int) from S#length(3)', output => 'agg'",
    "'select count(*) from S#length(3) group by cast(k, int)', output => 'agg'",
    "'select * from S(cast(k, int) > 5)#length(3)'",
    "'select * from S(n >= 0 and n / (n - 3) < cast(k, int))#length(3)'")

  private val failing =
    inWindows.map { case (condition, arguments) =>
      condition -> s"PARTITION BY (k) ORDER BY (n), $arguments"
    } ++ besideWindows.map { arguments =>
      "WINOPS_EXPRESSION" -> s"WITH SINGLE PARTITION ORDER BY (n), esper => $arguments"
    }

  failing.foreach { case (condition, arguments) =>
    test(s"$condition of $arguments") {
      failsInSilence(condition) {
        val rows = spark
          .range(0, 8, 1, 1)
          .select(
            // A constant would fail before tasks start.
            when(col("id") >= 0, lit(Secret)).as("k"),
            timestamp_seconds(col("id")).as("ts"),
            when(lit(false), timestamp_seconds(col("id"))).as("no_time"),
            col("id").as("n"))
        Try(keep(rows, arguments).collect())
          .fold(identity, _ => fail("the query did not fail"))
      }
    }
  }
}
