package winops.window.rules

import winops.storage.bytes.{ByteReader, ByteWriter}
import winops.window.contents.HeldRows
import winops.window.expression.WindowView

/** Admits a row while the window holds fewer than `rows` rows, and evicts none. */
private[window] final class FirstRowsPart(rows: Long, held: HeldRows) extends FrontPart(held) {
  private var newest = WindowView.NoRow

  override def admits(row: Long, at: Long): Boolean = count < rows

  override def arrive(row: Long, at: Long, evicted: EvictedRows): Unit = {
    super.arrive(row, at, evicted)
    newest = row
  }

  override def forget(row: Long): Unit = if (holds(row)) count -= 1
  override def holds(row: Long): Boolean = row <= newest

  override def clear(): Unit = {
    super.clear()
    newest = WindowView.NoRow
  }

  override def save(out: ByteWriter): Unit = {
    super.save(out)
    out.number(newest)
  }

  override def restore(in: ByteReader): Unit = {
    super.restore(in)
    newest = in.number()
  }
}
