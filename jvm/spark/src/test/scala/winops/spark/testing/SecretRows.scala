package winops.spark.testing

import org.apache.spark.sql.internal.SQLConf

/** Tests with rows that contain a value which must not appear in a message or a log. */
trait SecretRows extends KeepStreamTest {
  protected val Secret = "s3cret-8231"

  /** Runs a failing action under ANSI mode; asserts its condition and the absence of the value.
    */
  protected def failsInSilence(condition: String)(failure: => Throwable): Unit =
    withSQLConf(SQLConf.ANSI_ENABLED.key -> "true") {
      val said = new LogAppender("what was logged", maxEvents = 100000)
      withLogAppender(said) {
        val error = failure
        assert(conditionsOf(error).contains(condition), error)
        assert(!causesOf(error).exists(_.toString.contains(Secret)))
      }
      val logged = said.loggingEvents.filter { event =>
        event.getLoggerName.contains("winops") || Option(event.getThrown).isDefined
      }
      assert(logged.exists(event => conditionsOf(event.getThrown).contains(condition)))
      logged.foreach { event =>
        assert(!event.getMessage.getFormattedMessage.contains(Secret))
        assert(!causesOf(event.getThrown).exists(_.toString.contains(Secret)))
      }
    }

  private def causesOf(error: Throwable): Seq[Throwable] =
    Iterator.iterate(error)(_.getCause).takeWhile(_ != null).toSeq
}
