package org.apache.spark.sql.winops.testing

import java.io.File

import org.apache.commons.io.FileUtils
import org.apache.hadoop.fs.Path

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state.{ReadStateStore, StateStore}
import org.apache.spark.sql.winops.state.KeepStores
import org.apache.spark.unsafe.Platform

/** State stores with altered entries. */
private[winops] object ChangedStores {
  type Entry = (UnsafeRow, UnsafeRow)

  /** Offsets and lengths of a value outside of any small row. */
  val Outside: Seq[Long] = Seq(
    16L -> Int.MaxValue.toLong,
    16L -> -1L,
    -8L -> 8L,
    0x7ffffff0L -> 8L,
    1L -> 8L,
    1024L -> 8L).map { case (place, length) => place << 32 | length & 0xffffffffL }

  /** All entries; the partition's own entries, which have no group, come first. */
  def entriesIn(store: ReadStateStore): Seq[Entry] = store
    .iterator(StateStore.DEFAULT_COL_FAMILY_NAME)
    .map(entry => (entry.key.copy(), entry.value.copy()))
    .toVector
    .sortBy { case (key, _) => key.getLong(key.numFields - 1) }

  def put(store: StateStore, entries: Seq[Entry]): Unit = entries.foreach { case (key, value) =>
    store.put(key, value, StateStore.DEFAULT_COL_FAMILY_NAME)
  }

  /** Rewrites the first version of a partition; must run in a task. */
  def rewrite(stores: KeepStores, partition: Int)(change: Seq[Entry] => Seq[Entry]): Unit = {
    val entries = stores.read(partition, 0, None)(store => entriesIn(store).iterator).toVector
    val folder = new Path(stores.folder, s"${stores.operator}/$partition")
    FileUtils.cleanDirectory(new File(folder.toUri.getPath))
    stores.write(partition)(put(_, change(entries)))
    ()
  }

  /** A copy of the row with another offset and length of one of its values. */
  def pointing(row: UnsafeRow, column: Int, word: Long): UnsafeRow = {
    val bytes = row.getBytes.clone()
    val at = UnsafeRow.calculateBitSetWidthInBytes(row.numFields) + 8L * column
    Platform.putLong(bytes, Platform.BYTE_ARRAY_OFFSET + at, word)
    val changed = new UnsafeRow(row.numFields)
    changed.pointTo(bytes, bytes.length)
    changed
  }
}
