package winops.text.esper

import winops.policy._
import winops.terms.{Origin, RowExpression, SortKey, Span, StepOrder, Stream}
import winops.testing.TableTests
import winops.window.piece._

class EsperSuite extends TableTests {
  private val scope = Scope(
    parameters = Map(
      "N" -> Parameter.Whole(4),
      "F" -> Parameter.Fraction(BigDecimal("1.5")),
      "T" -> Parameter.Text("it's"),
      "price" -> Parameter.Whole(7)),
    columns =
      Seq("symbol", "price", "volume", "ts", "trade id", "order", "case", "stream", "a`b"))

  private def policy(text: String, scope: Scope = scope): Policy =
    Esper.parse(text, scope).fold(e => fail(s"$text: ${e.message}\n${e.caret}"), identity)

  private def window(text: String, scope: Scope = scope): Window =
    policy(text, scope).retention match {
      case Retention.One(window) => window
      case several => fail(s"$text: $several")
    }

  private def canonical(text: String): String = policy(text).text

  private def column(name: String): RowExpression = RowExpression.Column(name)(0)
  private def computed(sql: String): RowExpression = RowExpression.Computed(sql)(0)

  private def slides(bound: Bound, leave: Trigger): Window = orders(Arrival, bound, leave)
  private def orders(order: Order, bound: Bound, leave: Trigger): Window =
    Window(EveryRow, order, bound, Triggers(EachRow, leave, Never))
  private def admits(admit: Admit): Window =
    Window(admit, Arrival, Unbounded, Triggers(EachRow, Never, Never))
  private def batches(trigger: Trigger): Window =
    Window(EveryRow, Arrival, PreviousBatch, Triggers(trigger, trigger, Never))

  private val second = Span.ofMillis(1000)
  private val symbol = column("symbol")
  private val ts = column("ts")

  /** Checks each text with known and with unknown columns. */
  private def pieces(all: (String, Window)*): Unit = for {
    (text, expected) <- all
    columns <- Seq(scope.columns, Nil)
  } assert(window(text, scope.copy(columns = columns)) == expected, text)

  test("the dialect is called esper") {
    assert(Esper.name == "esper")
  }

  test("length, lastevent and keepall") {
    pieces(
      "#length(3)" -> slides(MoreThan(3), Excess(1)),
      "#length(1 + 2 * N)" -> slides(MoreThan(9), Excess(1)),
      "#length(2147483647)" -> slides(MoreThan(2147483647L), Excess(1)),
      "#length(5 % 3)" -> slides(MoreThan(2), Excess(1)),
      "#length(1 + 2 * 7 % 4)" -> slides(MoreThan(3), Excess(1)),
      "#ext_timed(ts, 0 sec)" -> slides(TimestampBehind(ts, Span(0, 0)), EachRow),
      "#time_accum(0 sec)" -> slides(Everything, Quiet(Span(0, 0))),
      "#time(7.5 % 2)" -> slides(AgeReached(Span.ofMillis(1500)), WhenDue),
      "#lastevent" -> slides(MoreThan(1), Excess(1)),
      "#lastevent()" -> slides(MoreThan(1), Excess(1)),
      "#keepall" -> slides(Unbounded, Never),
      "#keepall()" -> slides(Unbounded, Never))
  }

  test("time and time_accum") {
    pieces(
      "#time(1 sec)" -> slides(AgeReached(second), WhenDue),
      "#time(0 sec)" -> slides(AgeReached(Span(0, 0)), WhenDue),
      "#time_accum(1 sec)" -> slides(Everything, Quiet(second)))
    assert(policy("#time(1 sec)").usesTime && policy("#time_accum(1 sec)").usesTime)
  }

  test("ext_timed reads the timestamp of a row") {
    pieces(
      "#ext_timed(ts, 1 sec)" -> slides(TimestampBehind(ts, second), EachRow),
      "#ext_timed(ts*1000, 2)" -> slides(
        TimestampBehind(computed("`ts` * 1000"), Span.ofMillis(2000)),
        EachRow))
    assert(!policy("#ext_timed(ts, 1 sec)").usesTime)
  }

