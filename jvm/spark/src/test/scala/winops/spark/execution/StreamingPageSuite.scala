package winops.spark.execution

import java.net.URI
import java.net.http.{HttpClient, HttpRequest, HttpResponse}

import org.apache.spark.SparkConf
import org.apache.spark.sql.internal.StaticSQLConf.ENABLED_STREAMING_UI_CUSTOM_METRIC_LIST

import winops.spark.internal.KeepMetrics
import winops.spark.testing.{KeepStreamTest, Tick}

/** The metrics of `keep` in the graphs of Spark's page for a streaming query. */
class StreamingPageSuite extends KeepStreamTest {
  private val ofSpark = Seq("stateOnCurrentVersionSizeBytes", "numDroppedDuplicateRows")

  override protected def sparkConf: SparkConf = super.sparkConf
    .set("spark.ui.enabled", "true")
    .set("spark.ui.port", "0")
    .set(
      ENABLED_STREAMING_UI_CUSTOM_METRIC_LIST.key,
      (KeepMetrics.inProgress.map(_._1) ++ ofSpark).mkString(","))

  test("every metric has a graph, beside other stateful operators too") {
    val policy = "PARTITION BY (k) ORDER BY (n), 'KEEP 2 ROWS', time => 'ts'"
    val stream = ticks()
    val alone = keep(timed(stream), policy)
    val above = keep(timed(stream).dropDuplicates("k", "n", "ts"), policy)
    val below = keep(timed(stream), policy).dropDuplicates("k", "_change_seq", "_change_time")
    Seq(alone, above, below).zipWithIndex.foreach { case (kept, i) =>
      val query = kept.writeStream.format("noop").start()
      try {
        stream.addData(Tick("a", i.toLong, 1), Tick("a", i + 9L, 2))
        query.processAllAvailable()
        val page = get(s"/StreamingQuery/statistics/?id=${query.runId}")
        assert(page.statusCode == 200, page.body)
        (KeepMetrics.inProgress :+ (ofSpark.head -> "")).foreach { case (name, text) =>
          assert(page.body.contains(s"Aggregated Custom Metric $name "), s"$i, $name")
          assert(page.body.contains(text), s"$i, $name")
        }
        assert(page.body.contains(ofSpark(1)) == i > 0)
      } finally query.stop()
    }
    assert(get("/StreamingQuery/").statusCode == 200)
  }

  private def get(path: String): HttpResponse[String] = {
    val address = URI.create(spark.sparkContext.uiWebUrl.get + path)
    HttpClient
      .newBuilder()
      .followRedirects(HttpClient.Redirect.ALWAYS)
      .build()
      .send(HttpRequest.newBuilder(address).build(), HttpResponse.BodyHandlers.ofString())
  }
}
