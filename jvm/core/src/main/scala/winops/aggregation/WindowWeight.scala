package winops.aggregation

import winops.storage.bytes.{ByteReader, ByteWriter, CorruptStateException}

/** Bounds the total weight of the rows in a window, so that the rows need not be weighed again in
  * each step. Weights of removed rows stay in the bound until all rows are weighed.
  *
  * Only the rows in the window determine whether their summaries may be merged: if the bound is
  * too high to tell, the caller weighs all rows.
  */
private[aggregation] final class WindowWeight {
  import WindowWeight._

  /** Bound of the sum of the weights. */
  private var bound = 0.0

  /** Bound of the weight of a single row. */
  private var heaviest = 0.0

  def clear(): Unit = {
    bound = 0.0
    heaviest = 0.0
  }

  def add(weight: Double): Unit = {
    bound += weight
    if (weight > heaviest) heaviest = weight
  }

  /** Returns true if `rows` rows certainly weigh less than [[WindowWeight.Most]]. */
  def isLight(rows: Long): Boolean = bound <= Certain || heaviest * rows.toDouble <= Certain

  /** Returns true if the rows that were added since [[clear]], oldest to newest, may be summed up
    * in any order.
    */
  def areMergeable: Boolean = bound <= Most

  /** Returns true if no row weighs more than [[WindowWeight.OfRow]]. */
  def hasLightRows: Boolean = heaviest <= OfRow

  /** Returns true if the bound must be stored; otherwise [[assumeLight]] replaces it. */
  def isStored(rows: Long): Boolean = !hasLightRows || OfRow * rows.toDouble > Certain

  /** Starts with `rows` rows of which the bound was not stored. */
  def assumeLight(rows: Long): Unit = {
    bound = OfRow * rows.toDouble
    heaviest = OfRow
  }

  def save(out: ByteWriter): Unit = {
    val nearest = bound.toFloat
    val above = if (nearest.toDouble < bound) Math.nextUp(nearest) else nearest
    out.number(java.lang.Float.floatToIntBits(above).toLong)
  }

  def restore(in: ByteReader): Unit = {
    val stored = java.lang.Float.intBitsToFloat(in.count(Int.MaxValue.toLong).toInt)
    if (stored.isNaN) throw new CorruptStateException("the weight of a window is not a number")
    bound = stored.toDouble
    heaviest = bound
  }
}

private[aggregation] object WindowWeight {

  /** Maximum weight of rows whose summaries are merged. The distance to 1 is greater than the
    * rounding errors of weights.
    */
  val Most = 0.75

  /** Bound below which rows are not weighed again. */
  val Certain = 0.5

  /** Weight of a row up to which nothing is stored: 2 to the power of -22. */
  val OfRow: Double = 1.0 / (1 << 22)
}
