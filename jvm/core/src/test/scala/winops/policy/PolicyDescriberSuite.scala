package winops.policy

import winops.terms.{Distance, Origin, RowExpression, SortKey, Span, StepOrder, Stream}
import winops.testing.TableTests
import winops.text.apama.Apama
import winops.text.ccl.Ccl
import winops.text.dialect.Dialect
import winops.text.esper.Esper
import winops.text.spl.Spl
import winops.window.piece._

class PolicyDescriberSuite extends TableTests {
  private val scope = Scope(
    columns = Seq("symbol", "venue", "trade id", "n", "price"),
    kinds = Map("n" -> ColumnKind.WholeNumber, "price" -> ColumnKind.RealNumber))

  private def described(name: String, dialect: Dialect, scope: Scope = scope)(
      texts: (String, String)*): Unit =
    testEach(name)(texts: _*) { case (text, sentence) =>
      val policy = dialect.parse(text, scope).fold(e => fail(e.message), identity)
      assert(policy.describe == sentence)
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
      order: Order = Arrival,
      admit: Admit = EveryRow,
      enter: Trigger = EachRow): Window =
    Window(admit, order, bound, Triggers(enter, leave, Never))

  private def batch(trigger: Trigger): Window =
    window(PreviousBatch, trigger, enter = trigger)

  private def says(name: String)(windows: (Window, String)*): Unit =
    testEach(name)(windows.map(_.swap): _*) { case (sentence, window) =>
      assert(policy(window).describe == sentence)
    }

  described("CCL", Ccl)(
    "KEEP ALL" -> "Keeps every row.",
    "KEEP 1 ROW" -> "Keeps the newest row.",
    "KEEP 100 ROWS" -> "Keeps the newest 100 rows.",
    "KEEP 100 ROWS PER (symbol)" -> "For each `symbol`, keeps the newest 100 rows.",
    "KEEP 100 ROWS SLACK 10 PER (symbol)" ->
      ("For each `symbol`, keeps the newest 100 rows; evicts the oldest 10 rows when the " +
        "window holds 110."),
    "KEEP EVERY 10 ROWS" -> "Collects up to 10 rows; the next row evicts all of them.",
    "KEEP EVERY 1 ROW" -> "Keeps the newest row.",
    "KEEP 10 MINUTES" -> "Keeps each row for 10 minutes.",
    "KEEP 1 MINUTE 1500 MILLISECONDS PER (symbol, venue, `trade id`)" ->
      "For each `symbol`, `venue` and `trade id`, keeps each row for 1 minute 1.5 seconds.",
    "KEEP EVERY 100 SECONDS" ->
      "Collects rows and removes all of them every 1 minute 40 seconds.")

  described("CCL: origin", Ccl, scope.copy(origin = Some(Origin.FirstRow)))(
    "KEEP EVERY 1 HOUR" ->
      "Collects rows and removes all of them every hour, counted from the first row.")

  described("derived-value windows of Esper", Esper)(
    "#length(3)#size" -> "Keeps the newest 3 rows; computes the number of rows.",
    "#uni(price, n, *)" ->
      ("Keeps every row; computes the count, total, average, variance and standard " +
        "deviations of `price`, with `n` and all columns of the row that arrived last."),
    "#groupwin(symbol)#time(1 sec)#linest(n, price)" ->
      ("For each `symbol`, keeps each row for 1 second; " +
        "computes the linear regression of `price` on `n`."),
    "#groupwin(symbol)#length(3)#merge(symbol)#correl(price, n)" ->
      ("For each `symbol`, keeps the newest 3 rows; computes the correlation of `price` " +
        "and `n`, over all groups together."),
    "select rstream * from S#length(3)#weighted_avg(price, n)" ->
      ("Keeps the newest 3 rows; computes the average of `price` weighted by `n`; " +
        "emits only the values before a change."))