  test("the first rows") {
    pieces(
      "#firstlength(3)" -> admits(FirstRows(3)),
      "#firstevent" -> admits(FirstRows(1)),
      "#firstevent()" -> admits(FirstRows(1)),
      "#firsttime(1 sec)" -> admits(FirstFor(second, Origin.FirstRow)),
      "#firstunique(symbol, volume)" -> admits(FirstOfEach(Seq(symbol, column("volume")))))
  }

  test("unique, sort and rank") {
    pieces(
      "#unique(symbol)" -> orders(Replacing(Seq(symbol)), Unbounded, EachRow),
      "#unique(volume > 5, symbol)" -> orders(
        Replacing(Seq(computed("`volume` > 5"), symbol)),
        Unbounded,
        EachRow),
      "#sort(N, symbol desc, ts asc, volume)" -> orders(
        Sorted(Seq(SortKey(symbol, true), SortKey(ts, false), SortKey(column("volume"), false))),
        MoreThan(4),
        Excess(1)),
      "#rank(symbol, volume, 3, ts desc)" -> orders(
        Ranked(Seq(symbol, column("volume")), Seq(SortKey(ts, true))),
        MoreThan(3),
        Excess(1)),
      "#rank(volume + 1, 3, volume * 2, ts)" -> orders(
        Ranked(
          Seq(computed("`volume` + 1")),
          Seq(SortKey(computed("`volume` * 2"), false), SortKey(ts, false))),
        MoreThan(3),
        Excess(1)))
  }

  test("time_order and timetolive wait for a row's own time") {
    pieces(
      "#time_order(ts, 1 sec)" -> slides(DeadlineReached(ts, second), WhenDue),
      "#time_order(ts, 0 sec)" -> slides(DeadlineReached(ts, Span(0, 0)), WhenDue),
      "#timetolive(ts)" -> slides(DeadlineReached(ts, Span(0, 0)), WhenDue),
      "#timetolive(ts + 1000)" -> slides(
        DeadlineReached(computed("`ts` + 1000"), Span(0, 0)),
        WhenDue))
  }

  test("expr and expr_batch see the window") {
    pieces(
      "#expr(current_count <= 2)" -> slides(Fails(computed("current_count <= 2")), EachRow),
      "#expr(view_reference)" -> slides(Fails(computed("view_reference")), EachRow),
      "#expr_batch(count(*) >= 2)" -> batches(Holds(computed("count(*) >= 2"), true)),
      "#expr_batch(symbol, true)" -> batches(Holds(symbol, true)),
      "#expr_batch(true, false)" -> batches(Holds(computed("true"), false)))
  }

  test("length_batch") {
    pieces("#length_batch(3)" -> batches(EachRows(3)))
  }

  test("time_batch counts from its reference, from the scope's origin, or from the first row") {
    def period(origin: Origin, forced: Boolean) = batches(Period(second, origin, forced))
    pieces(
      "#time_batch(1 sec)" -> period(Origin.FirstRow, false),
      "#time_batch(1 sec, '')" -> period(Origin.FirstRow, false),
      "#time_batch(1 sec, 250L)" -> period(Origin.At(250), false),
      "#time_batch(1 sec, -250)" -> period(Origin.At(-250), false),
      "#time_batch(1 sec, 'FORCE_UPDATE')" -> period(Origin.FirstRow, true),
      "#time_batch(1 sec, \"start_eager\")" -> period(Origin.FirstRow, true),
      "#time_batch(1 sec, 250L, ' START_EAGER ,force_update')" -> period(Origin.At(250), true))
    val moved = scope.copy(origin = Some(Origin.At(3000)))
    assert(window("#time_batch(1 sec)", moved) == period(Origin.At(3000), false))
    assert(window("#time_batch(1 sec, 250L)", moved) == period(Origin.At(250), false))
    assert(window("#time_batch(1 sec, 'START_EAGER')", moved) == period(Origin.At(3000), true))
  }

  test("ext_timed_batch counts from its reference, or from the first timestamp") {
    pieces(
      "#ext_timed_batch(ts, 1 sec)" -> batches(Crosses(ts, second, None)),
      "#ext_timed_batch(ts, 1 sec, -250L)" -> batches(Crosses(ts, second, Some(-250))))
    val moved = scope.copy(origin = Some(Origin.At(3000)))
    assert(policy("#ext_timed_batch(ts, 1 sec)", moved) == policy("#ext_timed_batch(ts, 1 sec)"))
  }

