package winops.spark.state

import winops.storage.bytes.ByteReader

/** The version of the state format, which precedes stored groups and the data of a partition. */
object StateVersion {
  val Current = 5

  /** Reads the version and throws an error if it is another one. */
  def check(in: ByteReader): Unit = {
    val version = in.byte()
    if (version != Current) throw another(version)
  }

  def another(version: Any): Throwable =
    StateErrors.failure(s"it has format $version, and this version of winops has format $Current")
}