  described("select lists of Esper", Esper)(
    "select irstream symbol, count(*) as n from S#length(3) group by symbol, venue" ->
      ("Keeps the newest 3 rows; " +
        "computes `symbol` and (count(*)) as `n` for each `symbol` and `venue`."),
    "select sum(price) from S#groupwin(symbol)#length(3)" ->
      ("For each `symbol`, keeps the newest 3 rows; computes (sum(`price`)) as `sum(price)`, " +
        "over all groups together; emits only the values after a change."))

  described("Apama", Apama)(
    "within 1.5" -> "Keeps each row for 1.5 seconds.",
    "retain 3" -> "Keeps the newest 3 rows.",
    "retain all" -> "Keeps every row.",
    "within 2.5 retain 2" ->
      "Keeps each row until it is 2.5 seconds old or 2 newer rows have arrived.",
    "within 0.5 retain 1" ->
      "Keeps each row until it is 500 milliseconds old or a newer row has arrived.",
    "within 1.5 every 1.0" ->
      "Keeps each row for 1.5 seconds; inserts and evicts rows together every second.",
    "retain 3 every 2" ->
      "Keeps the newest 3 rows; inserts and evicts rows together at every 2nd row.",
    "retain 1 every 4" ->
      "Keeps the newest row; inserts and evicts rows together at every 4th row.",
    "partition by symbol within 60.0 every 0.25 retain 5" ->
      ("For each `symbol`, keeps each row until it is 1 minute old or 5 newer rows have " +
        "arrived; inserts and evicts rows together every 250 milliseconds."),
    "partition by venue retain 3 with unique symbol" ->
      ("For each `venue`, keeps the newest 3 rows; of each `symbol` only the newest row " +
        "is visible."),
    "retain 2 select v" -> "Keeps the newest 2 rows; emits only inserts.",
    "within 1.0 select rstream v" -> "Keeps each row for 1 second; emits only deletes.")

  described("Apama: origin", Apama, scope.copy(origin = Some(Origin.At(250))))(
    "within 1.5 every 1.0" ->
      ("Keeps each row for 1.5 seconds; inserts and evicts rows together every second, " +
        "counted from 1970-01-01T00:00:00.250Z."))

  described("SPL", Spl)(
    "tumbling, count(3)" -> "Collects rows and removes all of them when the 3rd arrives.",
    "tumbling, time(10)" ->
      "Collects rows and removes all of them every 10 seconds, counted from the first row.",
    "tumbling, delta(price, 0.5)" ->
      ("Collects rows and removes all of them before each row whose `price` is more than " +
        "0.5 above that of the oldest row."),
    "tumbling, punct()" -> "Collects rows and removes all of them at each window punctuation.",
    "sliding, count(10)" ->
      "Keeps the newest 10 rows; reports the window contents when a row arrives.",
    "sliding, count(10), count(5)" ->
      "Keeps the newest 10 rows; reports the window contents at every 5th row.",
    "sliding, time(5), time(1)" ->
      ("Keeps each row until it is more than 5 seconds old; reports the window contents " +
        "every second, counted from the first row."),
    "sliding, delta(price, 3), delta(n, 2)" ->
      ("Keeps rows; when a row arrives, evicts rows from the oldest on while their `price` " +
        "is more than 3 below that of the new row; reports the window contents before each " +
        "row whose `n` is more than 2 above that of the row of the last report."))

  private val sentence =
    "Collects rows and removes all of them before each row whose `when` is more than"

  private val timed =
    scope.copy(columns = Seq("when"), kinds = Map("when" -> ColumnKind.Timestamp))

  described("SPL: whole deltas, which may be those of timestamps", Spl, timed)(
    "tumbling, delta(when, 90)" ->
      (s"$sentence 90000000 (1 minute 30 seconds if it is a timestamp) above that of the " +
        "oldest row."),
    "tumbling, delta(when, 0.000999)" -> s"$sentence 999 above that of the oldest row.")

