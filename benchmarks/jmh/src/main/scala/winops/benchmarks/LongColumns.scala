package winops.benchmarks

import java.nio.ByteBuffer

import winops.storage.bytes.Bytes
import winops.storage.rows.RowStore
import winops.terms.{RowExpression, SortKey}
import winops.window.expression.{Evaluator, RowCondition, RowKey, RowNumber}

/** Evaluates columns of type Long in UnsafeRows without any code of Spark, so that benchmarks
  * measure the machine alone.
  *
  * @param places
  *   the ordinals of the columns, by name
  * @param rows
  *   the rows
  */
final class LongColumns(places: Map[String, Int], rows: RowStore) extends Evaluator {
  override def key(expressions: Seq[RowExpression]): RowKey = {
    val columns = expressions.map(placeOf).toArray
    ordinal => {
      val bytes = ByteBuffer.allocate(columns.length * java.lang.Long.BYTES)
      columns.foreach(column => bytes.putLong(value(ordinal, column)))
      bytes.array
    }
  }

  override def sortKey(by: Seq[SortKey]): RowKey = {
    val columns = by.map(key => placeOf(key.expression)).toArray
    val flips = by.map(key => if (key.descending) Long.MaxValue else Long.MinValue).toArray
    ordinal => {
      val bytes = ByteBuffer.allocate(columns.length * java.lang.Long.BYTES)
      columns.indices.foreach(i => bytes.putLong(value(ordinal, columns(i)) ^ flips(i)))
      bytes.array
    }
  }

  override def timestamp(expression: RowExpression): RowNumber = refused
  override def number(expression: RowExpression): RowNumber = refused
  override def condition(expression: RowExpression): RowCondition = refused

  private def placeOf(expression: RowExpression): Int = expression match {
    case RowExpression.Column(name) => places(name)
    case other => throw new IllegalArgumentException(s"${other.sql} is no column")
  }

  /** A row has one word of null bits, followed by one word per column. */
  private def value(ordinal: Long, column: Int): Long = {
    rows.find(ordinal)
    Bytes.getLong(rows.rowBytes, rows.rowPosition + (column + 1) * java.lang.Long.BYTES)
  }

  private def refused: Nothing =
    throw new UnsupportedOperationException("only keys and sort keys are measured")
}
