package winops.text.esper

import winops.policy._
import winops.testing.MarkedMistakes
import winops.text.dialect.Dialect

class EsperErrorSuite extends MarkedMistakes {
  override protected val dialect: Dialect = Esper

  override protected val scope: Scope = Scope(
    parameters = Map(
      "N" -> Parameter.Whole(3),
      "Z" -> Parameter.Whole(0),
      "MIN64" -> Parameter.Whole(Long.MinValue),
      "F" -> Parameter.Fraction(BigDecimal("2.0")),
      "T" -> Parameter.Text("3"),
      "HUGE" -> Parameter.Fraction(BigDecimal("1e999999"))),
    columns = Seq("symbol", "price", "volume", "ts", "at"),
    kinds = Map(
      "symbol" -> ColumnKind.Other,
      "price" -> ColumnKind.RealNumber,
      "volume" -> ColumnKind.WholeNumber,
      "ts" -> ColumnKind.WholeNumber,
      "at" -> ColumnKind.Timestamp))

  // A message lists the names of all windows.
  override protected val messageLength: Int = 450

  all("syntax: what stands where nothing of the kind can", Category.Syntax)(
    "^",
    " ^;",
    "#^",
    "^3",
    "#^#length(3)",
    "#^#",
    "#length(3)^)",
    "#length(3);^;",
    "#length(3) ^x",
    "#length(3)#^",
    "#length(3)#^3",
    "#length(3)^.length(3)",
    ".^length(3)",
    "#win:^",
    "#length(3) retain ^union",
    "#length(3) retain-^both",
    "#length(3) retain-union ^retain-union",
    "#length(3) as^",
    "^!",
    "#length(3) ^\u2212",
    "^\\",
    "^\ud83d\ude00",
    "^\u0000",
    "^\ud83d")

  all("syntax: parameters that are missing, too many, or not between commas", Category.Syntax)(
    "#length^",
    "#length(^)",
    "#length(^",
    "#length(3^",
    "#length(3^, 3)",
    "#length(3 ^4)",
    "#length(^, 3)",
    "#length_batch(2^, 3)",
    "#firstlength(2^, 3)",
    "#time^",
    "#time(^)",
    "#time(1 sec^, 2)",
    "#time_accum(^)",
    "#firsttime(^)",
    "#firsttime(2^, 3)",
    "#ext_timed(^)",
    "#ext_timed(ts^)",
    "#ext_timed(ts ^1 sec)",
    "#ext_timed(ts, 1 sec^, 0L)",
    "#ext_timed_batch(^)",
    "#ext_timed_batch(ts^)",
    "#ext_timed_batch(ts, 1, 0L^, 3)",
    "#time_batch(^)",
    "#time_batch(1 sec, 'FORCE_UPDATE'^, 250L)",
    "#time_batch(1 sec, 250L, 'FORCE_UPDATE'^, 3)",
    "#time_length_batch(^)",
    "#time_length_batch(1 sec^)",
    "#time_length_batch(1, 3, 'FORCE_UPDATE'^, 2)",
    "#expr(^)",
    "#expr(true^, false)",
    "#expr_batch(^)",
    "#expr_batch(true, false^, false)",
    "#unique(^)",
    "#unique^",
    "#unique(symbol ^volume)",
    "#unique(symbol,^)",
    "#firstunique(^)",
    "#sort(^)",
    "#sort(3^)",
    "#sort(3, price ^descending)",
    "#rank(^)",
    "#rank(symbol, 3^)",
    "#time_order(^)",
    "#time_order(ts^)",
    "#timetolive(^)",
    "#timetolive(ts^, 1)",
    "#groupwin(^)#length(2)",
    "#groupwin^#length(2)",
    "#groupwin(symbol)#length(2)#merge^",
    "#lastevent(^1)",
    "#firstevent(^1)",
    "#keepall(^1)",
    "#linest(^)",
    "#linest(price^)",
    "#correl(price^)",
    "#weighted_avg(^)",
    "#weighted_avg(price^)",
    "#uni(^)",
    "#uni(^*)",
    "#uni(price,^)",
    "#size(^,)",
    "#size(symbol ^volume)")

