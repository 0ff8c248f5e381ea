package winops.spark.state

import winops.spark.internal.WinopsErrors
import winops.storage.bytes.{ByteReader, CorruptStateException, TooManyBytesException}

/** The version of the state format, and the errors of state that cannot be read. */
object StateFormat {
  val Version = 5

  def checkVersion(in: ByteReader): Unit = {
    val version = in.byte()
    if (version != Version) throw another(version)
  }

  def another(version: Any): Throwable =
    failure(s"it has format $version, and this version of winops has format $Version")

  /** Runs `read`. Translates corrupt state and too many bytes into errors with a winops
    * condition.
    */
  def reading[A](read: => A): A =
    try read
    catch byName

  /** The handler with which [[reading]] translates failures. */
  val byName: PartialFunction[Throwable, Nothing] = {
    case corrupt: CorruptStateException => throw failure(corrupt.getMessage)
    case large: TooManyBytesException =>
      throw WinopsErrors.runtime(
        "WINOPS_MAX_BYTES",
        "bytes" -> large.bytes.toString,
        "most" -> large.most.toString)
  }

  def failure(reason: String): Throwable =
    WinopsErrors.runtime("WINOPS_STATE_FORMAT", "reason" -> reason)
}
