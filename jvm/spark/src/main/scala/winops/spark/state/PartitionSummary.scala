package winops.spark.state

import java.nio.charset.StandardCharsets.UTF_8

import winops.storage.bytes.{ByteReader, ByteWriter, Segments}
import winops.window.time.Clock

/** The counts of a partition and the identity of the query that wrote it, at the beginning of the
  * partition's data.
  *
  * @param identity
  *   the [[StateIdentity]] of the query
  * @param idle
  *   the idle time in milliseconds after which groups were removed; [[Clock.Never]] for none
  * @param passed
  *   the instant up to which timers of all groups have fired
  * @param isFlushed
  *   true if the rows at `passed` have been applied too, so that further ones are late
  * @param groups
  *   the number of groups
  * @param rows
  *   the number of rows in windows or waiting
  * @param waiting
  *   the number of rows that wait for the watermark
  * @param history
  *   the table that the stream started with, while its times matter
  */
final case class PartitionSummary(
    identity: String,
    idle: Long,
    passed: Long,
    isFlushed: Boolean,
    groups: Long,
    rows: Long,
    waiting: Long,
    history: Option[HistoryTimes] = None) {

  /** The idle time after which groups were removed, as the query has it. */
  def idleMillis: Option[Long] = Option.when(idle != Clock.Never)(idle)

  private[state] def save(out: ByteWriter): Unit = {
    out.byte(StateVersion.Current)
    out.block(identity.getBytes(UTF_8))
    out.number(idle)
    out.number(passed)
    // A number below 0 says that a table follows, so that other summaries need no byte for it.
    out.number(if (history.isEmpty) groups else -1L - groups)
    out.number(rows)
    out.number(waiting << 1 | (if (isFlushed) 1L else 0L))
    history.foreach(_.save(out))
  }
}

object PartitionSummary {

  /** The segment with the partition's data. */
  private[state] val Number = 0L

  /** Returns the summary stored in a partition's segments; None before its first micro-batch. */
  def of(segments: Segments): Option[PartitionSummary] =
    Option(segments.get(Number)).map(bytes => restore(new ByteReader(bytes)))

  private[state] def restore(in: ByteReader): PartitionSummary = {
    StateVersion.check(in)
    val identity = new String(in.block(), UTF_8)
    val (idle, passed) = (in.number(), Clock.restore(in))
    val (groups, rows) = (in.number(), in.count(Long.MaxValue))
    val waiting = in.count(Long.MaxValue)
    val history = Option.when(groups < 0)(HistoryTimes.restore(in))
    PartitionSummary(
      identity,
      idle,
      passed,
      isFlushed = (waiting & 1) == 1,
      if (groups < 0) -1L - groups else groups,
      rows,
      waiting >> 1,
      history)
  }
}
