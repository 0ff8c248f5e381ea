package winops.policy

import org.scalatest.Assertion
import org.scalatest.funsuite.AnyFunSuite
import winops.text.apama.Apama
import winops.text.ccl.Ccl
import winops.text.dialect.Dialect
import winops.text.esper.Esper
import winops.text.spl.Spl

class DescriptionSuite extends AnyFunSuite {
  private val scope = Scope(
    columns = Seq("symbol", "venue", "trade id", "n", "price"),
    kinds = Map("n" -> ColumnKind.WholeNumber, "price" -> ColumnKind.RealNumber))

  private def described(dialect: Dialect, scope: Scope = scope)(texts: (String, String)*): Unit =
    texts.foreach { case (text, sentence) =>
      val policy = dialect.parse(text, scope).fold(e => fail(s"$text: ${e.message}"), identity)
      assert(policy.describe == sentence, text)
    }

  private def column(name: String): RowExpression = RowExpression.Column(name)(0)
  private def computed(sql: String): RowExpression = RowExpression.Computed(sql)(0)

  private val symbol = Seq(column("symbol"))
  private val symbolAndVenue = Seq(column("symbol"), column("venue"))
  private val ts = column("ts")
  private val byPrice = Seq(SortKey(column("price"), descending = true))
  private val byPriceAndTs = byPrice :+ SortKey(ts, descending = false)
  private val second = Span.ofMillis(1000)
  private val tenSeconds = Span.ofMillis(10000)

  private def policy(retention: Retention): Policy =
    Policy(Group.whole, retention, Stream.InsertsThenDeletes, "", "")

  private def policy(window: Window): Policy = policy(Retention.One(window))

  private def window(
      bound: Bound,
      leave: Trigger,
      order: Order = Order.Arrival,
      admit: Admit = Admit.All,
      enter: Trigger = Trigger.EachRow): Window =
    Window(admit, order, bound, Triggers(enter, leave, Trigger.Never))

  private def batch(trigger: Trigger): Window =
    window(Bound.PreviousBatch, trigger, enter = trigger)

  private def says(window: Window, sentence: String): Assertion =
    assert(policy(window).describe == sentence)

  test("CCL") {
    described(Ccl)(
      "KEEP ALL" -> "Keeps every row.",
      "KEEP 1 ROW" -> "Keeps the newest row.",
      "KEEP 100 ROWS" -> "Keeps the newest 100 rows.",
      "KEEP 100 ROWS PER (symbol)" -> "For each symbol, keeps the newest 100 rows.",
      "KEEP 100 ROWS SLACK 10 PER (symbol)" ->
        ("For each symbol, keeps the newest 100 rows; when 110 are held, " +
          "the oldest 10 leave."),
      "KEEP EVERY 10 ROWS" -> "Keeps up to 10 rows; one more makes all the others leave.",
      "KEEP EVERY 1 ROW" -> "Keeps the newest row.",
      "KEEP 10 MINUTES" -> "Keeps rows for 10 minutes.",
      "KEEP 1 MINUTE 1500 MILLISECONDS PER (symbol, venue, `trade id`)" ->
        "For each symbol, venue and `trade id`, keeps rows for 1 minute 1.5 seconds.",
      "KEEP EVERY 100 SECONDS" ->
        "Keeps rows; they all leave together every 1 minute 40 seconds.")
    described(Ccl, scope.copy(origin = Some(Origin.FirstRow)))("KEEP EVERY 1 HOUR" ->
      "Keeps rows; they all leave together every hour, counted from the first row.")
  }

  test("derived-value windows of Esper") {
    described(Esper)(
      "#length(3)#size" -> "Keeps the newest 3 rows; computes how many they are.",
      "#uni(price, n, *)" ->
        ("Keeps every row; computes the count, total, average, variance and standard " +
          "deviations of their price, beside n and all columns of the row that came in last."),
      "#groupwin(symbol)#time(1 sec)#linest(n, price)" ->
        ("For each symbol, keeps rows for 1 second; " +
          "computes the linear regression of their price on their n."),
      "#groupwin(symbol)#length(3)#merge(symbol)#correl(price, n)" ->
        ("For each symbol, keeps the newest 3 rows; computes the correlation of their price " +
          "and n, over all groups together."),
      "select rstream * from S#length(3)#weighted_avg(price, n)" ->
        ("Keeps the newest 3 rows; computes the average of their price weighted by their n; " +
          "only values before a change are told."))
  }

