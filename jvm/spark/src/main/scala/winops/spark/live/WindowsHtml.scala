package winops.spark.live

import java.time.Duration
import java.util.{Locale, UUID}

import scala.xml.{Elem, Node, NodeSeq, Text, Unparsed}

/** Writes the runs of queries as HTML, for a tab of Spark's UI. Texts of users are escaped. The
  * elements need neither scripts nor the style sheets of the page around them.
  */
object WindowsHtml {

  /** The watermark that Spark reports before the first one. */
  private val NoWatermark = "1970-01-01T00:00:00.000Z"

  private val line = new Sparkline(160, 34)

  /** The elements for all runs: those that run first, the latest of them at the top.
    *
    * @param linkOf
    *   the address of Spark's page of a run; `None` if Spark has no such pages
    */
  def of(queries: Seq[QueryHistory], linkOf: UUID => Option[String] = _ => None): Elem = {
    val (running, ended) = queries.reverse.partition(_.status == QueryStatus.Running)
    <div class="winops">
      <style>{Unparsed(Style)}</style>
      {
      if (queries.isEmpty) <p>No streaming query with keep or window functions has run yet.</p>
      else NodeSeq.Empty
    }
      {(running ++ ended).map(one => query(one, linkOf(one.run)))}
    </div>
  }

  private def query(query: QueryHistory, link: Option[String]): Elem = {
    val status = query.status.name
    val facts = Seq(
      Option.when(query.name.isEmpty && query.heading != query.title)(
        fact(s"id ${query.title}", "winops-id")),
      Option.when(query.batch >= 0)(fact(s"batch ${query.batch}")),
      Option.when(query.batch >= 0)(fact(s"${number(query.rowsPerSecond)} rows/s"))).flatten
    <section class={s"winops-query winops-$status"} id={s"query-${query.run}"}>
      <header>
        <h4>{query.heading}</h4>
        <span class="winops-status">{status}</span>
        {facts}
        {watermark(query)}
        {link.toSeq.map(address => <a class="winops-link" href={address}>Query in Spark</a>)}
      </header>
      {
      if (query.batches == 0) <p>The first micro-batch has not ended yet.</p>
      else NodeSeq.fromSeq(query.windows.map(window))
    }
    </section>
  }

  /** The watermark with its zone, and its lag behind the newest row. */
  private def watermark(query: QueryHistory): Seq[Elem] =
    query.watermark.filter(_ != NoWatermark).toSeq.flatMap { watermark =>
      val behindClock = query.behindClock.fold("")(lag => s", ${inWords(lag)} behind the clock")
      val lag = query.lag.map { lag =>
        <span class="winops-fact" title={
          s"The watermark is ${inWords(lag)} behind the newest row$behindClock."
        }>lag {inWords(lag)}</span>
      }
      fact(s"watermark ${shortened(watermark)}") +: lag.toSeq
    }

  private def fact(text: String, more: String = ""): Elem =
    <span class={s"winops-fact $more".trim}>{text}</span>

  private def window(window: WindowHistory): Elem =
    <div class="winops-window">
      <p class="winops-text">{sentence(window.description)}</p>
      {window.alerts.map(alert => <p class="winops-alert">{alert}</p>)}
      <div class="winops-numbers">
        <div class="winops-tiles">{tiles(window)}</div>
        {largest(window)}
      </div>
      {fates(window)}
      {span(window)}
    </div>

  /** The numbers of input rows by their outcome. */
  private def fates(window: WindowHistory): Seq[Elem] = {
    val parts = window.fates.map { case (rows, words) => s"${number(rows.toDouble)} $words" }
    if (parts.isEmpty) Nil
    else
      Seq(<p class="winops-span winops-rows">Input rows of this run: {parts.mkString(", ")}.</p>)
  }

