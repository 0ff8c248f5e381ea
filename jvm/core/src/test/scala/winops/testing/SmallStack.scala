package winops.testing

import scala.util.Try

/** Runs code with a small stack. */
object SmallStack {

  /** Returns the result of `body`, which runs on a thread with the given stack size. Rethrows any
    * Throwable of `body`, including errors of the JVM.
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
