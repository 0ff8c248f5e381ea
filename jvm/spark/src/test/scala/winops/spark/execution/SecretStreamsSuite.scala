package winops.spark.execution

import winops.spark.testing.{SecretRows, Tick}

/** No failure of a stream shows a value of a row, neither in its messages nor in the log. */
class SecretStreamsSuite extends SecretRows {
  private val failing = Seq(
    "WINOPS_MAX_ROWS" -> "'KEEP ALL', max_rows => 2",
    "WINOPS_CONTENT_SIZE" -> "'KEEP ALL', output => 'snapshots', max_content => 1",
    "WINOPS_EXPRESSION" -> "esper => '#expr(cast(newest_event.k, int) > 5)'",
    "WINOPS_EXPRESSION" -> "esper => '#sort(3, cast(k, int))'",
    "WINOPS_EXPRESSION" -> "esper => '#unique(cast(k, int))', idle => '1 day'",
    "WINOPS_EXPRESSION" -> "esper => '#sort(3, from_utc_timestamp(ts, k))'")

  failing.foreach { case (condition, arguments) =>
    test(s"$condition of $arguments") {
      failsInSilence(condition) {
        val stream = ticks()
        stream.addData((1 to 4).map(n => Tick(Secret, n.toLong, n)): _*)
        val kept =
          keep(timed(stream), s"PARTITION BY (k) ORDER BY (n), $arguments, time => 'ts'")
        var failure: Throwable = null
        withTempDir(folder => failure = failureOf(kept, folder.getCanonicalPath))
        failure
      }
    }
  }
}
