package winops.spark.state

import winops.spark.internal.WinopsErrors
import winops.storage.bytes.{CorruptStateException, TooManyBytesException}

/** The errors of state that cannot be read or written. */
object StateErrors {

  /** Runs `body`. Translates corrupt state and too many bytes into errors with a winops
    * condition.
    */
  def translated[A](body: => A): A =
    try body
    catch translate

  /** The handler with which [[translated]] translates failures. */
  val translate: PartialFunction[Throwable, Nothing] = {
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
