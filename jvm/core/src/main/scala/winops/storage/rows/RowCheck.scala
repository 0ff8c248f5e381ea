package winops.storage.rows

/** Checks the bytes of a stored row before they are read as a row. Damaged bytes then fail as a
  * [[CorruptStateException]] instead of a read outside the array.
  */
trait RowCheck {

  /** Checks the `length` bytes from `at` on.
    *
    * @throws CorruptStateException
    *   if the bytes are not a row
    */
  def check(bytes: Array[Byte], at: Int, length: Int): Unit
}

object RowCheck {

  /** Accepts all bytes. */
  val Nothing: RowCheck = (_, _, _) => ()
}
