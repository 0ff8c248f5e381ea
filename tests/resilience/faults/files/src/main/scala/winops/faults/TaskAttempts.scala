package winops.faults

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path, StandardOpenOption}

import org.apache.spark.{ExceptionFailure, SparkConf, Success, TaskEndReason}
import org.apache.spark.scheduler.{SparkListener, SparkListenerTaskEnd}

/** Writes one line for each task attempt that failed, was speculative or was not the first, with
  * its status and reason. The setting is `spark.extraListeners`, with the file's name in
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

  /** Returns the class of a failure and its first stack frame outside of Java and Scala. */
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