  test("time_length_batch counts from an origin with START_EAGER alone") {
    def triggerOf(origin: Option[Origin], forced: Boolean) =
      batches(PeriodOrRows(second, 3, origin, forced))
    pieces(
      "#time_length_batch(1 sec, 3)" -> triggerOf(None, false),
      "#time_length_batch(1 sec, 3, '')" -> triggerOf(None, false),
      "#time_length_batch(1 sec, 3, 'FORCE_UPDATE')" -> triggerOf(None, true),
      "#time_length_batch(1 sec, 3, 'START_EAGER')" -> triggerOf(Some(Origin.FirstRow), true))
    val moved = scope.copy(origin = Some(Origin.At(3000)))
    assert(
      window("#time_length_batch(1 sec, 3, 'START_EAGER')", moved) ==
        triggerOf(Some(Origin.At(3000)), true))
    assert(
      policy("#time_length_batch(1 sec, 3)", moved) == policy("#time_length_batch(1 sec, 3)"))
  }

  test("several windows are an intersection, or a union where the text says so") {
    val windows = Seq(window("#length(3)"), window("#time(1 sec)"))
    assert(policy("#length(3)#time(1 sec)").retention == Retention.Intersection(windows))
    assert(
      policy("#length(3)#time(1 sec) retain-intersection") == policy("#length(3)#time(1 sec)"))
    assert(policy("#length(3)#time(1 sec) RETAIN-UNION").retention == Retention.Union(windows))
    assert(policy("#length(3) retain-union") == policy("#length(3)"))
    assert(policy("#length_batch(3)#time_batch(1) retain-union").retention.windows.length == 2)
  }

  testEach("a chain may begin without a mark")(
    "length(3)#unique(symbol)",
    "win:length(3).std:unique(symbol)",
    ".win:length(3).std:unique(symbol)",
    "#win:length(3)#std:unique(symbol)",
    " # length ( 3 )\n# std : unique ( symbol ) ; ") { text =>
    assert(policy(text) == policy("#length(3)#unique(symbol)"))
  }

  Seq(
    "win" -> Seq("length(1)", "length_batch(1)", "time(1)", "time_batch(1)", "time_accum(1)"),
    "win" -> Seq("ext_timed(ts, 1)", "ext_timed_batch(ts, 1)", "time_length_batch(1, 1)"),
    "win" -> Seq("keepall", "firstlength(1)", "firsttime(1)", "expr(true)", "expr_batch(true)"),
    "std" -> Seq("lastevent", "firstevent", "unique(ts)", "firstunique(ts)"),
    "ext" -> Seq("sort(1, ts)", "rank(ts, 1, ts)", "time_order(ts, 1)", "timetolive(ts)"))
    .foreach { case (namespace, windows) =>
      testEach(s"windows may have their older names in $namespace")(windows: _*) { w =>
        assert(policy(s".$namespace:$w") == policy(s"#$w"))
      }
    }

  test("groupwin makes a group, and merge at the end changes nothing") {
    val grouped = policy("#groupwin(symbol, volume > 5)#length(2)")
    assert(grouped.group == Group(Seq(symbol, computed("`volume` > 5"))))
    assert(grouped.retention == policy("#length(2)").retention)
    assert(grouped.window == "#length(2)")
    assert(policy("#groupwin(symbol, volume > 5)#length(2)#merge(symbol, volume>5)") == grouped)
    assert(policy("#groupwin(symbol)#length(2)#time(1)").retention.windows.length == 2)
    assert(policy("#length(2)").group == Group.whole)
  }

  private def derived(statistic: Statistic, of: String*): Projection.Derived =
    Projection.Derived(statistic, of.map(column), Nil)

  private def named(column: RowExpression.Column): Named = Named(column.name, column)
  private def beside(name: String): Beside = Beside.Of(Named(name, column(name)))

  private val allColumns = Beside.AllColumns()(0)

