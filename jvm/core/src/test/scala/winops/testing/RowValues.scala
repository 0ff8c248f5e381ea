package winops.testing

import winops.policy.{ColumnKind, Policy, Scope}
import winops.storage.bytes.Bytes
import winops.terms.{RowExpression, SortKey}
import winops.text.dialect.Dialect
import winops.text.esper.Esper
import winops.window.expression.{Evaluator, RowCondition, RowKey, RowNumber, WindowView}
import winops.window.piece.Fails

/** The values of one row of a [[DrivenGroup]].
  *
  * @param v
  *   a number; None represents NULL, with which no condition holds
  * @param ts
  *   the row's timestamp in milliseconds; None represents NULL
  */
final case class RowValues(k: Int, v: Option[Int], ts: Option[Long])

object RowValues {
  val scope: Scope = Scope(
    columns = Seq("k", "v", "ts"),
    kinds = Map(
      "k" -> ColumnKind.WholeNumber,
      "v" -> ColumnKind.WholeNumber,
      "ts" -> ColumnKind.Timestamp))

  /** Esper conditions with their expected meanings. */
  val conditions: Map[String, (WindowView, Long => RowValues) => Boolean] = Map(
    "expired_count >= 1 or newest_event.v <> 3" -> ((view, row) =>
      view.expired >= 1 || row(view.newest).v.exists(_ != 3)),
    "current_count <= 4 or expired_count = 2" -> ((view, _) =>
      view.count <= 4 || view.expired == 2),
    "newest_event.v >= v" -> ((view, row) =>
      row(view.newest).v.exists(newest => row(view.examined).v.exists(newest >= _))),
    "newest_timestamp - oldest_timestamp < 30" -> ((view, _) =>
      view.newestArrival - view.oldestArrival < 30))

  def policy(dialect: Dialect, text: String): Policy = dialect
    .parse(text, scope)
    .fold(error => throw new IllegalArgumentException(error.message), identity)

  private val meanings = conditions.map { case (text, meaning) =>
    policy(Esper, s"#expr($text)").retention.windows.head.bound match {
      case Fails(condition) => condition -> meaning
      case bound => throw new IllegalArgumentException(s"$text became $bound")
    }
  }

  /** Evaluates columns and [[conditions]] over rows with these values. */
  final class Expressions(row: Long => RowValues) extends Evaluator {
    override def key(expressions: Seq[RowExpression]): RowKey =
      ordinal => expressions.flatMap(of => bytes(orLeast(number(of), ordinal))).toArray

    override def sortKey(by: Seq[SortKey]): RowKey = key(by.map(_.expression))

    override def timestamp(expression: RowExpression): RowNumber = number(expression)

    override def number(expression: RowExpression): RowNumber = {
      val value: RowValues => Option[Long] = expression match {
        case RowExpression.Column("k") => row => Some(row.k.toLong)
        case RowExpression.Column("v") => _.v.map(_.toLong)
        case RowExpression.Column("ts") => _.ts
        case other => throw new IllegalArgumentException(s"no value of $other")
      }
      new RowNumber {
        override def isMissing(ordinal: Long): Boolean = value(row(ordinal)).isEmpty
        override def whole(ordinal: Long): Long = value(row(ordinal)).get
        override def real(ordinal: Long): Double = whole(ordinal).toDouble
      }
    }

    override def condition(expression: RowExpression): RowCondition = {
      val holds = meanings(expression)
      view => holds(view, row)
    }

    private def orLeast(number: RowNumber, ordinal: Long): Long =
      if (number.isMissing(ordinal)) Long.MinValue else number.whole(ordinal)

    private def bytes(number: Long): Array[Byte] = {
      val bytes = new Array[Byte](java.lang.Long.BYTES)
      Bytes.putLong(bytes, 0, java.lang.Long.reverseBytes(number))
      bytes
    }
  }
}