  test("select lists of Esper") {
    described(Esper)(
      "select irstream symbol, count(*) as n from S#length(3) group by symbol, venue" ->
        ("Keeps the newest 3 rows; " +
          "computes symbol and (count(*)) as n for each symbol and venue."),
      "select sum(price) from S#groupwin(symbol)#length(3)" ->
        ("For each symbol, keeps the newest 3 rows; computes (sum(`price`)) as `sum(price)`, " +
          "over all groups together; only values after a change are told."))
  }

  test("Apama") {
    described(Apama)(
      "within 1.5" -> "Keeps rows for 1.5 seconds.",
      "retain 3" -> "Keeps the newest 3 rows.",
      "retain all" -> "Keeps every row.",
      "within 2.5 retain 2" ->
        "Keeps rows until they are 2.5 seconds old or 2 newer ones have come in.",
      "within 0.5 retain 1" ->
        "Keeps rows until they are 500 milliseconds old or a newer one has come in.",
      "within 1.5 every 1.0" ->
        "Keeps rows for 1.5 seconds; they come in and leave together every second.",
      "retain 3 every 2" ->
        "Keeps the newest 3 rows; they come in and leave together with every 2nd row.",
      "retain 1 every 4" ->
        "Keeps the newest row; rows come in and leave together with every 4th row.",
      "partition by symbol within 60.0 every 0.25 retain 5" ->
        ("For each symbol, keeps rows until they are 1 minute old or 5 newer ones have come " +
          "in; they come in and leave together every 250 milliseconds."),
      "partition by venue retain 3 with unique symbol" ->
        ("For each venue, keeps the newest 3 rows; of each symbol only the newest row " +
          "is seen."),
      "retain 2 select v" -> "Keeps the newest 2 rows; only rows that come in are told.",
      "within 1.0 select rstream v" ->
        "Keeps rows for 1 second; only rows that leave are told.")
    described(Apama, scope.copy(origin = Some(Origin.At(250))))(
      "within 1.5 every 1.0" ->
        ("Keeps rows for 1.5 seconds; they come in and leave together every second, " +
          "counted from 1970-01-01T00:00:00.250Z."))
  }

  test("SPL") {
    described(Spl)(
      "tumbling, count(3)" -> "Keeps rows; they all leave together with every 3rd row.",
      "tumbling, time(10)" ->
        "Keeps rows; they all leave together every 10 seconds, counted from the first row.",
      "tumbling, delta(price, 0.5)" ->
        ("Keeps rows; they all leave together before a row whose price is more than 0.5 " +
          "above the oldest row's."),
      "tumbling, punct()" -> "Keeps rows; they all leave together with each window punctuation.",
      "sliding, count(10)" ->
        "Keeps the newest 10 rows; the content is reported with every row.",
      "sliding, count(10), count(5)" ->
        "Keeps the newest 10 rows; the content is reported with every 5th row.",
      "sliding, time(5), time(1)" ->
        ("Keeps rows until they are more than 5 seconds old; the content is reported " +
          "every second, counted from the first row."),
      "sliding, delta(price, 3), delta(n, 2)" ->
        ("Keeps rows, of which the oldest leave while their price is more than 3 below " +
          "the arriving row's; the content is reported before a row whose n is more than " +
          "2 above that of the row that last brought " +
          "a report."))
  }

  test("SPL: whole deltas, which may be those of timestamps") {
    val sentence = "Keeps rows; they all leave together before a row whose when is more than"
    val timed = scope.copy(columns = Seq("when"), kinds = Map("when" -> ColumnKind.Timestamp))
    described(Spl, timed)(
      "tumbling, delta(when, 90)" ->
        (s"$sentence 90000000 (1 minute 30 seconds if it is a timestamp) above the oldest " +
          "row's."),
      "tumbling, delta(when, 0.000999)" -> s"$sentence 999 above the oldest row's.")
  }