  all("syntax: expressions", Category.Syntax)(
    "#unique(price +^)",
    "#unique(^+ price)",
    "#unique(price ^price)",
    "#unique(price > ^> volume)",
    "#unique(price ^! volume)",
    "#unique(price - -^)",
    "#unique((price)^",
    "#unique((price^",
    "#unique((^))",
    "#unique(symbol.^)",
    "#unique(symbol^.3)",
    "#unique(symbol^[0])",
    "#unique(symbol^; drop)",
    "#unique(symbol like^)",
    "#unique(symbol like '%' ^escape price)",
    "#unique(price not ^= 3)",
    "#unique(price between 1 ^or 2)",
    "#unique(price & ts ^| volume)",
    "#unique(price in ^3)",
    "#unique(price in (^))",
    "#unique(price in (3^",
    "#unique(case ^end)",
    "#unique(case price ^end)",
    "#unique(case when price ^end)",
    "#unique(case when price > 3 then ^end)",
    "#unique(case when price > 3 then volume^)",
    "#unique(cast(price^))",
    "#unique(cast(price, int^, int))",
    "#unique(abs(^,))",
    "#unique(abs(price^",
    "#unique(count(*, price^, ts))",
    "#unique(^and)",
    "#unique(^`symbol)",
    "#unique(price is not null and ^)",
    "#unique(symbol || ^'x)",
    "#unique(symbol || ^\"x')",
    "#unique(symbol || 'x^\\q')",
    "#unique(symbol || 'x^\\u12')",
    "#unique(symbol ^/* )",
    "#unique(symbol - ^> volume)",
    "#unique(price^?)",
    "#unique(price^")

  all("syntax: flow control keywords that do not exist", Category.Syntax)(
    "#time_batch(1 sec, ^'FORCE')",
    "#time_batch(1 sec, ^'FORCE_UPDATE START_EAGER')",
    "#time_batch(1 sec, 250L, ^'x')",
    "#time_length_batch(1 sec, 3, ^'FORCE_UPDATE, x')",
    "#time_length_batch(1 sec, 3, '^\\FORCE')",
    "#time_length_batch(1 sec, 3, ^N)")

  all("syntax: statements and annotations", Category.Syntax)(
    "select^",
    "select irstream^",
    "select *^",
    "select * ^S#length(3)",
    "select * from^",
    "select * from ^#length(3)",
    "select * from S^",
    "select * from S ^length(3)",
    "select * from S.^#length(3)",
    "select * from S(^,)#length(3)",
    "select * from S(price > 3^#length(3)",
    "select * from S#length(3) as^",
    "select ^from S#length(3)",
    "select count(*^",
    "select count(*) as^",
    "select count(*) as n,^",
    "select count(*) n ^m from S#length(3)",
    "select count(*)^#length(3)",
    "select count(*) from S#length(3) group^",
    "select count(*) from S#length(3) group ^symbol",
    "select count(*) from S#length(3) group by^",
    "select count(*) from S#length(3) group by symbol ^#length(3)",
    "select count(*) from S#length(3) group by symbol ^retain-union",
    "@^",
    "@Hint^",
    "@Hint(^3)",
    "@Hint(^)",
    "@Hint('reclaim_group_aged=3' ^#length(3)",
    "@Hint('^') #length(3)",
    "@Hint('^3') #length(3)",
    "@Hint('reclaim_group_aged^') #length(3)",
    "@Hint('reclaim_group_aged=^') #length(3)",
    "@Hint('reclaim_group_aged=3,reclaim_group_freq=3 ^y=')",
    "@Hint('reclaim_group_aged=3,^reclaim_group_aged=3') #length(3)",
    "@Hint('reclaim_group_aged=3') @Hint('^reclaim_group_aged=4') #length(3)",
    "@Name^",
    "@Name('x')^")

  all("type: sizes are ints", Category.Type)(
    "#length(^2.5)",
    "#length(^2.0)",
    "#length(^2L)",
    "#length(1 + ^2L)",
    "#length(-(1 * ^2L))",
    "#length(4 ^/ 2)",
    "#length(^'2')",
    "#length(^\"2\")",
    "#length(^null)",
    "#length(^TRUE)",
    "#length(^volume)",
    "#length(1 + ^volume)",
    "#length(2 ^sec)",
    "#length(^F)",
    "#length(^T)",
    "#length(^2d)",
    "#length(^2e3)",
    "#length(^3000000000 - 2999999999)",
    "#length(^5.0 % 3)",
    "#length_batch(^volume)",
    "#sort(^price, 3)",
    "#sort(^2L, price)",
    "#time_length_batch(3, 1 ^sec)",
    "#time_length_batch(1, ^2.0)")

