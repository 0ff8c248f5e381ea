package winops.spark.state

import winops.storage.bytes.ByteReader

/** The version of the state format, which precedes stored groups and the data of a partition. */
object StateVersion {
  val Current = 6

  /** The oldest format that is read. Values are written in the current format. */
  val Oldest = 5

  /** Reads a version and returns it.
    *
    * @throws org.apache.spark.sql.winops.internal.WinopsRuntimeException
    *   `WINOPS_STATE_FORMAT` if this version of winops does not read the format
    */
  def check(in: ByteReader): Int = {
    val version = in.byte()
    if (!isRead(version.toLong)) throw another(version)
    version
  }

  /** Returns true if this version of winops reads the format. */
  def isRead(version: BigInt): Boolean = version >= Oldest && version <= Current

  def another(version: Any): Throwable = StateErrors.failure(
    s"it has format $version, and this version of winops has format $Current and reads the " +
      s"formats from $Oldest on")
}