  test("SPL: evicted partitions") {
    def evicting(rule: String) = s"sliding, count(9), partitioned, $rule"
    val kept = "Keeps the newest 9 rows; the content is reported with every row"
    described(Spl, scope.copy(isGrouped = true))(
      evicting("partitionAge(90)") ->
        (s"$kept; a group without a new row for 1 minute 30 seconds is forgotten and its " +
          "rows leave."),
      evicting("partitionCount(1)") ->
        (s"$kept; with more than 1 group, those longest without a new row are forgotten " +
          "and their rows leave."),
      evicting("tupleCount(50)") ->
        (s"$kept; with more than 50 rows in all groups, the groups longest without a new " +
          "row are forgotten and their rows leave."))
    described(Spl)(
      "tumbling, count(2), partitioned; param partitionBy : symbol, venue;" ->
        "For each symbol and venue, keeps rows; they all leave together with every 2nd row.")
  }

  test("Esper: windows that rows enter one by one") {
    says(
      window(Bound.TimestampBehind(ts, tenSeconds), Trigger.EachRow),
      "Keeps rows, of which the oldest leave while their ts is 10 seconds or more behind " +
        "the arriving row's.")
    says(
      window(Bound.Everything, Trigger.Quiet(tenSeconds)),
      "Keeps rows; they all leave together when no row has come for 10 seconds.")
    says(
      window(Bound.Fails(computed("current_count <= 5")), Trigger.EachRow),
      "Keeps rows, of which the oldest leave while (current_count <= 5) does not hold for them.")
    says(
      window(Bound.DeadlineReached(ts, tenSeconds), Trigger.WhenDue, Order.Sorted(byPrice)),
      "Keeps rows until it is 10 seconds after their ts, in the order of price descending.")
    says(
      window(Bound.DeadlineReached(ts, Span.ofMillis(0)), Trigger.WhenDue),
      "Keeps rows until it is their ts.")
  }

  test("Esper: order") {
    says(
      window(Bound.MoreThan(10), Trigger.Excess(1), Order.Sorted(byPriceAndTs)),
      "Keeps the first 10 rows by price descending, then ts.")
    says(
      window(Bound.MoreThan(1), Trigger.EachRow, Order.Sorted(byPrice)),
      "Keeps the first row by price descending.")
    says(
      window(Bound.MoreThan(10), Trigger.Excess(2), Order.Sorted(byPrice)),
      "Keeps the first 10 rows by price descending; when 12 are held, the last 2 leave.")
    says(
      window(Bound.MoreThan(10), Trigger.Excess(1), Order.Ranked(symbol, byPrice)),
      "Keeps the first 10 rows by price descending; a row takes the place of the one before " +
        "it of the same symbol.")
    says(
      window(Bound.Unbounded, Trigger.Never, Order.Replacing(symbolAndVenue)),
      "Keeps the newest row of each symbol and venue.")
    says(
      window(Bound.AgeReached(tenSeconds), Trigger.WhenDue, Order.Replacing(symbol)),
      "Keeps rows for 10 seconds; a row takes the place of the one before it of the same " +
        "symbol.")
  }

  test("Esper: rows that do not come in") {
    def first(admit: Admit) = window(Bound.Unbounded, Trigger.Never, admit = admit)
    says(first(Admit.First(1)), "Keeps the first row.")
    says(first(Admit.First(5)), "Keeps the first 5 rows.")
    says(first(Admit.FirstOfEach(symbol)), "Keeps the first row of each symbol.")
    says(
      first(Admit.FirstFor(tenSeconds, Origin.FirstRow)),
      "Keeps the rows of the first 10 seconds, counted from the first row.")
    def slides(admit: Admit) = window(Bound.MoreThan(3), Trigger.Excess(1), admit = admit)
    says(slides(Admit.First(1)), "Keeps the newest 3 rows; only the first row comes in.")
    says(slides(Admit.First(5)), "Keeps the newest 3 rows; only the first 5 rows come in.")
    says(
      slides(Admit.FirstOfEach(symbol)),
      "Keeps the newest 3 rows; a row comes in only while none of the same symbol is held.")
    says(
      slides(Admit.FirstFor(second, Origin.epoch)),
      "Keeps the newest 3 rows; only rows of the first 1 second, counted from " +
        "1970-01-01T00:00:00Z, come in.")
  }

