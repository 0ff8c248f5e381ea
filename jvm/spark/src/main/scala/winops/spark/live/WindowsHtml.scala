package winops.spark.live

import java.util.Locale

import scala.xml.{Elem, Node, NodeSeq, Text, Unparsed}

/** Writes the runs of queries as HTML, for a tab of Spark's UI. Texts of users are escaped. The
  * elements need neither scripts nor the style sheets of the page around them.
  */
object WindowsHtml {

  /** The watermark that Spark reports before the first one. */
  private val NoWatermark = "1970-01-01T00:00:00.000Z"

  private val line = new Sparkline(160, 34)

  /** The elements for all runs: those that run first, the latest of them at the top. */
  def of(queries: Seq[QueryHistory]): Elem = {
    val (running, ended) = queries.reverse.partition(_.status == QueryStatus.Running)
    <div class="winops">
      <style>{Unparsed(Style)}</style>
      {
      if (queries.isEmpty) <p>No streaming query with keep or window functions has run yet.</p>
      else NodeSeq.Empty
    }
      {running.map(query)}
      {ended.map(query)}
    </div>
  }

  private def query(query: QueryHistory): Elem = {
    val status = query.status.name
    val facts = Seq(
      Option.when(query.batch >= 0)(s"batch ${query.batch}"),
      Option.when(query.batch >= 0)(s"${number(query.rowsPerSecond)} rows/s"),
      query.watermark
        .filter(_ != NoWatermark)
        .map(watermark => s"watermark ${shortened(watermark)}")).flatten
    <section class={s"winops-query winops-$status"} id={s"query-${query.run}"}>
      <header>
        <h4>{query.title}</h4>
        <span class="winops-status">{status}</span>
        {facts.map(fact => <span class="winops-fact">{fact}</span>)}
      </header>
      {
      if (query.batches == 0) <p>The first micro-batch has not ended yet.</p>
      else NodeSeq.fromSeq(query.windows.map(window))
    }
    </section>
  }

  private def window(window: WindowHistory): Elem =
    <div class="winops-window">
      <p class="winops-text">{sentence(window.description)}</p>
      {window.alerts.map(alert => <p class="winops-alert">{alert}</p>)}
      <div class="winops-numbers">
        <div class="winops-tiles">{tiles(window)}</div>
        {largest(window)}
      </div>
    </div>

  private def tiles(window: WindowHistory): Seq[Elem] = {
    val last = window.last
    Seq(
      tile(window, "Rows held", "held", last.held.toDouble, _.held.toDouble),
      tile(window, "Groups", "groups", last.groups.toDouble, _.groups.toDouble),
      tile(window, "Inserts per second", "in", last.insertedPerSecond, _.insertedPerSecond),
      tile(window, "Deletes per second", "out", last.deletedPerSecond, _.deletedPerSecond),
      tile(window, "Bytes written per row", "bytes", window.bytesPerRow, _.bytesPerRow),
      tile(window, "Waiting rows", "held", last.waiting.toDouble, _.waiting.toDouble),
      tile(window, "Late rows", "lost", window.late.toDouble, _.late.toDouble),
      tile(window, "Refused rows", "lost", window.refused.toDouble, _.refused.toDouble),
      tile(window, "Dropped rows", "lost", window.dropped.toDouble, _.dropped.toDouble),
      tile(window, "Batch in ms", "groups", last.millis.toDouble, _.millis.toDouble))
  }

  private def tile(
      window: WindowHistory,
      label: String,
      kind: String,
      value: Double,
      of: WindowSample => Double): Elem = {
    val numbers = window.samples.map(of)
    val title = s"$label, last ${numbers.size} micro-batches: " +
      s"${number(numbers.minOption.getOrElse(0))} to ${number(numbers.maxOption.getOrElse(0))}"
    val zero = if (value == 0) " winops-zero" else ""
    <div class={s"winops-tile winops-$kind$zero"}>
      <span class="winops-label">{label}</span>
      <span class="winops-value">{number(value)}</span>
      {line.of(numbers, title)}
    </div>
  }

  private def largest(window: WindowHistory): NodeSeq =
    if (window.seen.isEmpty) NodeSeq.Empty
    else {
      val most = window.seen.map(_.rows).max.toDouble
      <div class="winops-tile winops-largest">
        <span class="winops-label">Largest groups</span>
        <table>
          {window.seen.map(group(_, most))}
        </table>
      </div>
    }

