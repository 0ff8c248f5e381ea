package winops.window.rules

import winops.storage.bytes.{ByteReader, ByteWriter}
import winops.window.contents.HeldRows
import winops.window.expression.WindowView

/** A window that knows the newest row which it took. */
private[window] abstract class NewestRowPart(held: HeldRows) extends FrontPart(held) {

  /** The newest row that entered, which may have left; `WindowView.NoRow` before the first. */
  protected var newest: Long = WindowView.NoRow

  override def arrive(row: Long, at: Long, evicted: EvictedRows): Unit = {
    super.arrive(row, at, evicted)
    newest = row
  }

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