  private def evicting(rule: String) = s"sliding, count(9), partitioned, $rule"

  private val kept = "Keeps the newest 9 rows; reports the window contents when a row arrives"

  described("SPL: evicted partitions", Spl, scope.copy(isGrouped = true))(
    evicting("partitionAge(90)") ->
      (s"$kept; removes a group that has no new row for 1 minute 30 seconds, and deletes " +
        "its rows."),
    evicting("partitionCount(1)") ->
      (s"$kept; while the number of groups is above 1, removes the group that has been " +
        "without a new row for longest, and deletes its rows."),
    evicting("tupleCount(50)") ->
      (s"$kept; while all groups together hold more than 50 rows, removes the group that " +
        "has been without a new row for longest, and deletes its rows."))

  described("SPL: evicted partitions", Spl)(
    "tumbling, count(2), partitioned; param partitionBy : symbol, venue;" ->
      ("For each `symbol` and `venue`, collects rows and removes all of them when the 2nd " +
        "arrives."))

  says("Esper: windows that rows enter one by one")(
    (
      window(TimestampBehind(ts, tenSeconds), EachRow),
      "Keeps rows; when a row arrives, evicts rows from the oldest on while their `ts` is 10 " +
        "seconds or more before that of the new row."),
    (
      window(Everything, Quiet(tenSeconds)),
      "Collects rows and removes all of them when no row arrives for 10 seconds."),
    (
      window(Fails(computed("current_count <= 5")), EachRow),
      "Keeps rows; when a row arrives, evicts rows from the oldest on while (current_count <= " +
        "5) does not hold for them."),
    (
      window(DeadlineReached(ts, tenSeconds), WhenDue, Sorted(byPrice)),
      "Keeps each row until 10 seconds after the time in its `ts` column, sorted by `price` " +
        "descending."),
    (
      window(DeadlineReached(ts, Span.ofMillis(0)), WhenDue),
      "Keeps each row until the time in its `ts` column."),
    (
      window(DeadlineReached(computed("ts + 1"), Span.ofMillis(0)), WhenDue),
      "Keeps each row until the time in (ts + 1)."))

  says("Esper: order")(
    (
      window(MoreThan(10), Excess(1), Sorted(byPriceAndTs)),
      "Keeps the first 10 rows in the order of `price` descending, then `ts`."),
    (
      window(MoreThan(1), EachRow, Sorted(byPrice)),
      "Keeps the first row in the order of `price` descending."),
    (
      window(MoreThan(10), Excess(2), Sorted(byPrice)),
      "Keeps the first 10 rows in the order of `price` descending; evicts the last 2 rows when " +
        "the window holds 12."),
    (
      window(MoreThan(10), Excess(1), Ranked(symbol, byPrice)),
      "Keeps the first 10 rows in the order of `price` descending; a row replaces the previous " +
        "row of the same `symbol`."),
    (
      window(Unbounded, Never, Replacing(symbolAndVenue)),
      "Keeps the newest row of each `symbol` and `venue`."),
    (
      window(AgeReached(tenSeconds), WhenDue, Replacing(symbol)),
      "Keeps each row for 10 seconds; a row replaces the previous row of the same `symbol`."))

  private def first(admit: Admit) = window(Unbounded, Never, admit = admit)

  private def slides(admit: Admit) = window(MoreThan(3), Excess(1), admit = admit)

  says("Esper: rows that are not inserted")(
    (first(FirstRows(1)), "Keeps the first row."),
    (first(FirstRows(5)), "Keeps the first 5 rows."),
    (first(FirstOfEach(symbol)), "Keeps the first row of each `symbol`."),
    (
      first(FirstFor(tenSeconds, Origin.FirstRow)),
      "Keeps the rows that arrive less than 10 seconds after the first row."),
    (slides(FirstRows(1)), "Keeps the newest 3 rows; inserts only the first row."),
    (slides(FirstRows(5)), "Keeps the newest 3 rows; inserts only the first 5 rows."),
    (
      slides(FirstOfEach(symbol)),
      "Keeps the newest 3 rows; inserts a row only while the window holds no row of the same " +
        "`symbol`."),
    (
      slides(FirstFor(second, Origin.epoch)),
      "Keeps the newest 3 rows; inserts only rows that arrive less than 1 second after " +
        "1970-01-01T00:00:00Z."))

