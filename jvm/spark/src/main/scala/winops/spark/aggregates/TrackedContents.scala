package winops.spark.aggregates

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import winops.storage.bytes.{ByteReader, ByteWriter}

/** The contents of one window or several, tracked step by step, and their aggregates. */
trait TrackedContents {

  /** Inserts the rows of the open group from one ordinal until another. */
  def insert(from: Long, until: Long): Unit

  /** Evicts the rows of the open group from one ordinal until another; they can still be read. */
  def remove(from: Long, until: Long): Unit

  /** Visits the results that have changed since the last call: of each part, or of the whole.
    * Each is valid until the next.
    *
    * @param visit
    *   takes the results as they were at the last call, or null if they are not asked for, and as
    *   they are now
    */
  def visit(visit: (UnsafeRow, UnsafeRow) => Unit): Unit

  /** Releases the rows that were evicted and will not be read any more. */
  def release(): Unit

  def clear(): Unit

  /** Brings up to date what is stored in pages, before they are written. */
  def settle(): Unit
  def save(out: ByteWriter): Unit
  def restore(in: ByteReader): Unit
}
