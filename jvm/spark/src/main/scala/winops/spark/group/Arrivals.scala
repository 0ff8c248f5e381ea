package winops.spark.group

import org.apache.spark.sql.catalyst.expressions._

import winops.spark.input.GroupedRows

/** Iterates over the rows of the open group that are applied in this micro-batch, in order. */
trait Arrivals {

  /** Opens a group; `rows` are its new rows in this micro-batch. */
  def open(rows: GroupedRows): Unit

  def hasNext: Boolean

  /** The columns of the next row that the window holds; valid until the next call of any method.
    */
  def next(): UnsafeRow
}