  private val collects = "Collects rows in a batch;"

  private val change = "inserts the batch and removes the previous one."

  private val empty = "even if both are empty"

  says("Esper: batches")(
    (batch(EachRows(5)), s"$collects when the 5th arrives, $change"),
    (
      batch(Period(tenSeconds, Origin.FirstRow, forced = true)),
      s"$collects every 10 seconds, counted from the first row, $empty, $change"),
    (
      batch(PeriodOrRows(tenSeconds, 1, None, forced = false)),
      s"$collects 10 seconds after the previous batch (for the first batch: after the first " +
        s"row) or when the 1st row arrives, whichever is first, $change"),
    (
      batch(PeriodOrRows(second, 5, Some(Origin.epoch), forced = true)),
      s"$collects 1 second after the previous batch (for the first batch: at the end of a " +
        "period counted from 1970-01-01T00:00:00Z) or when the 5th row arrives, whichever is " +
        s"first, $empty, $change"),
    (
      batch(Crosses(ts, tenSeconds, None)),
      s"$collects before each row whose `ts` is in a later period of 10 seconds, counted from " +
        s"the `ts` of the first row, $change"),
    (
      batch(Crosses(ts, tenSeconds, Some(1500))),
      s"$collects before each row whose `ts` is in a later period of 10 seconds, counted from " +
        s"1970-01-01T00:00:01.500Z, $change"),
    (
      batch(Holds(computed("a > 3"), withRow = true)),
      s"$collects with each row for which (a > 3) holds, $change"),
    (
      batch(Holds(column("closing"), withRow = false)),
      s"$collects before each row for which `closing` holds, $change"))

  test("Esper: intersections and unions") {
    val windows = Seq(
      window(MoreThan(100), Excess(1)),
      window(AgeReached(tenSeconds), WhenDue),
      window(Unbounded, Never, Replacing(symbol)),
      batch(EachRows(3)))
    val items = "(1) keeps the newest 100 rows; (2) keeps each row for 10 seconds; (3) keeps " +
      "the newest row of each `symbol`; (4) collects rows in a batch, when the 3rd arrives, " +
      "inserts the batch and removes the previous one."
    assert(
      policy(Retention.Intersection(windows)).describe ==
        s"Keeps each row until one of these windows evicts it: $items")
    assert(
      policy(Retention.Union(windows)).copy(group = Group(symbol)).describe ==
        s"For each `symbol`, keeps each row until all of these windows have evicted it: $items")
  }

  test("several independent windows") {
    val independent = Retention.Independent(
      Seq(
        "few" -> Retention.One(window(MoreThan(100), Excess(1))),
        "young" -> Retention.One(window(AgeReached(tenSeconds), WhenDue)),
        "both" -> Retention.Intersection(
          Seq(window(MoreThan(5), Excess(1)), window(AgeReached(tenSeconds), WhenDue)))))
    assert(
      policy(independent).copy(group = Group(symbol)).describe ==
        "For each `symbol`, window few keeps the newest 100 rows; window young keeps each row " +
        "for 10 seconds; window both keeps each row until one of these windows evicts it: (1) " +
        "keeps the newest 5 rows; (2) keeps each row for 10 seconds.")
  }