  testEach("derived-value windows compute values of the rows in the windows before them")(
    "#length(3)#size" -> derived(Statistic.Size),
    "#length(3)#size()" -> derived(Statistic.Size),
    "#length(3)#uni(price)" -> derived(Statistic.Uni, "price"),
    "#length(3)#stat:uni(price)" -> derived(Statistic.Uni, "price"),
    "#length(3)#linest(price, volume)" -> derived(Statistic.Linest, "price", "volume"),
    "#length(3)#correl(price, volume)" -> derived(Statistic.Correl, "price", "volume"),
    "#length(3)#weighted_avg(price, volume)" ->
      derived(Statistic.WeightedAverage, "price", "volume")) { case (text, expected) =>
    assert(policy(text).projection.contains(expected))
    assert(policy(text).retention == policy("#length(3)").retention)
  }

  test("a window without a statistic computes none, and one of a union those of all its rows") {
    assert(policy("#length(3)").projection.isEmpty)
    val union = policy("#length(1)#time(1 sec)#size retain-union")
    assert(union.retention == policy("#length(1)#time(1 sec) retain-union").retention)
  }

  test("values of rows that no window retains are those of all rows") {
    assert(policy("#uni(price)") == policy("#keepall#uni(price)"))
    assert(policy("#uni(price)").text == "#keepall#uni(price)")
    assert(policy("#groupwin(symbol)#size").text == "#groupwin(symbol)#keepall#size")
  }

  test("what stands beside a statistic") {
    def projected(text: String) = policy(text).projection.collect {
      case Projection.Derived(_, _, beside, _) => beside
    }
    assert(projected("#size(symbol, *)").contains(Seq(beside("symbol"), allColumns)))
    assert(projected("#uni(price, price)").contains(Seq(beside("price"))))
    assert(projected("#size(`trade id`)").contains(Seq(beside("trade id"))))
  }

  testEach("a column without a name of its own is called as Esper writes its expression")(
    "price*2" -> "price*2",
    "price * ( volume - 2 )" -> "price*(volume-2)",
    "- price" -> "-price",
    "price > 3 and not volume = 2" -> "price>3 and not volume=2",
    "price in ( 1, 2 )" -> "price in (1,2)",
    "case when price > 2 then 1 end" -> "case when price>2 then 1 end",
    "coalesce( price, 0.0 )" -> "coalesce(price,0.0)",
    "cast(price, long)" -> "cast(price,long)",
    "symbol || 'x'" -> "symbol||'x'",
    "`trade id`" -> "trade id") { case (expression, name) =>
    policy(s"#size($expression)").projection match {
      case Some(Projection.Derived(_, _, Seq(Beside.Of(column)), _)) =>
        assert(column.name == name)
      case other => fail(s"$expression: $other")
    }
  }

  test("merge before a derived-value window makes it one of all groups") {
    val perGroup = policy("#groupwin(symbol)#length(2)#size(price)")
    val ofAll = policy("#groupwin(symbol)#length(2)#merge(symbol)#size(price)")
    assert(policy("#groupwin(symbol)#length(2)#size(price)#merge(symbol)") == perGroup)
    assert(!perGroup.projection.exists(_.acrossGroups) && !perGroup.isCrossGroup)
    assert(ofAll.projection.exists(_.acrossGroups) && ofAll.isCrossGroup)
    assert(ofAll.text == "#groupwin(symbol)#length(2)#merge(symbol)#size(price)")
    assert(ofAll.window == "#length(2)#merge(symbol)#size(price)")
    val beside = policy(ofAll.window, scope.copy(isGrouped = true))
    assert(beside.projection == ofAll.projection)
  }

  test("a select list has columns, aggregates and keys") {
    def list(text: String) = policy(text).projection
    assert(
      list("select count(*) from S#length(3)").contains(
        Projection.Columns(Seq(Named("count(*)", computed("count(*)"))), Nil)))
    assert(
      list("select symbol, count(*) as n, sum(price) s from S#length(3) group by symbol")
        .contains(
          Projection.Columns(
            Seq(
              named(RowExpression.Column("symbol")(0)),
              Named("n", computed("count(*)")),
              Named("s", computed("sum(`price`)"))),
            Seq(symbol))))
    assert(
      list("select max(distinct x.price) / 2 as top from S#length(3) as x group by x.ts, ts+1")
        .contains(
          Projection.Columns(
            Seq(Named("top", computed("max(distinct `price`) / 2"))),
            Seq(ts, computed("`ts` + 1")))))
    assert(
      policy("select rstream count(*) from S#length(3)").stream == Stream(
        inserts = false,
        deletes = true,
        StepOrder.InsertsFirst))
  }

