package winops.spark.state

import winops.spark.internal.WinopsErrors
import winops.storage.bytes.{ByteReader, CorruptStateException, TooManyBytesException}

/** The form in which state is stored. */
object StateFormat {
  val Version = 5

  def checkVersion(in: ByteReader): Unit = {
    val version = in.byte()
    if (version != Version) throw another(version)
  }

  def another(version: Any): Throwable =
    failure(s"it has format $version, and this version of winops has format $Version")

  /** Works with state; bytes that are not as they should be, or too many, are errors of their
    * own.
    */
  def reading[A](read: => A): A =
    try read
    catch byName

  /** What [[reading]] makes of a failure. */
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
