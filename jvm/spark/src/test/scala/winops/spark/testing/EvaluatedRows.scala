package winops.spark.testing

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import winops.policy._
import winops.spark.expressions.{PolicyExpressions, RowEvaluator}
import winops.spark.row.{RowBytes, StoredRows}
import winops.storage.rows.RowLog
import winops.terms.{RowExpression, Stream}
import winops.window.expression.{Evaluator, WindowView}
import winops.window.piece._

/** Rows in a log, with a policy's expressions over them. */
final class EvaluatedRows(columns: Seq[Attribute]) {
  private val log = new RowLog(new MapSegments, withArrival = true)
  private val toUnsafe = UnsafeProjection.create(columns.map(_.dataType).toArray)

  def add(arrival: Long, values: Any*): Long = {
    RowBytes.append(log, arrival, toUnsafe(InternalRow.fromSeq(values)))
    log.end - 1
  }

  def arrival(ordinal: Long): Long = log.arrival(ordinal)

  def stored: StoredRows = (row: UnsafeRow, ordinal: Long) => RowBytes.pointTo(row, log, ordinal)

  def evaluator(policy: Policy): Evaluator =
    new RowEvaluator(EvaluatedRows.resolved(policy, columns).ofRows, columns, stored)
}

object EvaluatedRows {

  /** The columns of the trades that conditions read. */
  val trades: Seq[Attribute] = Seq(
    AttributeReference("id", LongType)(),
    AttributeReference("symbol", StringType)(),
    AttributeReference("price", DoubleType)(),
    AttributeReference("volume", LongType)(),
    AttributeReference("ts", LongType)())

  /** The offset of expressions of [[computed]] in the policy text. */
  val Offset = 7

  def text(string: String): UTF8String = UTF8String.fromString(string)

  def column(name: String): RowExpression = RowExpression.Column(name)(Offset)

  def computed(sql: String): RowExpression = RowExpression.Computed(sql)(Offset)

  def resolved(policy: Policy, columns: Seq[Attribute]): PolicyExpressions =
    PolicyExpressions
      .resolve(policy, columns)
      .fold(problem => throw new IllegalArgumentException(problem.toString), identity)

  def ordered(order: Order): Policy =
    policy(Window(EveryRow, order, MoreThan(3), noTriggers))

  def bounded(bound: Bound): Policy =
    policy(Window(EveryRow, Arrival, bound, noTriggers))

  def policy(window: Window): Policy = Policy(
    Group.whole,
    Retention.One(window),
    Stream.InsertsThenDeletes,
    text = "a policy",
    window = "a policy")

  val noTriggers: Triggers = Triggers(EachRow, Never, Never)
}

/** A window over the rows from `oldest` on, except for the rows `without`. */
final case class ViewOf(
    rows: EvaluatedRows,
    examined: Long,
    oldest: Long,
    newest: Long,
    expired: Long = 0L,
    without: Set[Long] = Set.empty)
    extends WindowView {
  override def oldestArrival: Long = rows.arrival(oldest)
  override def newestArrival: Long = rows.arrival(newest)
  override def count: Long = Iterator
    .iterate(after(WindowView.NoRow))(after)
    .takeWhile(_ != WindowView.NoRow)
    .size
    .toLong

  override def after(ordinal: Long): Long = {
    val first = if (ordinal == WindowView.NoRow) oldest else ordinal + 1
    (first to newest).find(!without(_)).getOrElse(WindowView.NoRow)
  }
}