  test("Esper: batches") {
    val lots = "Keeps the newest lot of rows;"
    val change = "a new lot comes in and the old one leaves."
    says(batch(Trigger.EachRows(5)), s"$lots with every 5th row, $change")
    says(
      batch(Trigger.Period(tenSeconds, Origin.FirstRow, forced = true)),
      s"$lots every 10 seconds, counted from the first row, even with nothing to tell, $change")
    says(
      batch(Trigger.PeriodOrRows(tenSeconds, 1, None, forced = false)),
      s"$lots after 10 seconds or 1 row, whichever comes first, at first counted from the " +
        s"first row, $change")
    says(
      batch(Trigger.PeriodOrRows(second, 5, Some(Origin.epoch), forced = true)),
      s"$lots after 1 second or 5 rows, whichever comes first, at first counted from " +
        s"1970-01-01T00:00:00Z, even with nothing to tell, $change")
    says(
      batch(Trigger.Crosses(ts, tenSeconds, None)),
      s"$lots before a row whose ts is past the 10 seconds in which the lot began, counted " +
        s"from the first one, $change")
    says(
      batch(Trigger.Crosses(ts, tenSeconds, Some(1500))),
      s"$lots before a row whose ts is past the 10 seconds in which the lot began, counted " +
        s"from 1970-01-01T00:00:01.500Z, $change")
    says(
      batch(Trigger.Holds(computed("a > 3"), withRow = true)),
      s"$lots with a row for which (a > 3) holds, $change")
    says(
      batch(Trigger.Holds(column("closing"), withRow = false)),
      s"$lots before a row for which closing holds, $change")
  }

  test("Esper: intersections and unions") {
    val windows = Seq(
      window(Bound.MoreThan(100), Trigger.Excess(1)),
      window(Bound.AgeReached(tenSeconds), Trigger.WhenDue),
      window(Bound.Unbounded, Trigger.Never, Order.Replacing(symbol)),
      batch(Trigger.EachRows(3)))
    val items = "(1) the newest 100 rows; (2) rows for 10 seconds; (3) the newest row of each " +
      "symbol; (4) the newest lot of rows, with every 3rd row, a new lot comes in and the " +
      "old one leaves."
    assert(
      policy(Retention.Intersection(windows)).describe ==
        s"A row leaves as soon as one of these lets it go: $items")
    assert(
      policy(Retention.Union(windows)).copy(group = Group(symbol)).describe ==
        s"For each symbol, a row leaves when the last of these lets it go: $items")
  }

  test("several windows that stand apart") {
    val apart = Retention.Independent(
      Seq(
        "few" -> Retention.One(window(Bound.MoreThan(100), Trigger.Excess(1))),
        "young" -> Retention.One(window(Bound.AgeReached(tenSeconds), Trigger.WhenDue)),
        "both" -> Retention.Intersection(
          Seq(
            window(Bound.MoreThan(5), Trigger.Excess(1)),
            window(Bound.AgeReached(tenSeconds), Trigger.WhenDue)))))
    assert(policy(apart).copy(group = Group(symbol)).describe ==
      "For each symbol, in window few, keeps the newest 100 rows; in window young, keeps rows " +
      "for 10 seconds; in window both, a row leaves as soon as one of these lets it go: (1) " +
      "the newest 5 rows; (2) rows for 10 seconds.")
  }

  test("Esper: groups, filters and swept groups") {
    val swept = Reclaim.SweptAtArrival(millis = 10000, everyMillis = 1000)
    val grouped = policy(window(Bound.MoreThan(5), Trigger.Excess(1)))
      .copy(
        group = Group(Seq(computed("upper(symbol)")), Some(swept)),
        filter = Some(computed("price > 3")))
    assert(
      grouped.describe ==
        "Of the rows with (price > 3), for each (upper(symbol)), keeps the newest 5 rows; " +
        "when a row comes, but at most once every second, the groups without a new row for " +
        "more than 10 seconds are dropped without a word.")
  }