  private def group(group: SeenGroup, most: Double): Node = {
    val share = "%.0f%%".formatLocal(Locale.ROOT, 100 * group.rows / most)
    <tr title={s"in batch ${group.batch}"}>
      <td>{group.key}</td>
      <td class="winops-bar"><i style={s"width: $share"}></i></td>
      <td>{number(group.rows.toDouble)}</td>
    </tr>
  }

  /** A description, whose names are in backquotes. */
  private def sentence(description: String): Seq[Node] =
    description.split("`", -1).toSeq.zipWithIndex.map {
      case (name, i) if i % 2 == 1 =>
        <code>{name}</code>
      case (text, _) => Text(text)
    }

  /** A watermark without its fraction of a second and zone: `2013-07-03 12:00:00`. */
  private def shortened(watermark: String): String =
    watermark.replaceFirst("T", " ").replaceFirst("\\.\\d+Z$", "")

  private def number(value: Double): String = {
    val format =
      if (Math.abs(value) >= 1e7) "%,.1f M"
      else if (Math.abs(value) < 10 && value != Math.rint(value)) "%,.1f"
      else "%,.0f"
    format.formatLocal(Locale.ROOT, if (Math.abs(value) >= 1e7) value / 1e6 else value)
  }

  private val Style =
    """
.winops { color: #24313f; max-width: 1500px; }
.winops * { box-sizing: border-box; }
.winops p { margin: 0; max-width: none; }
.winops code { color: inherit; background: #eef2f6; padding: 1px 5px; border-radius: 4px;
  font-size: 14px; }
.winops-query { border: 1px solid #d9e0e7; border-radius: 8px; margin: 0 0 20px; background: #fff; }
.winops-query header { display: flex; flex-wrap: wrap; align-items: center; gap: 8px 18px;
  padding: 10px 16px; background: #f4f7fa; border-radius: 8px 8px 0 0;
  border-bottom: 1px solid #d9e0e7; }
.winops-query h4 { margin: 0; font-size: 18px; font-weight: 600; }
.winops-query > p { padding: 12px 16px; }
.winops-status { font-size: 12px; padding: 2px 10px; border-radius: 10px; background: #d7f0e0;
  color: #17663a; }
.winops-finished .winops-status { background: #e4e8ec; color: #4a5763; }
.winops-failed .winops-status { background: #fbdcd7; color: #99281a; }
.winops-fact { color: #5a6977; font-size: 14px; }
.winops-window { padding: 14px 16px 16px; }
.winops-window + .winops-window { border-top: 1px solid #e6ebf0; }
.winops .winops-text { font-size: 15px; margin-bottom: 10px; }
.winops .winops-alert { background: #fff4dc; border-left: 4px solid #e0a21b; padding: 7px 12px;
  margin-bottom: 10px; color: #6b4a00; }
.winops-numbers { display: flex; flex-wrap: wrap; gap: 10px; }
.winops-tiles { display: grid; gap: 10px; flex: 5 1 600px;
  grid-template-columns: repeat(5, minmax(0, 1fr)); }
.winops-tile { border: 1px solid #e6ebf0; border-radius: 6px; padding: 8px 10px 6px;
  display: flex; flex-direction: column; min-width: 0; }
.winops-label { font-size: 12px; color: #5a6977; }
.winops-value { font-size: 22px; font-weight: 600; line-height: 1.3;
  font-variant-numeric: tabular-nums; }
.winops-line { width: 100%; height: 34px; margin-top: auto; color: #5b6fb5; }
.winops-line polyline { fill: none; stroke: currentColor; stroke-width: 1.6;
  vector-effect: non-scaling-stroke; stroke-linejoin: round; }
.winops-line polygon { fill: currentColor; opacity: .13; }
.winops-held .winops-line { color: #1f6fb2; }
.winops-in .winops-line { color: #2a9160; }
.winops-out .winops-line { color: #cf5f36; }
.winops-lost .winops-line { color: #b23a48; }
.winops-bytes .winops-line { color: #8a6d1f; }
.winops-zero .winops-value { color: #a5b0ba; }
.winops-largest { flex: 1 1 230px; }
.winops-largest table { width: 100%; font-size: 13px; margin-top: 4px; border-collapse: collapse; }
.winops-largest td { padding: 0 8px 0 0; white-space: nowrap; overflow: hidden;
  text-overflow: ellipsis; max-width: 180px; line-height: 1.9; }
.winops-largest td:last-child { text-align: right; padding: 0; font-variant-numeric: tabular-nums; }
.winops-largest .winops-bar { width: 50%; }
.winops-bar i { display: block; height: 8px; border-radius: 2px; background: #1f6fb2; opacity: .6; }
"""
}
