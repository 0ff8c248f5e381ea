package winops.spark.execution

import java.net.URI
import java.net.http.{HttpClient, HttpRequest, HttpResponse}

import scala.io.Source
import scala.util.Using

import org.json4s._
import org.json4s.jackson.JsonMethods.parse

import org.apache.spark.SparkConf
import org.apache.spark.sql.execution.streaming.runtime.MemoryStream
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streaming.StreamingQuery
import org.apache.spark.sql.winops.live.LiveBus

import winops.spark.internal.KeepMetrics
import winops.spark.live.LiveMetric
import winops.spark.testing.{KeepStreamTest, Tick}

/** The tab "Windows" of Spark's UI, its JSON, and the gauges. */
class LiveSuite extends KeepStreamTest {
  import testImplicits._

  private implicit val formats: Formats = DefaultFormats
  private val policy = "PARTITION BY (k) ORDER BY (n), 'KEEP 2 ROWS', time => 'ts'"

  override protected def sparkConf: SparkConf = super.sparkConf
    .set("spark.ui.enabled", "true")
    .set("spark.ui.port", "0")
    .set(SQLConf.STREAMING_METRICS_ENABLED.key, "true")
    .set(
      "spark.metrics.conf.*.sink.prometheusServlet.class",
      "org.apache.spark.metrics.sink.PrometheusServlet")
    .set("spark.metrics.conf.*.sink.prometheusServlet.path", "/metrics/prometheus")

  private def get(path: String): HttpResponse[String] = {
    val address = URI.create(spark.sparkContext.uiWebUrl.get + path)
    HttpClient
      .newBuilder()
      .followRedirects(HttpClient.Redirect.ALWAYS)
      .build()
      .send(HttpRequest.newBuilder(address).build(), HttpResponse.BodyHandlers.ofString())
  }

  /** The JSON of a query, after the listeners have received all events. */
  private def shown(query: StreamingQuery): JValue = {
    LiveBus.drain(spark.sparkContext)
    val JArray(queries) = parse(get("/windows/json/").body) \ "queries": @unchecked
    queries.find(one => (one \ "runId").extract[String] == query.runId.toString).get
  }

  private def gauges: Map[String, Double] =
    get("/metrics/prometheus/").body.linesIterator.collect {
      case line if line.contains("_winops_") && line.contains("_Value{") =>
        line.takeWhile(_ != '{') -> line.split(' ').last.toDouble
    }.toMap

  private def metrics(window: JValue): Map[String, Double] =
    (window \ "metrics").extract[Map[String, Double]]