  test("the aggregates of a select list are over all groups") {
    val grouped = policy("select count(*) as n from S#groupwin(symbol)#length(2)")
    assert(grouped.projection.exists(_.acrossGroups) && grouped.isCrossGroup)
    assert(grouped.group == Group(Seq(symbol)))
    val whole = policy("select count(*) as n from S#length(2)")
    assert(!whole.projection.exists(_.acrossGroups) && !whole.isCrossGroup)
  }

  test("a window for each key is no other window when values of it are reported") {
    assert(policy("#unique(symbol)").splitByKey.group.keys == Seq(symbol))
  }

  testEach("a window for each key is no other window when values of it are reported")(
    "#unique(symbol)#size",
    "select count(*) from S#unique(symbol)") { text =>
    assert(policy(text).splitByKey == policy(text))
  }

  test("AS names the stream behind FROM, and columns before it") {
    val text = "select sum(price) as x, x.price from S#length(3) group by x.price"
    assert(Esper.parse(text, scope).left.exists(_.category == Category.UnknownColumn))
    assert(Esper.parse(text.replace("S#length(3)", "S#length(3) as x"), scope).isRight)
  }

  private def reclaim(hints: String) =
    policy(s"$hints #groupwin(symbol)#length(2)").group.reclaim

  testEach("reclaim hints are the group's")(
    "@Hint('reclaim_group_aged=10,reclaim_group_freq=3')" -> (10000L -> 3000L),
    "@Hint(\"reclaim_group_aged = 10 , reclaim_group_freq = 3\")" -> (10000L -> 3000L),
    "@hint('reclaim_group_freq=3') @Hint('RECLAIM_GROUP_AGED=10')" -> (10000L -> 3000L),
    "@Hint('reclaim_group_aged=10')" -> (10000L -> 10000L),
    "@Hint('reclaim_group_aged=0.0015')" -> (2L -> 2L),
    "@Hint('reclaim_group_aged=N,reclaim_group_freq=F')" -> (4000L -> 1500L),
    "@Hint('reclaim_group_aged=0')" -> (0L -> 0L)) { case (hints, (aged, every)) =>
    assert(reclaim(hints).contains(Reclaim.SweptAtArrival(aged, every)))
  }

  testEach("other annotations reclaim nothing")(
    "@Hint('reclaim_group_freq=3')",
    "@Name('s0')",
    "@name(\"x\") @Description('it\\'s')")(hints => assert(reclaim(hints).isEmpty))

  test("reclaim hints mean nothing without groups, which may be given beside the text") {
    val text = "@Hint('reclaim_group_aged=10') #length(2)"
    assert(policy(text) == policy("#length(2)"))
    val beside = policy(text, scope.copy(isGrouped = true))
    assert(beside.group == Group(Nil, Some(Reclaim.SweptAtArrival(10000, 10000))))
    assert(beside.text == text)
  }

  test("selectors emit inserts, deletes or both") {
    def stream(text: String) = policy(text).stream
    val both = Stream(inserts = true, deletes = true, StepOrder.InsertsFirst)
    assert(stream("#length(3)") == both)
    assert(stream("select irstream * from S#length(3)") == both)
    Seq("select istream * from S#length(3)", "select * from S#length(3)").foreach { text =>
      assert(stream(text) == both.copy(deletes = false), text)
    }
    assert(stream("SELECT RSTREAM * FROM S#length(3)") == both.copy(inserts = false))
  }

  testEach("a whole statement is its windows, with the name of the stream left out")(
    "select irstream * from S#unique(symbol)",
    "@Name('s0') select irstream * from a.b.Trades.std:unique(symbol);",
    "select irstream * from Trades#unique(Trades.symbol)",
    "select irstream s.* from S#unique(s.symbol) as s",
    "select irstream s.* from S as s#unique(s.symbol) retain-intersection",
    "// the last of each\nselect irstream * /* all */ from S#unique(symbol) // end") { text =>
    assert(policy(text) == policy("#unique(symbol)"))
  }

