package winops.window.piece

import winops.terms.{Purpose, RowExpression, Wording}
import winops.window.contents.{HeldRows, WindowContext}
import winops.window.rules.{NewestRowPart, Part}

/** Admits the first `rows` rows. */
final case class FirstRows(rows: Long) extends Admit {
  override def usesTime: Boolean = false
  override def reads: Seq[(Purpose, RowExpression)] = Nil
  override def words: String = s"the first ${Wording.several(rows)}"
  override def clause: Option[String] = Some(s"inserts only $words")

  override private[window] def part(context: WindowContext): Part =
    new FirstRowsPart(rows, context.held)
}

/** Admits a row while the window holds fewer than `rows` rows, and evicts none. */
private final class FirstRowsPart(rows: Long, held: HeldRows) extends NewestRowPart(held) {
  override def admits(row: Long, at: Long): Boolean = count < rows

  override def forget(row: Long): Unit = if (holds(row)) count -= 1
  override def holds(row: Long): Boolean = row <= newest
}