  all("type: rank's size is written as a number", Category.Type)(
    "#rank(symbol, ^2.5, price)",
    "#rank(symbol, ^2L, price)",
    "#rank(symbol, ^'3', price)",
    "#rank(symbol, ^1+1, price)",
    "#rank(symbol, ^N, price)",
    "#rank(symbol, price^)",
    "#rank(^3, price)")

  all("type: keys and criteria that are the same for all rows", Category.Type)(
    "#unique(^1)",
    "#unique(symbol, ^'x')",
    "#unique(^N)",
    "#unique(^N + 1)",
    "#unique(^null)",
    "#unique(^-1)",
    "#unique(^not true)",
    "#unique(^cast(1, string))",
    "#unique(^abs(-1))",
    "#firstunique(^1)",
    "#groupwin(^1)#length(2)",
    "#sort(3, ^1)",
    "#sort(3, price, ^2 desc)",
    "#rank(symbol, 3, ^1)",
    "#groupwin(symbol)#length(2)#merge(^1)",
    "select count(*) from S#length(2) group by ^1",
    "select count(*) from S#length(2) group by symbol, ^'x'")

  all("type: periods and points in time", Category.Type)(
    "#time(^'2')",
    "#time(^null)",
    "#time(^volume)",
    "#time(^T)",
    "#time(1 min ^volume sec)",
    "#time(^0.5 month)",
    "#time_accum(^'2')",
    "#firsttime(^'2')",
    "#ext_timed(ts, ^volume)",
    "#time_batch(^'2')",
    "#time_batch(1 sec, ^250.0)",
    "#time_batch(1 sec, ^F)",
    "#time_batch(1 sec, ^ts)",
    "#ext_timed_batch(ts, 1, ^'x')",
    "#ext_timed_batch(ts, 1, ^'FORCE_UPDATE')",
    "#ext_timed_batch(ts, 1, ^0.5)",
    "@Hint('reclaim_group_aged=^T') #length(3)",
    "@Hint('reclaim_group_aged=^\"3\"') #length(3)")

  all("type: timestamps are numbers, conditions are not", Category.Type)(
    "#ext_timed(^symbol, 1 sec)",
    "#ext_timed_batch(^symbol, 1)",
    "#time_order(^symbol, 1)",
    "#timetolive(^symbol)",
    "#timetolive(^price)",
    "#expr(^price)",
    "#expr_batch(^price)",
    "#expr_batch(^at, false)",
    "#expr_batch(true, ^1=1)",
    "#expr_batch(true, ^N)",
    "select * from S(^price)#length(3)",
    "select * from S(price > 3, ^volume)#length(3)",
    "#correl(^symbol, price)",
    "#linest(price, ^symbol)",
    "#uni(^symbol)",
    "#weighted_avg(price, ^at)")

  testEach("type: timestamps are numbers, conditions are not")(
    "#ext_timed(price, 1)",
    "#ext_timed(at, 1)",
    "#time_order(price, 1)",
    "#timetolive(at)")(text => assert(Esper.parse(text, scope).isRight))

  all("range: sizes", Category.Range)(
    "#length(^0)",
    "#length(^-1)",
    "#length(^Z)",
    "#length(^N - 3)",
    "#length(^2147483648)",
    "#length(^2147483647 + 1)",
    "#length(^65537 * 65537)",
    "#length(5 % ^0)",
    "#length(^-5 % 3)",
    "#length(^9223372036854775808)",
    s"#length(^${"9" * 5000})",
    "#length(1 / ^0)",
    "#length(9223372036854775807 ^+ 1)",
    "#length(^-MIN64)",
    "#length_batch(^0)",
    "#firstlength(^0)",
    "#firstlength(^-1)",
    "#firstlength(^2147483648)",
    "#length_batch(^2147483648)",
    "#rank(symbol, ^2147483648, price)",
    "#time_length_batch(1, ^2147483648)",
    "#sort(^0, price)",
    "#sort(^2147483648, price)",
    "#sort(^-1, price)",
    "#rank(symbol, ^0, price)",
    "#rank(symbol, ^-1, price)",
    "#time_length_batch(1, ^0)",
    "#time_length_batch(1, ^-1)")

