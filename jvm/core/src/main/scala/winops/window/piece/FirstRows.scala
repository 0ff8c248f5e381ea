package winops.window.piece

import winops.storage.bytes.{ByteReader, ByteWriter}
import winops.terms.Wording
import winops.window.contents.{HeldRows, WindowContext}
import winops.window.expression.WindowView
import winops.window.rules.{EvictedRows, FrontPart, Part}

/** Admits the first `rows` rows. */
final case class FirstRows(rows: Long) extends Admit {
  override def usesTime: Boolean = false
  override def words: String = s"the first ${Wording.several(rows)}"
  override def clause: Option[String] = Some(s"inserts only $words")

  override private[window] def part(context: WindowContext): Part =
    new FirstRowsPart(rows, context.held)
}

/** Admits a row while the window holds fewer than `rows` rows, and evicts none. */
private final class FirstRowsPart(rows: Long, held: HeldRows) extends FrontPart(held) {
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
