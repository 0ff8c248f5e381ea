package winops.spark.live

import java.util.UUID

import scala.xml.{Elem, XML}

import org.scalatest.funsuite.AnyFunSuite

import winops.spark.internal.GroupSize

class WindowsHtmlSuite extends AnyFunSuite {
  private val attack = """<script>alert('&"')</script>"""

  private def query(window: WindowHistory, title: String = "trades"): QueryHistory =
    QueryHistory(
      new UUID(0, 1),
      name = Some(title),
      batch = 3,
      batches = 4,
      watermark = Some("2013-07-03T12:00:00.000Z"),
      windows = Vector(window))

  /** The page as a browser reads it. */
  private def read(page: Elem): Elem = XML.loadString(page.toString)

  private def texts(page: Elem, of: String): Seq[String] =
    (page \\ "_").filter(_ \@ "class" == of).map(_.text)

  test("texts of users are escaped") {
    val window = Samples
      .held(Seq(1, 2))
      .copy(description = s"Keeps rows while `$attack` is true.")
      .see(Seq(GroupSize(attack, 2)), 1)
    val page = WindowsHtml.of(Seq(query(window, title = attack)))
    assert(!page.toString.contains("<script"))
    val seen = read(page)
    assert((seen \\ "h4").text == attack)
    assert((seen \\ "code").text == attack)
    assert((seen \\ "td").head.text == attack)
    assert((seen \\ "script").isEmpty)
  }

  test("a window shows its sentence, its numbers, and lines of its history") {
    val held = Samples.held(Seq(1000, 2500)).copy(refused = 12345678, dropped = 7)
    val page = read(WindowsHtml.of(Seq(query(held))))
    assert(texts(page, "winops-text") == Seq("Keeps every row."))
    assert(
      texts(page, "winops-label") == Seq(
        "Rows held",
        "Groups",
        "Inserts per second",
        "Deletes per second",
        "Bytes written per row",
        "Waiting rows",
        "Late rows",
        "Refused rows",
        "Dropped rows",
        "Batch in ms"))
    assert(
      texts(page, "winops-value") ==
        Seq("2,500", "0", "4", "2", "64", "0", "0", "12.3 M", "7", "1,000"))
    assert((page \\ "polyline").size == 10)
    assert((page \\ "title").head.text == "Rows held, last 2 micro-batches: 1,000 to 2,500")
    assert(texts(page, "winops-fact").last == "watermark 2013-07-03 12:00:00")
    assert(texts(page, "winops-alert").isEmpty)
    val first = query(held).copy(watermark = Some("1970-01-01T00:00:00.000Z"))
    assert(!WindowsHtml.of(Seq(first)).text.contains("watermark"))
  }

  test("alerts, queries that have ended, and queries without a micro-batch are shown") {
    val rising = Samples.held(1L to 100L)
    val ended = query(rising, "former").copy(status = QueryStatus.Finished)
    val failed = query(rising, "broken").copy(status = QueryStatus.Failed)
    val started = QueryHistory(new UUID(0, 2), windows = Vector(WindowHistory(0, "")))
    val page = read(WindowsHtml.of(Seq(ended, failed, query(rising), started)))
    assert((page \\ "h4").map(_.text) == Seq(started.run.toString, "trades", "broken", "former"))
    assert(texts(page, "winops-status") == Seq("running", "running", "failed", "finished"))
    assert(texts(page, "winops-alert").size == 3)
    assert((page \\ "p").exists(_.text == "The first micro-batch has not ended yet."))
  }

  test("without a query the page says so") {
    val page = read(WindowsHtml.of(Nil))
    assert((page \\ "p").text == "No streaming query with keep or window functions has run yet.")
  }

  test("a line reaches from the bottom to the top") {
    val line = new Sparkline(100, 30)
    assert(
      (line.of(Seq(0, 5, 10), "") \\ "polyline" \@ "points") == "2.0,28.0 50.0,15.0 98.0,2.0")
    assert((line.of(Seq(0, 0), "") \\ "polyline" \@ "points") == "2.0,28.0 98.0,28.0")
    assert((line.of(Seq(1), "") \\ "polyline").isEmpty)
  }
}