  all("range: periods", Category.Range)(
    "#time(^0)",
    "#time(^0.0001)",
    "#time(^0.00049999999)",
    "#time(^-1)",
    "#time(^-1 sec)",
    "#time(1 min ^8640000000000000001 usec)",
    "#time(^100000 days 1 msec)",
    "#time(^3226 months)",
    "#time(^300 years)",
    "#time(^1e60)",
    "#time(^HUGE)",
    "#time(^1e65 sec)",
    "#time(1 / ^0)",
    "#time_order(ts, ^0)",
    "#time_order(ts, ^-1 sec)",
    "#ext_timed(ts, ^-1)",
    "#ext_timed(ts, ^0)",
    "#ext_timed_batch(ts, ^0)",
    "#ext_timed_batch(ts, ^0 sec)",
    "#time_accum(^0)",
    "#time_accum(^-1)",
    "#firsttime(^0)",
    "#firsttime(^-1)",
    "#firsttime(^-1 sec)",
    "#time_batch(^0)",
    "#time_batch(^-1)",
    "#time_batch(^0 sec)",
    "#time_batch(^400 usec)",
    "#time_length_batch(^0, 3)",
    "#time_length_batch(^-1, 3)",
    "#time_length_batch(^0 sec, 3)",
    "#time_batch(1, ^8640000000000001L)",
    "#time_batch(1, ^-8640000000000001)",
    "#time_batch(1, ^MIN64)",
    "@Hint('reclaim_group_aged=^-1') #length(3)",
    "@Hint('reclaim_group_aged=^1e10') #length(3)")

  all("range: numbers in expressions", Category.Range)(
    "#unique(price + ^9223372036854775808)",
    "#unique(price + -^9223372036854775809)",
    s"#unique(price + ^${"9" * 5000})",
    "#unique(price + ^1e65)",
    "#unique(price + ^1e60f)",
    "#unique(price + ^HUGE)",
    s"#unique(price + ^0.${"1" * 35})")

  all("unit: a value without a unit of time after one that has one", Category.Unit)(
    "#time(1 min 30^)",
    "#time(1 min 30 ^fortnights)",
    "#time(1 min N^)",
    "#ext_timed(ts, 1 min 30^, 3)")

  messages("unit: a value without a unit of time after one that has one")(
    "#time(1 min 30^)" -> "a unit of time: years, months, weeks")

  all("duplicate-unit: a unit again, also in another spelling", Category.DuplicateUnit)(
    "#time(1 sec 2 ^seconds)",
    "#time(1 min 30 sec 2 ^minutes)",
    s"#time(1 sec 1 ^sec${" 1 sec" * 1500})")

  all("unbound-parameter: a name without a value", Category.UnboundParameter)(
    "#length(^M)",
    "#length(2 * ^n)",
    "#length(^abs(3))",
    "#time(^M sec)",
    "#time(1 min ^M sec)",
    "#time_batch(1 sec, ^M)",
    "@Hint('reclaim_group_aged=^M') #length(3)")

  all("unknown-column: names are case-sensitive", Category.UnknownColumn)(
    "#unique(^nosuch)",
    "#unique(^Symbol)",
    "#unique(symbol, price > ^nosuch)",
    "#groupwin(^nosuch)#length(2)",
    "#sort(3, ^nosuch desc)",
    "#ext_timed(^nosuch, 1)",
    "#expr(^nosuch > 1)",
    "#expr_batch(^nosuch > 1)",
    "#expr(newest_event.^nosuch > 1)",
    "#expr(sum(^nosuch) > 1)",
    "#unique(^current_count)",
    "#unique(^newest_event.price)",
    "#unique(^S.price)",
    "select * from S#unique(^T.price)",
    "select * from S#unique(S.^nosuch)",
    "select * from S(^nosuch > 1)#length(3)",
    "select count(*), sum(^nosuch) from S#length(3)",
    "select price as p, count(*) from S#length(3) group by ^p",
    "select sum(price) as x, x.^nosuch from S as x#length(3)",
    "select sum(^current_count) from S#length(3)",
    "#uni(^nosuch)",
    "#uni(price, ^nosuch)",
    "#unique(^``)")

  messages("unknown-column")(
    "#unique(^Symbol)" -> "there is no Symbol: did you mean symbol?",
    "#unique(^colour)" -> "there is no colour: the columns are symbol, price, volume, ts, at")

  test("unknown-column: the message names the first columns") {
    val names = ('a' to 'j').map(c => s"c$c")
    val message = refused("#unique(^x)", Scope(columns = names)).message
    assert(message.endsWith("the columns are ca, cb, cc, cd, ce, cf, cg, ch, ..."))
  }

  all("policy: windows that do not exist, or not by this name", Category.Policy)(
    "^lengths(3)",
    "#^Length(3)",
    "#^LENGTH(3)",
    "#length(3)#^tumbling(3)",
    "#^std:length(3)",
    ".^win:unique(symbol)",
    ".^view:length(3)",
    s"#^${"x" * 5000}(3)")

