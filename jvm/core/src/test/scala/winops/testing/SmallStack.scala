package winops.testing

import scala.util.Try

/** Runs code where the stack is small. */
object SmallStack {

  /** The result of `body` on a thread with that much stack; whatever it throws, an error of the
    * JVM's too, is thrown here.
    */
  def apply[T](kilobytes: Int)(body: => T): T = {
    var result: Try[T] = null
    var fatal: Throwable = null
    val thread = new Thread(
      null,
      () =>
        try result = Try(body)
        catch { case error: Throwable => fatal = error },
      s"stack of $kilobytes KiB",
      kilobytes * 1024L)
    thread.start()
    thread.join()
    if (fatal != null) throw fatal
    result.get
  }
}
