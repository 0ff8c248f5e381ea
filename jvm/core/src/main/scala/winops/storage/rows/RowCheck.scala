package winops.storage.rows

/** Looks at the bytes of a stored row before they are read as one: damaged ones are a
  * [[CorruptStateException]], and not a read outside of them.
  */
trait RowCheck {
  def check(bytes: Array[Byte], at: Int, length: Int): Unit
}

object RowCheck {

  /** For rows that are bytes and nothing more. */
  val Nothing: RowCheck = (_, _, _) => ()
}