  test("page, JSON, gauges and progress show the same numbers") {
    val stream = ticks()
    val query =
      keep(timed(stream), policy).writeStream.queryName("live").format("noop").start()
    try {
      stream.addData((1 to 5).map(i => Tick("a", i.toLong, i)) :+ Tick("<b>", 3, 1))
      query.processAllAvailable()
      stream.addData(Tick("a", 9, 6), Tick("a", 2, 7))
      query.processAllAvailable()
      val json = shown(query)
      assert((json \ "name").extract[String] == "live")
      assert((json \ "status").extract[String] == "running")
      assert((json \ "watermark").extract[String] == "1970-01-01T00:00:09.000Z")
      assert((json \ "newestEventTime").extract[String] == "1970-01-01T00:00:09.000Z")
      val JArray(List(window)) = json \ "windows": @unchecked
      assert((window \ "policy").extract[String].startsWith("KEEP 2 ROWS"))
      assert(
        (window \ "description").extract[String] ==
          "For each `k`, keeps the newest 2 rows. Applies rows in the order of `ts`; on a " +
          "stream, when the watermark has passed them.")
      val shownNumbers = metrics(window)
      assert(shownNumbers.keySet == LiveMetric.all.map(_.name).toSet)
      assert(shownNumbers("rowsHeld") == 4 && shownNumbers("rowsWaiting") == 1)
      assert(shownNumbers("groups") == 2 && shownNumbers("rowsLateTotal") == 1)
      assert(shownNumbers("rowsOfLargestGroup") == 3)
      assert(shownNumbers("stateBytesWrittenPerRow") > 10)
      assert(
        (window \ "largestGroups").children
          .map(group => ((group \ "group").extract[String], (group \ "rows").extract[Long]))
          .toMap ==
          Map("a" -> 3, "<b>" -> 1))

      // Each micro-batch of the history is one of the progress.
      val batches = progressOf(query).map { progress =>
        val own = progress.stateOperators.head.customMetrics
        Seq(KeepMetrics.Inserted, KeepMetrics.Held, KeepMetrics.LargestGroup).map(
          own.get(_).toLong)
      }
      assert((window \ "history").children.map { sample =>
        Seq("rowsInserted", "rowsHeld", "rowsOfLargestGroup").map(name =>
          (sample \ name).extract[Long])
      } == batches)

      val operator = (window \ "operatorId").extract[Long]
      assert(
        gauges.map { case (name, value) => name.split("driver_").last -> value } ==
          shownNumbers.map { case (name, value) =>
            s"winops_live_windows_${operator}_${name}_Value" -> value
          })
      val page = get("/windows/?refresh=5")
      assert(page.statusCode == 200, page.body)
      assert(page.body.contains(">live</h4>") && page.body.contains("&lt;b&gt;</td>"))
      assert(page.body.contains("http-equiv=\"refresh\""))
      val link = s"../StreamingQuery/statistics/?id=${query.runId}"
      assert(page.body.contains(s"""href="$link""""))
      val ofSpark = get(s"/windows/$link")
      assert(ofSpark.statusCode == 200 && ofSpark.body.contains(query.runId.toString))
    } finally query.stop()
    LiveBus.drain(spark.sparkContext)
    assert((shown(query) \ "status").extract[String] == "finished")
    assert(gauges.isEmpty)
  }

  test("a query with two operators shows both, in the order of its progress") {
    val stream = ticks()
    stream.toDF().createOrReplaceTempView("ticks_of_over")
    withSQLConf("spark.winops.over.arrivalOrder" -> "true") {
      val means = spark.sql(
        "SELECT k, n, avg(n) OVER (PARTITION BY k ORDER BY n ROWS 1 PRECEDING) AS mean " +
          "FROM ticks_of_over")
      val query = keep(means, "WITH SINGLE PARTITION ORDER BY (n), 'KEEP 3 ROWS'").writeStream
        .format("noop")
        .start()
      try {
        stream.addData((1 to 6).map(i => Tick("a", 0, i)))
        query.processAllAvailable()
        val json = shown(query)
        assert((json \ "name").extractOpt[String].isEmpty)
        val page = get("/windows/").body
        assert(page.contains("OVER (PARTITION BY k ORDER BY n") && page.contains("KEEP 3 ROWS"))
        val windows = (json \ "windows").children
        assert(
          windows.map(window => (window \ "description").extract[String]).toSet == Set(
            "Keeps the newest 3 rows.",
            "Adds `avg(n) ROWS BETWEEN 1 PRECEDING AND CURRENT ROW` to each row, over the rows " +
              "of each `k` in the order of `n`."))
        val held = query.lastProgress.stateOperators.map(_.customMetrics.get(KeepMetrics.Held))
        assert(windows.map(metrics(_)("rowsHeld").toLong) == held.map(_.toLong).toSeq)
        val Some(all) = windows.find(window =>
          (window \ "description").extract[String].startsWith("Keeps")): @unchecked
        assert(((all \ "largestGroups")(0) \ "group").extract[String] == "all rows")
      } finally query.stop()
    }
  }

  test("a query that fails is shown as failed, and one without winops is not shown") {
    val stream = ticks()
    val failing = keep(stream.toDF(), "PARTITION BY (k), 'KEEP 2 ROWS'").writeStream
      .foreachBatch { (rows: org.apache.spark.sql.DataFrame, batch: Long) =>
        if (batch == 1) throw new IllegalStateException("as the test wants")
        val _ = rows.collect()
      }
      .start()
    stream.addData(Tick("a", 0, 1))
    failing.processAllAvailable()
    stream.addData(Tick("a", 0, 2))
    intercept[Exception](failing.processAllAvailable())
    assert((shown(failing) \ "status").extract[String] == "failed")

    val plain = stream.toDF().writeStream.format("noop").start()
    try plain.processAllAvailable()
    finally plain.stop()
    LiveBus.drain(spark.sparkContext)
    assert(!get("/windows/json/").body.contains(plain.runId.toString))
  }

  test("queries of one name in two sessions have gauges of their own") {
    val twins = Seq(spark, spark.newSession()).map { session =>
      val stream = new MemoryStream[Tick](0, session)
      stream.toDF().createOrReplaceTempView("twin_ticks")
      val rows =
        session.sql("SELECT * FROM keep(TABLE(twin_ticks) PARTITION BY (k), 'KEEP 2 ROWS')")
      (stream, rows.writeStream.queryName("twin").format("noop").start())
    }
    def held: Seq[Double] =
      gauges.collect { case (name, rows) if name.contains("rowsHeld") => rows }.toSeq.sorted
    try {
      twins.zipWithIndex.foreach { case ((stream, query), i) =>
        stream.addData((0 to i).map(n => Tick("a", 0, n)))
        query.processAllAvailable()
        LiveBus.drain(spark.sparkContext)
      }
      assert(held == Seq(1, 2))
      twins.head._2.stop()
      LiveBus.drain(spark.sparkContext)
      assert(held == Seq(2))
    } finally twins.foreach { case (_, query) => query.stop() }
    LiveBus.drain(spark.sparkContext)
    assert(gauges.isEmpty)
  }

  test("a query has gauges if the setting is on when it starts") {
    def gaugesOf(isOn: Boolean): Set[String] =
      withSQLConf(SQLConf.STREAMING_METRICS_ENABLED.key -> isOn.toString) {
        val stream = ticks()
        val query = keep(stream.toDF(), "PARTITION BY (k), 'KEEP 2 ROWS'").writeStream
          .queryName(s"switched$isOn")
          .format("noop")
          .start()
        try {
          // What the setting becomes later does not matter.
          spark.conf.set(SQLConf.STREAMING_METRICS_ENABLED.key, !isOn)
          stream.addData(Tick("a", 0, 1))
          query.processAllAvailable()
          assert((shown(query) \ "status").extract[String] == "running")
          gauges.keySet.filter(_.contains("switched"))
        } finally query.stop()
      }
    assert(gaugesOf(isOn = false).isEmpty)
    assert(gaugesOf(isOn = true).size == LiveMetric.all.size)
    assert(gaugesOf(isOn = false).isEmpty)
  }

  test("the Grafana dashboard names gauges that exist, and all of them") {
    val text = Using.resource(Source.fromFile("deploy/grafana/winops.json"))(_.mkString)
    val dashboard = parse(text)
    val queries = (dashboard \\ "expr").filterField(_ => true).collect {
      case (_, JString(query)) => query
    }
    assert(queries.nonEmpty)
    val named =
      queries.flatMap("_windows_\\.\\+_(\\w+)_Value".r.findAllMatchIn(_).map(_.group(1)))
    assert(named.toSet == LiveMetric.all.map(_.name).toSet)
  }
}
