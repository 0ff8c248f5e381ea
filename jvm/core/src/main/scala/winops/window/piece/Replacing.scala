package winops.window.piece

import winops.storage.btree.PagedMap
import winops.terms.{Purpose, RowExpression, Wording}
import winops.window.changes.ChangeReason
import winops.window.contents.WindowContext
import winops.window.contents.WindowContext.Make
import winops.window.expression.{RowKey, WindowView}
import winops.window.rules.{EvictedRows, OneForEachPart, Part}

/** By arrival. An arriving row replaces the previous row of its key. */
final case class Replacing(keys: Seq[RowExpression]) extends Order {
  override def reads: Seq[(Purpose, RowExpression)] = keys.map(Purpose.Key -> _)
  override def replaces: Boolean = true
  override def evictsOldestFirst: Boolean = false
  override def words: String =
    s"a row replaces the previous row of the same ${Wording.listed(keys)}"
  override def keptOf(admit: Admit): String = s"the newest row of each ${Wording.listed(keys)}"
  override def criteria: Option[String] = None
  override def clause(bound: Bound): Option[String] = Option.when(bound != Unbounded)(words)

  override private[winops] def keyOfNewestRow(bound: Bound): Option[Seq[RowExpression]] =
    Option.when(bound == Unbounded)(keys)

  override private[window] def part(bound: Bound): Option[Make[Part]] =
    Option.when(bound == Unbounded)(newest)

  private[piece] def newest(context: WindowContext): NewestOfEachPart =
    new NewestOfEachPart(context.evaluator.key(keys), context.newIndex())
}

/** Holds the newest row of each key: a row replaces the previous row of its key. */
private final class NewestOfEachPart(key: RowKey, index: PagedMap)
    extends OneForEachPart(key, index) {
  override def replaces(row: Long): Boolean = rowLike(row) != WindowView.NoRow

  override def arrive(row: Long, at: Long, evicted: EvictedRows): Unit = {
    val previous = put(row)
    if (previous != WindowView.NoRow) evicted.add(previous, ChangeReason.Replaced)
  }

  override def update(row: Long, values: Long, evicted: EvictedRows): Unit = {
    val previous = move(row, values)
    if (previous != WindowView.NoRow) evicted.add(previous, ChangeReason.Replaced)
  }
}