  messages("policy: windows that do not exist, or not by this name")(
    "#^Length(3)" -> "there is no Length: did you mean length?",
    "#^timeBatch(3)" -> "there is no timeBatch: did you mean time_batch?",
    "#^tumbling(3)" -> "the windows are correl, expr, expr_batch",
    "#^std:length(3)" -> "expected win:length")

  all("syntax: windows of one chain have # before them, or a dot", Category.Syntax)(
    "#time(5 sec)^.std:unique(symbol)",
    "time(5 sec)^.std:unique(symbol)",
    "#time(5 sec)#length(3)^.unique(symbol)",
    "#groupwin(symbol)^.win:length(2)",
    ".win:time(5 sec)^#unique(symbol)",
    ".win:time(5 sec).win:length(3)^#std:unique(symbol)",
    "win:time(5 sec).win:length(3)^#std:unique(symbol)",
    "select * from S.std:groupwin(symbol)^#length(2)")

  messages("syntax: windows of one chain have # before them, or a dot")(
    "#time(5 sec)^.std:unique(symbol)" -> "expected # before a window",
    ".win:time(5 sec)^#unique(symbol)" -> "expected a dot before a window")

  test("limit: ranges inside each other that repeat too much") {
    def nested(depth: Int): String =
      if (depth == 0) "price" else s"(${nested(depth - 1)} between price and ts)"
    assert(Esper.parse(s"#unique(${nested(5)})", scope).isRight)
    val error = Esper.parse(s"#unique(${nested(28)})", scope).swap.toOption.get
    assert(error.category == Category.Limit && error.message.contains("fewer ranges"))
  }

  all("policy: groupwin and merge where they may not stand", Category.Policy)(
    "#^groupwin(symbol)",
    "#length(2)#^groupwin(symbol)",
    "#length(2)#^groupwin(symbol)#length(2)",
    "#groupwin(symbol)#^groupwin(volume)#length(2)",
    "#length(2)#^merge(symbol)",
    "#^merge(symbol)",
    "#groupwin(symbol)#^merge(symbol)#length(2)",
    "#groupwin(symbol)#length(2)#merge(symbol)#^merge(symbol)",
    "#groupwin(symbol)#length(2)#^merge(volume)",
    "#groupwin(symbol)#length(2)#^merge(symbol, volume)",
    "#groupwin(symbol)#length(2)#merge(symbol)#^time(1)",
    "#length(2)#^merge(symbol)#size",
    "#groupwin(symbol)#^merge(symbol)#size",
    "#groupwin(symbol)#length(2)#size#^merge(volume)",
    "#groupwin(symbol)#length(2)#size#merge(symbol)#^length(2)",
    "#size#^groupwin(symbol)")

  all("policy: two batches in an intersection, but not in a union", Category.Policy)(
    "#length_batch(2)#unique(symbol)#^time_batch(1 sec)",
    "#expr_batch(true)#^time_length_batch(1, 3)",
    "#groupwin(symbol)#ext_timed_batch(ts, 1)#^length_batch(3) retain-intersection",
    "#length_batch(2)#^time_batch(1)#size")

  messages("policy: two batches in an intersection, but not in a union")(
    "#length_batch(2)#^length_batch(2)" -> "length_batch is one already")

  all("unsupported: what retains or selects computed values", Category.Unsupported)(
    "#uni(price)#^length(2)",
    "#length(3)#size#^length(2)",
    "#length(3)#time(1)#size#^length(2) retain-union",
    "#stat:correl(price, volume)#^length(2)",
    "#groupwin(symbol)#linest(price, volume)#^size",
    "#groupwin(symbol)#length(2)#size#merge(symbol)#^uni(price)",
    "select ^count(*) from S#length(3)#size")

  messages("unsupported: what retains or selects computed values")(
    "#uni(price)#^length(2)" -> "no window behind uni, which computes values; put a second keep",
    "select ^count(*) from S#size" -> "* alone, because size computes values already")

  all("duplicate column: a name that is twice in a select list", Category.DuplicateColumn)(
    "select count(*), ^count(*) from S#length(3)",
    "select count(*) as n, sum(price) as ^n from S#length(3)",
    "select symbol, count(*) as ^symbol from S#length(3) group by symbol")

  messages("duplicate column: a name that is twice in a select list")(
    "select sum(price), ^sum( price ) from S#length(3)" -> "`sum(price)` is repeated")

