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
      newest = Some("2013-07-03T13:05:30.000Z"),
      clock = Some("2013-07-05T12:00:00.250Z"),
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
    assert(
      texts(page, "winops-span") == Seq("Lines run from micro-batch 0 to 1; their bottom is 0."))
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

  test("the watermark has its zone and its lag") {
    val shown = query(Samples.held(Seq(1, 2)))
    val page = read(WindowsHtml.of(Seq(shown)))
    assert(
      texts(page, "winops-fact").takeRight(2) ==
        Seq("watermark 2013-07-03 12:00:00 UTC", "lag 1 h 5 min"))
    assert(
      (page \\ "span").map(_ \@ "title").filter(_.nonEmpty) == Seq(
        "The watermark is 1 h 5 min behind the newest row, 2 d behind the clock."))
    Seq(
      None -> "",
      Some("2013-07-03T12:00:00.020Z") -> "lag 20 ms",
      Some("2013-07-03T11:00:00.000Z") -> "")
      .foreach { case (newest, lag) =>
        val found = texts(read(WindowsHtml.of(Seq(shown.copy(newest = newest)))), "winops-fact")
        assert(found.find(_.startsWith("lag")).getOrElse("") == lag)
      }
  }

  test("one line says what has become of the input rows") {
    def line(window: WindowHistory): Seq[String] =
      texts(read(WindowsHtml.of(Seq(query(window)))), "winops-span winops-rows")
    val plain = Samples.held(Seq(1, 2)).add(Samples.of(2).copy(late = 3, waiting = 1200))
    assert(
      line(plain) == Seq("Input rows of this run: 12 entered, 3 were late, " +
        "0 were refused, 0 were dropped, 1,200 wait."))
    val keyed = plain.add(Samples.of(3).copy(updated = 5, notHeld = 2))
    assert(
      line(keyed) == Seq(
        "Input rows of this run: 16 entered, 5 updated a row, " +
          "0 deleted a row, 2 found no row of their key, 3 were late, 0 were refused, " +
          "0 were dropped, 0 wait."))
    assert(line(WindowHistory(0, "").add(Samples.of(0).copy(inserted = 0))).isEmpty)
  }

  test("a query without a name has its policies as its title, and its id beside them") {
    val window = Samples.held(Seq(1, 2)).copy(policy = "KEEP 2 ROWS PER (symbol)")
    val unnamed = query(window).copy(name = None, id = Some(new UUID(0, 7)))
    val page = read(WindowsHtml.of(Seq(unnamed)))
    assert((page \\ "h4").text == "KEEP 2 ROWS PER (symbol)")
    assert(texts(page, "winops-fact winops-id") == Seq(s"id ${new UUID(0, 7)}"))
    assert(texts(read(WindowsHtml.of(Seq(query(window)))), "winops-fact winops-id").isEmpty)
  }

  test("a query links to its page in Spark's UI if the UI has one") {
    val shown = Seq(query(Samples.held(Seq(1, 2))))
    assert((read(WindowsHtml.of(shown)) \\ "a").isEmpty)
    val page = read(WindowsHtml.of(shown, run => Some(s"../there?id=$run")))
    assert((page \\ "a" \@ "href") == s"../there?id=${new UUID(0, 1)}")
  }

  test("a line has its least and its greatest number, and none of zeros is coloured") {
    val window = Samples.held(Seq(1000, 2500, 2000))
    val page = read(WindowsHtml.of(Seq(query(window))))
    val tiles = (page \\ "div").filter(tile => (tile \@ "class").startsWith("winops-tile "))
    assert((tiles.head \\ "span").map(_.text).takeRight(2) == Seq("min 1,000", "max 2,500"))
    val late = tiles(6)
    assert((late \@ "class") == "winops-tile winops-lost winops-zero winops-flat")
    assert(!late.text.contains("min"))
    // Rows were late before the micro-batches of the line.
    val former = read(WindowsHtml.of(Seq(query(window.copy(late = 3)))))
    assert((former \\ "div").exists(_ \@ "class" == "winops-tile winops-lost winops-flat"))
    val lost = window.add(Samples.of(3).copy(held = 1, late = 3))
    assert(
      !read(WindowsHtml.of(Seq(query(lost)))).toString.contains("winops-lost winops-zero\">3"))
  }

  test("bars of groups are their share of all rows held") {
    val window =
      Samples
        .held(Seq(400))
        .see(Seq(GroupSize("a", 200), GroupSize("b", 200), GroupSize("c", 1)), 0)
    val page = read(WindowsHtml.of(Seq(query(window))))
    assert((page \\ "i").map(_ \@ "style") == Seq("width: 50.0%", "width: 50.0%", "width: 0.3%"))
    val rows = (page \\ "tr").map(row => (row \ "td").map(_.text).filter(_.nonEmpty))
    assert(rows == Seq(Seq("a", "200", "50%"), Seq("b", "200", "50%"), Seq("c", "1", "<1%")))
    // A group that was seen when the window held more.
    val shrunk = read(WindowsHtml.of(Seq(query(window.add(Samples.of(1).copy(held = 100))))))
    assert((shrunk \\ "i").head \@ "style" == "width: 100.0%")
    assert((read(WindowsHtml.of(Seq(query(window.add(Samples.of(1)))))) \\ "i").size == 3)
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