  test("a filter is the policy's, and its conditions belong together") {
    def filter(text: String) = policy(s"select irstream * from S($text)#length(3) as s").filter
    assert(filter("symbol = 'GE'").contains(computed("`symbol` = 'GE'")))
    assert(filter("s.symbol").contains(symbol))
    assert(
      filter("symbol='GE', price > 5 or volume > 5").contains(
        computed("(`symbol` = 'GE') and ((`price` > 5) or (`volume` > 5))")))
    assert(filter("").isEmpty)
  }

  testEach("periods are seconds or sums of units, rounded half up to milliseconds")(
    "2" -> Span.ofMillis(2000),
    "0.5" -> Span.ofMillis(500),
    ".5" -> Span.ofMillis(500),
    "0.0015" -> Span.ofMillis(2),
    "0.0005" -> Span.ofMillis(1),
    "5 / 2" -> Span.ofMillis(2500),
    "2L" -> Span.ofMillis(2000),
    "0.5d" -> Span.ofMillis(500),
    "N" -> Span.ofMillis(4000),
    "F" -> Span.ofMillis(1500),
    "N * F" -> Span.ofMillis(6000),
    "1 min 30 sec" -> Span.ofMillis(90000),
    "30 sec 1 min" -> Span.ofMillis(90000),
    "1 sec 250 milliseconds" -> Span.ofMillis(1250),
    "0.5 min" -> Span.ofMillis(30000),
    "N min F sec" -> Span.ofMillis(241500),
    "1 day 2 hours" -> Span.ofMillis(93600000),
    "1 week" -> Span.ofMillis(604800000),
    "1500 microseconds" -> Span.ofMillis(2),
    "1 msec 400 usec" -> Span.ofMillis(1),
    "1 month" -> Span(1, 0),
    "1 year 2 months 1 sec" -> Span(14, 1000000),
    "2years" -> Span(24, 0),
    "100000 days" -> Span.ofMillis(8640000000000L)) { case (period, span) =>
    assert(window(s"#time($period)").bound == AgeReached(span))
  }

  Seq(
    "1 year" -> "year years YEAR",
    "1 month" -> "month months",
    "7 days" -> "week weeks",
    "1 day" -> "day days",
    "1 hour" -> "hour hours Hours",
    "1 min" -> "min minute minutes",
    "1 sec" -> "sec second seconds",
    "1 msec" -> "msec millisecond milliseconds",
    "2 msec" -> "usec microsecond microseconds").foreach { case (period, spellings) =>
    testEach(s"all spellings of the unit in $period")(spellings.split(' ').toSeq: _*) { unit =>
      val count = if (period.startsWith("2")) 2000 else 1
      assert(canonical(s"#time($count $unit)") == s"#time($period)")
    }
  }

