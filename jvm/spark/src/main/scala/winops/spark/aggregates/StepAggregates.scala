package winops.spark.aggregates

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import winops.storage.bytes.{ByteReader, ByteWriter}

/** The contents of one window or several, tracked step by step, and their aggregates. */
trait StepAggregates {

  /** Inserts the rows of the open group from one ordinal until another. */
  def insert(from: Long, until: Long): Unit

  /** Evicts the rows of the open group from one ordinal until another; they can still be read. */
  def remove(from: Long, until: Long): Unit

  /** Visits the results that have changed since the last call: those of each combination of `by`,
    * or those of the window. The rows passed to `visit` are valid during its call.
    *
    * @param visit
    *   takes the results at the last call, or null if old values are not kept, and the current
    *   results
    */
  def visit(visit: (UnsafeRow, UnsafeRow) => Unit): Unit

  /** Releases evicted rows, which are not read any more. */
  def release(): Unit

  def clear(): Unit

  /** Brings the stored pages up to date before they are written. */
  def settle(): Unit
  def save(out: ByteWriter): Unit
  def restore(in: ByteReader): Unit
}
