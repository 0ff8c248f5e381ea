package winops.text

import org.openjdk.jmh.annotations.{Benchmark, Param, Setup, Warmup}

import winops.benchmarks.AverageNanos
import winops.policy.{ColumnKind, Parameter, Policy, PolicyError, Scope}
import winops.text.apama.Apama
import winops.text.ccl.Ccl
import winops.text.dialect.Dialect
import winops.text.esper.Esper
import winops.text.spl.Spl

/** Parses the text of a policy. The parsers consist of many small functions, which take the JVM
  * long to compile, so the warm-up is longer than in the other benchmarks.
  */
@Warmup(iterations = 10, time = 1)
class ParserBenchmark extends AverageNanos {
  import ParserBenchmark._

  @Param(Array("ccl", "esper", "apama", "spl"))
  var dialect: String = _

  @Param(Array("typical", "long"))
  var length: String = _

  private var read: Dialect = _
  private var text: String = _

  @Setup
  def choose(): Unit = {
    read = dialects.find(_.name == dialect).get
    text = texts(dialect -> length)
    parse().left.foreach(error => throw new IllegalArgumentException(error.toString))
  }

  @Benchmark
  def parse(): Either[PolicyError, Policy] = read.parse(text, scope)
}

object ParserBenchmark {
  private val dialects = Seq(Ccl, Esper, Apama, Spl)

  private val scope = Scope(
    parameters = Map("n" -> Parameter.Whole(100), "hours" -> Parameter.Whole(2)),
    columns = Seq("symbol", "venue", "account", "price", "volume", "ts"),
    kinds = Map(
      "symbol" -> ColumnKind.Other,
      "venue" -> ColumnKind.Other,
      "account" -> ColumnKind.Other,
      "price" -> ColumnKind.RealNumber,
      "volume" -> ColumnKind.WholeNumber,
      "ts" -> ColumnKind.Timestamp))

  private val texts = Map(
    ("ccl", "typical") -> "KEEP 100 ROWS PER (symbol)",
    ("ccl", "long") ->
      """KEEP EVERY (hours * 2 + 1) HOURS 30 MINUTES 15 SECONDS 250 MILLISECONDS
        |PER (symbol, "venue", `account`)""".stripMargin,
    ("esper", "typical") -> "#time(10 min)#unique(symbol)",
    ("esper", "long") ->
      """@Hint('reclaim_group_aged=3600,reclaim_group_freq=60')
        |select irstream * from Trade(price > 0 and volume between 1 and 1000 * n)
        |#groupwin(symbol, venue)#length(2 * n + 10)#time(1 hour 30 min 15 sec)""".stripMargin,
    ("apama", "typical") -> "partition by symbol retain 100 every 10",
    ("apama", "long") ->
      """from trade in market.trades
        |partition by trade.symbol, trade.venue, trade.account
        |within 60.0 * 60.0 + 30.0 every 0.5 * (1.0 + 2.0) retain n * (10 + 5)
        |with unique trade.price
        |select rstream trade;""".stripMargin,
    (
      "spl",
      "typical") -> "sliding, count(100), count(10), partitioned; param partitionBy : symbol;",
    ("spl", "long") ->
      """window Trades : tumbling, time(60 * 60 * hours + 30.5),
        |partitioned, partitionAge(24 * 60 * 60 + 0.25);
        |param partitionBy : symbol, venue, account;""".stripMargin)
}