  test("Esper: groups, filters and swept groups") {
    val swept = Reclaim.SweptAtArrival(millis = 10000, everyMillis = 1000)
    val grouped = policy(window(MoreThan(5), Excess(1)))
      .copy(
        group = Group(Seq(computed("upper(symbol)")), Some(swept)),
        filter = Some(computed("price > 3")))
    assert(
      grouped.describe ==
        "Of the rows for which (price > 3) holds, for each (upper(symbol)), keeps the newest 5 " +
        "rows; when a row arrives, but at most once every second, removes the groups that have " +
        "no new row for more than 10 seconds, and emits no deletes for their rows.")
  }

  private val any = AnyOf(
    Seq(
      Unbounded,
      AnyOf(Seq(AgeExceeded(second), Fails(column("ok")))),
      DeadlineReached(ts, second),
      ValueBehind(column("n"), Distance.Real(0.5)),
      Everything,
      PreviousBatch))

  says("pieces that no window has together")(
    (
      window(MoreThan(1), Excess(2), Sorted(byPrice)),
      "Keeps the first row in the order of `price` descending; evicts the last 2 rows when the " +
        "window holds 3."),
    (window(AnyOf(Seq(Unbounded)), EachRow), "Keeps every row."),
    (window(AgeReached(second), Never), "Keeps each row for 1 second; never evicts a row."),
    (
      window(AgeReached(second), EachRow),
      "Keeps each row for 1 second; evicts rows only when a row arrives."),
    (
      window(AgeReached(second), Excess(2)),
      "Keeps each row for 1 second; evicts rows only when the window holds 2 rows too many."),
    (
      window(MoreThan(3), WhenDue, enter = EachRows(2)),
      "Keeps the newest 3 rows; inserts rows only at every 2nd row; evicts rows only when a " +
        "row expires."),
    (
      window(PreviousBatch, Punctuation, enter = Never),
      "Collects rows in a batch; inserts the batch never; removes the previous one at each " +
        "window punctuation."),
    (window(Unbounded, Never, Sorted(byPrice)), "Keeps every row, sorted by `price` descending."),
    (
      window(any, WhenDue),
      "Keeps each row until it is more than 1 second old or `ok` does not hold for it or 1 " +
        "second after the time in its `ts` column or its `n` is more than 0.5 below that of " +
        "the new row or all rows are removed together or the next batch is inserted."))

  test("pieces that no window has together") {
    val silent = policy(window(MoreThan(1), Excess(1)))
      .copy(stream = Stream(inserts = false, deletes = false, StepOrder.Net))
    assert(silent.describe == "Keeps the newest row; emits no changes.")
  }

  testEach("the pieces name each event at which rows leave")(
    Seq(MoreThan(3)) -> "when a row arrives",
    Seq(AgeReached(second)) -> "when a row expires",
    Seq(AgeReached(second), MoreThan(3)) -> "when a row expires or another one arrives") {
    case (bounds, words) =>
      val leave = if (bounds.exists(_.usesTime)) WhenDue else EachRow
      assert(policy(window(AnyOf(bounds), leave)).pieces.toMap.apply("rows leave") == words)
  }

  testEach("lengths of time")(
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
    Span(26, 86400000000L) -> "2 years 2 months 1 day") { case (span, length) =>
    assert(policy(window(AgeReached(span), WhenDue)).describe == s"Keeps each row for $length.")
  }

  testEach("ordinals")(
    2 -> "2nd",
    3 -> "3rd",
    11 -> "11th",
    12 -> "12th",
    13 -> "13th",
    21 -> "21st",
    111 -> "111th") { case (rows, ordinal) =>
    val batches = policy(window(Everything, EachRows(rows.toLong)))
    assert(
      batches.describe == s"Collects rows and removes all of them when the $ordinal arrives.")
  }

  test("odd names stay on one line") {
    val odd = policy(window(MoreThan(1), Excess(1)))
      .copy(group = Group(Seq(column("a\nb"), computed("x\n+ y"))))
    assert(odd.describe == "For each `a b` and (x + y), keeps the newest row.")
  }
}
