package winops.storage.rows

/** Layouts of the stored rows of a [[RowBuffer]], as numbers of two bits: what the rows have in
  * common is not stored for each.
  */
object RowLayout {

  /** Rows of different lengths, of no bytes, or whose arrival times the form does not predict. */
  val Different = 0

  /** Rows of one length, with the arrival times that the form predicts if it predicts any. */
  val Alike = 1

  /** Rows that are [[Alike]], all but the first with the same codes. */
  val SharedAfterFirst = 2

  /** Rows that are [[Alike]], all with the same codes. */
  val SharedCodes = 3

  /** The greatest layout. */
  private[winops] val Greatest: Int = SharedCodes

  /** The number of bits of a layout. */
  private[winops] val Bits = 2

  /** The first row with shared codes. */
  private[rows] def firstShared(layout: Int): Int =
    if (layout == SharedCodes) 0 else if (layout == SharedAfterFirst) 1 else Int.MaxValue
}
