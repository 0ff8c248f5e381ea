package winops.window.piece

import scala.collection.mutable

import winops.storage.bytes.{ByteReader, ByteWriter}
import winops.terms.{Purpose, RowExpression, SortKey}
import winops.window.changes.ChangeReason
import winops.window.contents.WindowContext.Make
import winops.window.rules.{EvictedRows, Part}

/** By sort criteria, as in [[Sorted]]. An arriving row replaces the previous row of its key. */
final case class Ranked(keys: Seq[RowExpression], by: Seq[SortKey]) extends Order {
  private val sorted = Sorted(by)
  private val replacing = Replacing(keys)

  override def reads: Seq[(Purpose, RowExpression)] = replacing.reads ++ sorted.reads
  override def replaces: Boolean = true
  override def evictsOldestFirst: Boolean = false
  override def words: String = s"${sorted.words}; ${replacing.words}"
  override def keptOf(admit: Admit): String = sorted.keptOf(admit)
  override def criteria: Option[String] = sorted.criteria
  override def clause(bound: Bound): Option[String] = Some(replacing.words)

  override private[window] def part(bound: Bound): Option[Make[Part]] = bufferedPart(bound, 0L)

  override private[window] def bufferedPart(bound: Bound, buffer: Long): Option[Make[Part]] =
    bound match {
      case MoreThan(rows) =>
        Some { context =>
          new RankedPart(replacing.newest(context), sorted.best(rows, buffer, context))
        }
      case _ => None
    }
}

/** A [[BestPart]] with at most one row for each key: a row replaces the previous row of its key.
  */
private final class RankedPart(newest: NewestOfEachPart, best: BestPart) extends Part {
  private val replaced = new EvictedRows(byLast = false)

  override def replaces(row: Long): Boolean = newest.replaces(row)

  override def arrive(row: Long, at: Long, evicted: EvictedRows): Unit = {
    replaced.clear()
    newest.arrive(row, at, replaced)
    evictReplaced(evicted)
    var i = evicted.size
    best.arrive(row, at, evicted)
    while (i < evicted.size) {
      if (!evicted.staysBehind(i)) newest.forget(evicted(i))
      i += 1
    }
  }

  override def update(row: Long, values: Long, evicted: EvictedRows): Unit = {
    replaced.clear()
    newest.update(row, values, replaced)
    evictReplaced(evicted)
    best.update(row, values, evicted)
  }

  private def evictReplaced(evicted: EvictedRows): Unit = {
    var i = 0
    while (i < replaced.size) {
      if (best.isBehind(replaced(i))) evicted.drop(replaced(i))
      else evicted.add(replaced(i), ChangeReason.Replaced)
      best.forget(replaced(i))
      i += 1
    }
  }

  override def forget(row: Long): Unit = {
    best.forget(row)
    newest.forget(row)
  }

  override def isBehind(row: Long): Boolean = best.isBehind(row)
  override def refill(evicted: EvictedRows): Unit = best.refill(evicted)
  override def holds(row: Long): Boolean = best.holds(row)
  override def inOrder: mutable.ArrayBuffer[Long] = best.inOrder

  override def clear(): Unit = {
    newest.clear()
    best.clear()
  }

  override def save(out: ByteWriter): Unit = {
    newest.save(out)
    best.save(out)
  }

  override def restore(in: ByteReader): Unit = {
    newest.restore(in)
    best.restore(in)
  }
}