  test("pieces that no window has together") {
    says(
      window(Bound.MoreThan(1), Trigger.Excess(2), Order.Sorted(byPrice)),
      "Keeps the first row by price descending; when 3 are held, the last 2 leave.")
    says(window(Bound.Any(Seq(Bound.Unbounded)), Trigger.EachRow), "Keeps every row.")
    says(
      window(Bound.AgeReached(second), Trigger.Never),
      "Keeps rows for 1 second; they never leave.")
    says(
      window(Bound.AgeReached(second), Trigger.EachRow),
      "Keeps rows for 1 second; they leave with every row.")
    says(
      window(Bound.AgeReached(second), Trigger.Excess(2)),
      "Keeps rows for 1 second; they leave with 2 rows too many.")
    says(
      window(Bound.MoreThan(3), Trigger.WhenDue, enter = Trigger.EachRows(2)),
      "Keeps the newest 3 rows; they come in with every 2nd row; they leave when their time " +
        "has come.")
    says(
      window(Bound.PreviousBatch, Trigger.Punctuation, enter = Trigger.Never),
      "Keeps the newest lot of rows; a new lot comes in never; the old one leaves with each " +
        "window punctuation.")
    says(
      window(Bound.Unbounded, Trigger.Never, Order.Sorted(byPrice)),
      "Keeps every row, in the order of price descending.")
    val any = Bound.Any(
      Seq(
        Bound.Unbounded,
        Bound.Any(Seq(Bound.AgeExceeded(second), Bound.Fails(column("ok")))),
        Bound.DeadlineReached(ts, second),
        Bound.ValueBehind(column("n"), Distance.Real(0.5)),
        Bound.Everything,
        Bound.PreviousBatch))
    says(
      window(any, Trigger.WhenDue),
      "Keeps rows until they are more than 1 second old or ok does not hold for them or it is " +
        "1 second after their ts or their n is more than 0.5 below the arriving row's or they " +
        "all leave together or a new lot comes in.")
    val silent = policy(window(Bound.MoreThan(1), Trigger.Excess(1)))
      .copy(stream = Stream(inserts = false, deletes = false, StepOrder.Net))
    assert(silent.describe == "Keeps the newest row; no change is told.")
  }

  test("lengths of time") {
    Seq(
      Span.ofMicros(1) -> "1 microsecond",
      Span.ofMicros(999) -> "999 microseconds",
      Span.ofMicros(1500) -> "1.5 milliseconds",
      Span.ofMillis(1) -> "1 millisecond",
      Span.ofMillis(500) -> "500 milliseconds",
      Span.ofMillis(1000) -> "1 second",
      Span.ofMillis(61500) -> "1 minute 1.5 seconds",
      Span.ofMillis(60500) -> "1 minute 0.5 seconds",
      Span.ofMillis(3600000) -> "1 hour",
      Span.ofMillis(100 * 3600000L) -> "4 days 4 hours",
      Span.ofMillis(0) -> "0 seconds",
      Span(1, 0) -> "1 month",
      Span(26, 86400000000L) -> "2 years 2 months 1 day").foreach { case (span, length) =>
      says(window(Bound.AgeReached(span), Trigger.WhenDue), s"Keeps rows for $length.")
    }
  }

  test("ordinals") {
    Seq(2 -> "2nd", 3 -> "3rd", 11 -> "11th", 12 -> "12th", 13 -> "13th", 21 -> "21st").foreach {
      case (rows, ordinal) =>
        says(
          window(Bound.Everything, Trigger.EachRows(rows.toLong)),
          s"Keeps rows; they all leave together with every $ordinal row.")
    }
    says(
      window(Bound.Everything, Trigger.EachRows(111)),
      "Keeps rows; they all leave together with every 111th row.")
  }

  test("odd names stay on one line") {
    val odd = policy(window(Bound.MoreThan(1), Trigger.Excess(1)))
      .copy(group = Group(Seq(column("a\nb"), computed("x\n+ y"))))
    assert(odd.describe == "For each `a b` and (x + y), keeps the newest row.")
  }
}