  all("unsupported: what else a statement can have", Category.Unsupported)(
    "select ^price from S#length(3)",
    "select ^price * 2, cast(volume, double) from S#length(3) group by price",
    "select istream ^distinct * from S#length(3)",
    "select ^distinct count(*) from S#length(3)",
    "select irstream *^, price from S#length(3)",
    "select *^, count(*) from S#length(3)",
    "select count(*), ^* from S#length(3)",
    "select count(*) from S#length(3) ^having count(*) > 3",
    "select count(*) from S#length(3) group by symbol ^having count(*) > 3",
    "select count(*) from S#length(3) group by symbol ^order by symbol",
    "select count(*) from S#length(3) group by ^rollup(symbol, volume)",
    "select count(*) from S#length(3) group by ^grouping sets(symbol, volume)",
    "select * from S#length(3) ^where price > 3",
    "select * from S#length(3) ^group by symbol",
    "select * from S#length(3) ^having count(*) > 3",
    "select * from S#length(3) ^output every 3 seconds",
    "select * from S#length(3) ^order by price",
    "select * from S#length(3) ^limit 3",
    "select * from S#length(3) ^unidirectional",
    "select * from S#length(3) as a^, T#length(3) as b",
    "select * from S#length(3) as a ^inner join T#length(3) as b",
    "select * from ^pattern [every S]#length(3)",
    "^insert into T select * from S#length(3)",
    "^context C select * from S#length(3)",
    "^create window W#keepall as S",
    "@Name('x') ^on S select * from W",
    "@^Drop select * from S#length(3)",
    "@^Priority(3) #length(3)",
    "@Hint('^disable_unique_implicit_idx') #length(3)",
    "@Hint('reclaim_group_aged=3,^force_nested_iter') #length(3)",
    "@Hint('^hint') #length(3)")

  messages("unsupported: what else a statement can have")(
    "select ^price from S#length(3)" -> "expected * or aggregates",
    "select ^distinct * from S#length(3)" -> "expected no distinct",
    "#length(3) ^group by symbol" -> "group by goes with a select list of aggregates",
    "#length(3) ^output every 3 seconds" -> "output rate limiting is not supported")

  all("unsupported: what else expressions can have", Category.Unsupported)(
    "#expr(exists (^select * from E#keepall))",
    "#unique(^select)",
    "#unique(^prev(1, price))",
    "#unique(price - ^prior(1, price))",
    "#expr(^PREVTAIL(price) > 3)",
    "#unique(^current_timestamp())",
    "#unique(^symbol.toString())",
    "#unique(^Math.max(price, 3))",
    "#unique(^`abs`(price))",
    "#unique(symbol ^regexp 'x')",
    "#unique(cast(price, ^BigDecimal))",
    "#unique(cast(price, ^java.lang.String))")

  all("limit: length and depth", Category.Limit)(
    "#length(2)" + " " * 9990 + "^ ",
    s"#length(${"(" * 33}^2${")" * 33})",
    s"#length(${"-" * 33}^2)",
    s"#unique(${"(" * 33}^price${")" * 33})",
    s"#unique(${"- " * 33}^price)",
    s"#unique(${"not " * 33}^price)",
    s"#unique(${"abs(" * 33}^price${")" * 33})",
    s"#unique(${"case when " * 33}^price)",
    s"#unique(${"(" * 4900}price)".patch(8 + 33, "^", 0),
    s"#unique(${"(-" * 17}price)".patch(8 + 33, "^", 0),
    s"#unique(price${" + 1" * 100} ^+ 1)",
    s"#expr(true${" and true" * 100} ^and true)",
    s"select ${"price, " * 500}^count(*) n from S#length(2)",
    s"select count(*) from S#length(2) group by ${"price, " * 500}^price",
    s"select count(*) from S(${"price > 1, " * 500}^price > 1)#length(2)",
    s"#unique(${"price, " * 500}^price)",
    s"#rank(${"price, " * 500}^price, 3, price)",
    s"#sort(3, ${"price desc, " * 500}^price)")

  test("the example is valid even where a column's name is not plain") {
    assert(refused("^", Scope()).example == "#time(10 min)")
  }

  testEach("the example is valid even where a column's name is not plain")(
    "a`b c" -> "`a``b c`",
    "case" -> "`case`",
    "stream" -> "`stream`") { case (name, quoted) =>
    val odd = Scope(columns = Seq(name))
    assert(refused("#unique(^d)", odd).example == s"#unique($quoted)")
    assert(refused("^", odd).example.endsWith(s"#unique($quoted)"))
  }
}
