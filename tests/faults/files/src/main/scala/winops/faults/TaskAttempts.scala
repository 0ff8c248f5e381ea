package winops.faults

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path, StandardOpenOption}

import org.apache.spark.{ExceptionFailure, SparkConf, Success, TaskEndReason}
import org.apache.spark.scheduler.{SparkListener, SparkListenerTaskEnd}

/** Counts the tasks that were not the first of their kind, or that failed, one line each: how it
  * ended, and whether it was speculative. As `spark.extraListeners`, with the file's name in
  * `spark.winops.faults.attempts`.
  */
final class TaskAttempts(conf: SparkConf) extends SparkListener {
  private val file = Path.of(conf.get("spark.winops.faults.attempts"))

  override def onTaskEnd(end: SparkListenerTaskEnd): Unit = {
    val task = end.taskInfo
    if (task.attemptNumber > 0 || task.speculative || !task.successful) {
      val kind = if (task.speculative) "speculative" else "ordinary"
      val of = s"${end.stageId}\t${task.index}\t${task.attemptNumber}"
      val line = s"$of\t$kind\t${task.status}\t${reasonOf(end.reason)}\n"
      Files.write(
        file,
        line.getBytes(UTF_8),
        StandardOpenOption.CREATE,
        StandardOpenOption.APPEND)
    }
  }

  /** A failure's class, and the first place in it that is not Java's or Scala's. */
  private def reasonOf(reason: TaskEndReason): String = reason match {
    case Success => "none"
    case failure: ExceptionFailure =>
      val place = failure.stackTrace
        .map(frame => s"${frame.getClassName}.${frame.getMethodName}")
        .find(name => !name.startsWith("java.") && !name.startsWith("scala."))
      s"${failure.className} in ${place.getOrElse("no place")}"
    case other => other.getClass.getSimpleName.stripSuffix("$")
  }
}
