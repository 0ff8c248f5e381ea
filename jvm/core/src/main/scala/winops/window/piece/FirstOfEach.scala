package winops.window.piece

import winops.storage.btree.PagedMap
import winops.terms.{Purpose, RowExpression, Wording}
import winops.window.contents.WindowContext
import winops.window.expression.{RowKey, WindowView}
import winops.window.rules.{EvictedRows, OneForEachPart, Part}

/** Admits the first row of each key, and another row of the key only after that row has left. */
final case class FirstOfEach(keys: Seq[RowExpression]) extends Admit {
  override def usesTime: Boolean = false
  override def reads: Seq[(Purpose, RowExpression)] = keys.map(Purpose.Key -> _)
  override def words: String = s"the first row of each ${Wording.listed(keys)}"

  override def clause: Option[String] = Some(
    s"inserts a row only while the window holds no row of the same ${Wording.listed(keys)}")

  override private[winops] def keyOfEachRow: Option[Seq[RowExpression]] = Some(keys)
  override private[winops] def withinKey: Admit = FirstRows(1L)

  override private[window] def part(context: WindowContext): Part =
    new FirstOfEachPart(context.evaluator.key(keys), context.newIndex())
}

/** Holds the first row of each key, and admits no other row of the key while that row is held. */
private final class FirstOfEachPart(key: RowKey, index: PagedMap)
    extends OneForEachPart(key, index) {
  override def admits(row: Long, at: Long): Boolean = rowLike(row) == WindowView.NoRow
  override def arrive(row: Long, at: Long, evicted: EvictedRows): Unit = {
    val _ = put(row)
  }
}
