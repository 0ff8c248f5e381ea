package winops.window.machine

import org.openjdk.jmh.annotations._
import org.openjdk.jmh.infra.Blackhole

import winops.benchmarks.{AverageNanos, LongColumns, Trades}
import winops.policy.Policy
import winops.spark.row.RowBytes
import winops.spark.testing.KeepPlans
import winops.storage.btree.Pages
import winops.storage.bytes.{HeapSegments, ShiftedSegments}
import winops.storage.rows.{RowLog, RowStore, RowTree}
import winops.text.apama.Apama
import winops.text.ccl.Ccl
import winops.text.esper.Esper
import winops.text.spl.Spl
import winops.window.changes.ChangeQueue
import winops.window.time.Clock

/** Inserts a row into a full window, including evictions, reading the changes, and settling. */
class MachineBenchmark extends AverageNanos {
  import MachineBenchmark._

  @Param(Array("rows", "slack", "time", "within", "sliding", "sort", "rank", "unique"))
  var window: String = _

  /** The number of rows in the window. */
  @Param(Array("100", "10000"))
  var size: Int = _

  private var trades: Trades = _
  private var rows: RowStore = _
  private var machine: Machine = _
  private var changes: ChangeQueue = _

  @Setup
  def fill(): Unit = {
    // The window `unique` holds one row per symbol; `rank` chooses the best of twice as many.
    val symbols = if (window == "rank") 2 * size else size
    trades = new Trades(symbols, noise = Trades.CentsPerTrade.toInt * size)
    open(policyOf(window, size))
    (0 until Trades.round(symbols)).foreach(_ => arrive())
    val slack = if (window == "slack") Slack else 1
    assert(machine.held >= size && machine.held < size + slack, s"${machine.held} rows are held")
  }

  @Benchmark
  @OperationsPerInvocation(RowsPerInvocation)
  def arrival(blackhole: Blackhole): Unit = {
    var i = 0
    while (i < RowsPerInvocation) {
      blackhole.consume(arrive())
      i += 1
    }
  }

  private def open(policy: Policy): Unit = {
    val segments = new HeapSegments
    val pages = new Pages(new ShiftedSegments(segments, FirstPage))
    rows =
      if (policy.leavesHoles) new RowTree(pages, policy.needsArrivals)
      else new RowLog(segments, policy.needsArrivals)
    changes = new ChangeQueue(policy.stream)
    machine =
      new Machine(policy, Clock.Never, rows, pages, new LongColumns(places, rows), changes)
  }

  private def arrive(): Long = {
    val trade = trades.next()
    machine.advance(trades.instant)
    RowBytes.append(rows, trades.instant, trade)
    val _ = machine.arrive(trades.instant)
    var emitted = 0L
    while (!changes.isEmpty) {
      changes.next()
      emitted += changes.ordinal
    }
    machine.settle()
    emitted
  }
}

object MachineBenchmark {
  final val RowsPerInvocation = 1000
  private val Slack = 10
  private val FirstPage = 1L << 60

  private val places = Map(
    KeepPlans.k.name -> Trades.Symbol,
    KeepPlans.ts.name -> Trades.Time,
    KeepPlans.n.name -> Trades.Price)

  private def policyOf(window: String, size: Int): Policy = window match {
    case "rows" => KeepPlans.policyOf(Ccl, s"KEEP $size ROWS")
    case "slack" => KeepPlans.policyOf(Ccl, s"KEEP $size ROWS SLACK $Slack")
    case "time" => KeepPlans.policyOf(Ccl, s"KEEP $size SECONDS")
    case "within" => KeepPlans.policyOf(Apama, s"within $size.0 retain $size")
    case "sliding" => KeepPlans.policyOf(Spl, s"sliding, time(${size - 1})")
    case "sort" => KeepPlans.policyOf(Esper, s"#sort($size, n desc)")
    case "rank" => KeepPlans.policyOf(Esper, s"#rank(k, $size, n desc)")
    case "unique" => KeepPlans.policyOf(Esper, "#unique(k)")
  }
}
