package winops.aggregation

import winops.storage.bytes.{ByteReader, ByteWriter}

/** Creates and combines summaries of ranges of rows, such as aggregation buffers. A summary is
  * made from single rows, or from two adjacent ranges. No operation subtracts from a summary, so
  * a removed row leaves no trace in it.
  *
  * @tparam S
  *   a summary, which is changed in place
  */
trait Summaries[S] {

  /** Creates a summary of no rows. */
  def create(): S

  /** Resets a summary to that of no rows. */
  def clear(summary: S): Unit

  /** Adds the row with ordinal `row` at the end. */
  def add(summary: S, row: Long): Unit

  /** Adds the rows of `behind` at the end; `behind` stays unchanged. */
  def append(summary: S, behind: S): Unit

  /** Sets `summary` to the summary of a row and the range `behind` it, which stays unchanged. */
  def prepend(summary: S, row: Long, behind: S): Unit = {
    clear(summary)
    add(summary, row)
    append(summary, behind)
  }

  /** Sets `summary` to the summary of two adjacent ranges, which stay unchanged. */
  def join(summary: S, front: S, behind: S): Unit = {
    clear(summary)
    append(summary, front)
    append(summary, behind)
  }

  /** Returns true if adding up values in the order of this summary overflowed their type; another
    * order may not overflow. [[add]], [[append]] and similar methods may fail with an
    * `ArithmeticException` instead.
    */
  def isOverflowed(summary: S): Boolean = false

  /** Returns true if rows may have a [[weight]] above 0. */
  def areWeighed: Boolean = false

  /** The share of a row in the range of the types in which a summary adds up values. No part of
    * rows with a total weight below 1 overflows, in any order of addition. Sums of other rows may
    * overflow, and parts that cancel each other out may hide it.
    */
  def weight(row: Long): Double = 0.0

  /** Returns true if appending a summary to another one, or evaluating it, may change it. Rows
    * that are added afterwards may then give another value.
    */
  def changesWhenRead: Boolean = false

  def write(summary: S, out: ByteWriter): Unit
  def read(summary: S, in: ByteReader): Unit
}
