package winops.spark.group

import org.apache.spark.sql.catalyst.expressions._

import winops.spark.input.GroupedRows

/** The rows of the open group that are applied in this batch, in order. */
trait Arrivals {

  /** Starts with a group, of which `rows` came in this batch. */
  def open(rows: GroupedRows): Unit

  def hasNext: Boolean

  /** The next row's content; valid until the next call of any method. */
  def next(): UnsafeRow
}
