package winops.window.piece

import winops.storage.bytes.{ByteReader, ByteWriter}
import winops.terms.{Distance, Purpose, RowExpression, Wording}
import winops.window.changes.ChangeReason
import winops.window.contents.WindowContext.Make
import winops.window.expression.RowNumber
import winops.window.rules.{ArrivalEviction, EvictionRule, NoRule, ReportTrigger}

/** The arrival of a row whose value is more than `distance` above that of the oldest row. A
  * report trigger compares with the row that caused the last report instead, and at first with
  * the first row. The arriving row enters after the eviction or report.
  */
final case class Exceeds(value: RowExpression, distance: Distance) extends Trigger {
  override def usesTime: Boolean = false
  override def firesAtPunctuation: Boolean = false
  override def reads: Seq[(Purpose, RowExpression)] = Seq(Purpose.numberFor(distance) -> value)
  override def reason: Int = ChangeReason.Trigger
  override def words: String = wordsAbove("that of the oldest row")
  override def wordsOfReport: String = wordsAbove("that of the row of the last report")

  private def wordsAbove(other: String): String = {
    val far = Wording.far(distance)
    s"before each row whose ${Wording.shown(value)} is more than $far above $other"
  }

  override private[window] def report: Option[Make[ReportTrigger]] =
    Some(context => new ValueReportTrigger(context.evaluator.number(value), distance))

  override private[window] def emptyingEvents: Option[Make[(EvictionRule, ArrivalEviction)]] =
    Some { context =>
      (NoRule, new TumblingValue(new Gap(context.evaluator.number(value), distance)))
    }
}

/** Reports before a row whose value is more than the distance above the value of the row that
  * triggered last. The group's first row sets the first reference.
  */
private final class ValueReportTrigger(value: RowNumber, distance: Distance)
    extends ReportTrigger {
  private var hasReference = false
  private var whole = 0L
  private var real = 0.0

  override def admits(row: Long): Boolean = !value.isMissing(row)

  override def beforeRow(row: Long): Boolean = {
    val fires = hasReference && isExceeded(row)
    if (fires || !hasReference) {
      hasReference = true
      whole = value.whole(row)
      real = value.real(row)
    }
    fires
  }

  override def clear(): Unit = {
    hasReference = false
    whole = 0L
    real = 0.0
  }

  override def save(out: ByteWriter): Unit = {
    out.byte(if (hasReference) 1 else 0)
    out.number(whole)
    out.number(java.lang.Double.doubleToLongBits(real))
  }

  override def restore(in: ByteReader): Unit = {
    hasReference = in.byte() == 1
    whole = in.number()
    real = java.lang.Double.longBitsToDouble(in.number())
  }

  private def isExceeded(row: Long): Boolean = distance match {
    case Distance.Whole(limit) => Gap.exceeds(value.whole(row), whole, limit)
    // The product adds the distance to the reference here, whereas its eviction subtracts values.
    case Distance.Real(limit) => value.real(row) > real + limit
  }
}

/** Evicts all rows before a row whose value exceeds the oldest row's by more than the gap's
  * distance.
  */
private final class TumblingValue(gap: Gap) extends ArrivalEviction {
  override def admits(row: Long): Boolean = gap.has(row)

  override def beforeRow(head: Long, row: Long): Long =
    if (head < row && gap.isExceeded(head, row)) row else head
}
