package winops.faults

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path, StandardOpenOption}

import org.apache.spark.SparkConf
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
      val line = s"${end.stageId}\t${task.index}\t${task.attemptNumber}\t$kind\t${task.status}\n"
      Files.write(
        file,
        line.getBytes(UTF_8),
        StandardOpenOption.CREATE,
        StandardOpenOption.APPEND)
    }
  }
}
