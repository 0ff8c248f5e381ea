package winops.spark.state

import winops.storage.bytes.ByteReader

/** The version of the state format, which precedes stored groups and the data of a partition. */
object StateVersion {
  val Current = 1

  /** Reads a version.
    *
    * @throws org.apache.spark.sql.winops.internal.WinopsRuntimeException
    *   `WINOPS_STATE_FORMAT` if it is another one than [[Current]]
    */
  def check(in: ByteReader): Unit = {
    val version = in.byte()
    if (version != Current) throw another(version)
  }

  def another(version: Any): Throwable = StateErrors.failure(
    s"it has format $version, and this version of winops reads and writes format $Current")
}