  /** The micro-batches that the lines show. */
  private def span(window: WindowHistory): Seq[Elem] =
    if (window.samples.size < 2) Nil
    else {
      val (first, last) = (window.samples.head.batch, window.samples.last.batch)
      Seq(<p class="winops-span">Lines run from micro-batch {first} to {
        last
      }; their bottom is 0.</p>)
    }

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
    val (least, most) = (numbers.minOption.getOrElse(0.0), numbers.maxOption.getOrElse(0.0))
    val title =
      s"$label, last ${numbers.size} micro-batches: ${number(least)} to ${number(most)}"
    val zero = if (value == 0) " winops-zero" else ""
    val flat = if (most == 0) " winops-flat" else ""
    <div class={s"winops-tile winops-$kind$zero$flat"}>
      <span class="winops-label">{label}</span>
      <span class="winops-value">{number(value)}</span>
      {line.of(numbers, title)}
      {
      if (numbers.size < 2 || most == 0) NodeSeq.Empty
      else
        <span class="winops-range"><span>min {number(least)}</span><span>max {
          number(most)
        }</span></span>
    }
    </div>
  }

  private def largest(window: WindowHistory): NodeSeq =
    if (window.seen.isEmpty) NodeSeq.Empty
    else {
      <div class="winops-tile winops-largest">
        <span class="winops-label">Largest groups, by their share of all rows held</span>
        <table>
          {window.seen.map(group(_, window.last.held))}
        </table>
      </div>
    }

  private def group(group: SeenGroup, held: Long): Node = {
    // The group may have shrunk since it was seen.
    val part = if (held == 0) 0.0 else Math.min(1.0, group.rows.toDouble / held)
    val share = if (part > 0 && part < 0.01) "<1%" else s"${Math.round(100 * part)}%"
    <tr title={s"${group.key}: ${number(group.rows.toDouble)} rows in batch ${group.batch}"}>
      <td>{group.key}</td>
      <td class="winops-bar"><i style={
      "width: %.1f%%".formatLocal(Locale.ROOT, 100 * part)
    }></i></td>
      <td>{number(group.rows.toDouble)}</td>
      <td>{share}</td>
    </tr>
  }

  /** A description, whose names are in backquotes. */
  private def sentence(description: String): Seq[Node] =
    description.split("`", -1).toSeq.zipWithIndex.map {
      case (name, i) if i % 2 == 1 =>
        <code>{name}</code>
      case (text, _) => Text(text)
    }

  /** A watermark without its fraction of a second: `2013-07-03 12:00:00 UTC`. */
  private def shortened(watermark: String): String =
    watermark.replaceFirst("T", " ").replaceFirst("(\\.\\d+)?Z$", " UTC")

  /** A length of time in its two largest units: `2 h 5 min`. */
  private def inWords(time: Duration): String = {
    val parts = Seq(
      time.toDays -> "d",
      time.toHoursPart.toLong -> "h",
      time.toMinutesPart.toLong -> "min",
      time.toSecondsPart.toLong -> "s").dropWhile(_._1 == 0).take(2).filter(_._1 != 0)
    if (parts.isEmpty) s"${time.toMillis} ms"
    else parts.map { case (count, unit) => s"$count $unit" }.mkString(" ")
  }

  private def number(value: Double): String = {
    val format =
      if (Math.abs(value) >= 1e7) "%,.1f M"
      else if (Math.abs(value) < 10 && value != Math.rint(value)) "%,.1f"
      else "%,.0f"
    format.formatLocal(Locale.ROOT, if (Math.abs(value) >= 1e7) value / 1e6 else value)
  }

  private val Style =
    """
.winops { --text: #24313f; --faint: #5a6977; --none: #a5b0ba; --card: #fff; --head: #f4f7fa;
  --border: #d9e0e7; --inner: #e6ebf0; --code: #eef2f6; --flat: #c9d1d9; --bar: #6ea3d0;
  --alert: #fff4dc; --alert-text: #6b4a00; --running: #d7f0e0; --running-text: #17663a;
  --finished: #e4e8ec; --finished-text: #4a5763; --failed: #fbdcd7; --failed-text: #99281a;
  --held: #1f6fb2; --in: #2a9160; --out: #cf5f36; --lost: #b23a48; --bytes: #8a6d1f;
  --groups: #5b6fb5; color: var(--text); max-width: 1500px; }
[data-bs-theme="dark"] .winops { --text: #dde4ea; --faint: #9fadb9; --none: #66737f;
  --card: #1c2329; --head: #232c34; --border: #37434d; --inner: #303b44; --code: #2b353e;
  --flat: #46525d; --bar: #3f7fb8; --alert: #3d3115; --alert-text: #f0d48a; --running: #17402a;
  --running-text: #8fdcb0; --finished: #37424c; --finished-text: #c0cad3; --failed: #55231c;
  --failed-text: #f5b3a8; --held: #62a8e2; --in: #56c08e; --out: #ee8d66; --lost: #e87583;
  --bytes: #cdae5c; --groups: #94a5e6; }
.winops * { box-sizing: border-box; }
.winops p { margin: 0; max-width: none; }
.winops code { color: inherit; background: var(--code); padding: 1px 5px; border-radius: 4px;
  font-size: 14px; overflow-wrap: anywhere; }
.winops-query { border: 1px solid var(--border); border-radius: 8px; margin: 0 0 20px;
  background: var(--card); }
.winops-query header { display: flex; flex-wrap: wrap; align-items: center; gap: 6px 18px;
  padding: 10px 16px; background: var(--head); border-radius: 8px 8px 0 0;
  border-bottom: 1px solid var(--border); }
.winops-query h4 { margin: 0; font-size: 18px; font-weight: 600; overflow-wrap: anywhere;
  color: inherit; }
.winops-query > p { padding: 12px 16px; }
.winops-status { font-size: 12px; padding: 2px 10px; border-radius: 10px;
  background: var(--running); color: var(--running-text); }
.winops-finished .winops-status { background: var(--finished); color: var(--finished-text); }
.winops-failed .winops-status { background: var(--failed); color: var(--failed-text); }
.winops-fact { color: var(--faint); font-size: 14px; overflow-wrap: anywhere; }
.winops-fact[title] { text-decoration: underline dotted; text-underline-offset: 3px; }
.winops-id { font-size: 12px; }
.winops-link { margin-left: auto; font-size: 14px; }
.winops-window { padding: 14px 16px 12px; }
.winops-window + .winops-window { border-top: 1px solid var(--inner); }
.winops .winops-text { font-size: 15px; margin-bottom: 10px; overflow-wrap: anywhere; }
.winops .winops-alert { background: var(--alert); border-left: 4px solid #e0a21b;
  padding: 7px 12px; margin-bottom: 10px; color: var(--alert-text); }
.winops .winops-span { color: var(--faint); font-size: 12px; margin-top: 8px; }
.winops-numbers { display: flex; flex-wrap: wrap; gap: 10px; }
.winops-tiles { display: grid; gap: 10px; flex: 5 1 600px; min-width: 0;
  grid-template-columns: repeat(5, minmax(0, 1fr)); }
.winops-tile { border: 1px solid var(--inner); border-radius: 6px; padding: 8px 10px 6px;
  display: flex; flex-direction: column; min-width: 0; }
.winops-label { font-size: 12px; color: var(--faint); }
.winops-value { font-size: 22px; font-weight: 600; line-height: 1.3; overflow-wrap: anywhere;
  font-variant-numeric: tabular-nums; }
.winops-line { width: 100%; height: 34px; margin-top: auto; color: var(--groups); }
.winops-line polyline { fill: none; stroke: currentColor; stroke-width: 1.6;
  vector-effect: non-scaling-stroke; stroke-linejoin: round; }
.winops-line polygon { fill: currentColor; opacity: .13; }
.winops-range { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 8px;
  font-size: 11px; color: var(--faint); font-variant-numeric: tabular-nums; }
.winops-held .winops-line { color: var(--held); }
.winops-in .winops-line { color: var(--in); }
.winops-out .winops-line { color: var(--out); }
.winops-lost .winops-line, .winops-lost .winops-value { color: var(--lost); }
.winops-bytes .winops-line { color: var(--bytes); }
.winops-zero .winops-value { color: var(--none); }
.winops-flat .winops-line { color: var(--flat); }
.winops-largest { flex: 1 1 260px; }
.winops-largest table { width: 100%; font-size: 13px; margin-top: 4px; border-collapse: collapse; }
.winops-largest td { padding: 0 8px 0 0; white-space: nowrap; overflow: hidden;
  text-overflow: ellipsis; max-width: 120px; line-height: 1.9; }
.winops-largest td:nth-last-child(-n+2) { text-align: right; font-variant-numeric: tabular-nums; }
.winops-largest td:last-child { padding: 0; color: var(--faint); }
.winops-largest .winops-bar { width: 45%; }
.winops-bar i { display: block; height: 8px; min-width: 2px; border-radius: 2px;
  background: var(--bar); }
@media (max-width: 760px) {
  .winops-tiles { grid-template-columns: repeat(2, minmax(0, 1fr)); flex-basis: 100%; }
  .winops-largest { flex-basis: 100%; }
  .winops-query header, .winops-window { padding-left: 12px; padding-right: 12px; }
  .winops-value { font-size: 20px; }
  .winops-link { margin-left: 0; }
}
"""
}
