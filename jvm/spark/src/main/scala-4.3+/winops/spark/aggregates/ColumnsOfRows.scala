package winops.spark.aggregates

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.types.{BinaryView, TimestampNanosVal}

/** A row made of columns of other rows: the types that not every Spark version has. */
private[aggregates] abstract class ColumnsOfRows extends InternalRow {

  /** The row that has a column. */
  protected def row(i: Int): UnsafeRow

  /** The index of the column in that row. */
  protected def at(i: Int): Int

  override def getBinaryView(i: Int): BinaryView = row(i).getBinaryView(at(i))

  override def getTimestampNTZNanos(i: Int): TimestampNanosVal =
    row(i).getTimestampNTZNanos(at(i))

  override def getTimestampLTZNanos(i: Int): TimestampNanosVal =
    row(i).getTimestampLTZNanos(at(i))
}