  testEach("the one text has parameters filled in and one spelling")(
    " win:length ( N ) . win:keepall ( ) " -> "#length(4)#keepall",
    "#time(90)" -> "#time(1 min 30 sec)",
    "#time(1 year 2 month 1 week 3 hour 1 msec)" ->
      "#time(1 year 2 months 7 days 3 hours 1 msec)",
    "#time(0 min)" -> "#time(0 sec)",
    "#sort(3, price asc, symbol DESC)" -> "#sort(3, price, symbol desc)",
    "#time_batch(1, 5, 'force_update')" -> "#time_batch(1 sec, 5L, 'FORCE_UPDATE')",
    "#time_batch(1, 'FORCE_UPDATE,START_EAGER')" -> "#time_batch(1 sec, 'START_EAGER')",
    "#time_length_batch(1, 3, '')" -> "#time_length_batch(1 sec, 3)",
    "#expr_batch(true, true)" -> "#expr_batch(true)",
    "#expr_batch(true, FALSE)" -> "#expr_batch(true, false)",
    "#unique(`trade id`, `order`, `case`, `stream`, `a``b`)" ->
      "#unique(`trade id`, order, `case`, `stream`, `a``b`)",
    "length(3)#time(1) retain-union" -> "#length(3)#time(1 sec) retain-union",
    "length(3)#stat:uni( price , price*2,* )" -> "#length(3)#uni(price, price * 2, *)",
    "#keepall#size()" -> "#keepall#size",
    "SELECT COUNT(*) n, SUM( price*2 ) AS `sum(price*2)` FROM S#length(3)#time(1) " +
      "retain-union GROUP BY symbol,volume>3" ->
      ("select istream count(*) as n, sum(price * 2) from stream#length(3)#time(1 sec) " +
        "retain-union group by symbol, volume > 3"),
    "select irstream count(*) as `from` from S#length(3)" ->
      "select irstream count(*) as `from` from stream#length(3)",
    "select * from S#length(3)" -> "select istream * from stream#length(3)",
    "select rstream x.* from S(x.volume > N, true)#unique(x.symbol)#time(1) as x" ->
      "select rstream * from stream(volume > 4 and true)#unique(symbol)#time(1 sec)",
    "select irstream * from S(volume>1)#length(3)" ->
      "select irstream * from stream(volume > 1)#length(3)",
    "@Hint('reclaim_group_freq=0.5,reclaim_group_aged=3.0') #groupwin(symbol)#length(3)" ->
      "@Hint('reclaim_group_aged=3,reclaim_group_freq=0.5') #groupwin(symbol)#length(3)",
    "@Hint('reclaim_group_aged=3') select * from S#groupwin(symbol)#length(3)#merge(symbol)" ->
      ("@Hint('reclaim_group_aged=3') " +
        "select istream * from stream#groupwin(symbol)#length(3)")) { case (text, expected) =>
    assert(canonical(text) == expected)
    assert(policy(expected) == policy(text))
  }

  private def textFrom(origin: Origin, chain: String) =
    policy(chain, scope.copy(origin = Some(origin))).text

  testEach("the origin is reported where it decides something")(
    "#firsttime(1 sec)",
    "#time_batch(1 sec)",
    "#time_length_batch(1 sec, 3, 'START_EAGER')",
    "#length(3)#time_batch(1 sec) retain-union") { chain =>
    assert(textFrom(Origin.At(3000), chain) == s"$chain origin 3000 milliseconds")
    assert(textFrom(Origin.At(1), chain) == s"$chain origin 1 millisecond")
    assert(textFrom(Origin.FirstRow, chain) == chain)
  }

  testEach("the origin is not reported where it decides nothing")(
    "#time(1 sec)",
    "#time_batch(1 sec, 5L)",
    "#time_length_batch(1 sec, 3)")(chain => assert(textFrom(Origin.At(3000), chain) == chain))

  test("the origin of a grouped window stands in the text of the window too") {
    val grouped =
      policy("#groupwin(symbol)#time_batch(1 sec)", scope.copy(origin = Some(Origin.epoch)))
    assert(grouped.text == "#groupwin(symbol)#time_batch(1 sec) origin 0 milliseconds")
    assert(grouped.window == "#time_batch(1 sec) origin 0 milliseconds")
  }

  test("the text of the window leaves out its group alone") {
    val text = "@Hint('reclaim_group_aged=3') select istream * from " +
      "stream(volume > 1)#groupwin(symbol)#length(3)#time(1 sec) retain-union"
    val whole = policy(text)
    assert(whole.window == text.replace("#groupwin(symbol)", ""))
    val beside = policy(whole.window, scope.copy(isGrouped = true))
    assert(beside == whole.copy(group = whole.group.copy(keys = Nil), text = whole.window))
  }

  test("a text as long and as deep as is allowed") {
    assert(policy("#length(2)" + " " * 9990) == policy("#length(2)"))
    assert(policy(s"#length(${"(" * 32}2${")" * 32})") == policy("#length(2)"))
    assert(policy(s"#unique(${"(" * 32}ts${")" * 32})") == policy("#unique(ts)"))
    assert(policy(s"#length(1${"+1" * 4900})") == policy("#length(4901)"))
    assert(canonical(s"#unique(ts${" + 1" * 100})") == s"#unique(ts${" + 1" * 100})")
    assert(policy(s"${"#length(2)" * 900}").retention.windows.length == 900)
  }
}
