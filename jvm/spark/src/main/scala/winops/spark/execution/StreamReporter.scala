package winops.spark.execution

import java.util.UUID
import java.util.concurrent.ConcurrentHashMap

import scala.jdk.CollectionConverters._

import org.apache.spark.internal.Logging
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.streaming.WriteToStreamStatement
import org.apache.spark.sql.streaming.{StreamingQueryListener, StreamingQueryProgress}
import org.apache.spark.sql.streaming.StreamingQueryListener._
import org.apache.spark.sql.winops.execution.StatefulKeepExec
import org.apache.spark.sql.winops.live.LiveListener

import winops.spark.internal.KeepMetrics
import winops.spark.plan.GroupedOperator

/** Logs warnings about a streaming query with `keep` or OVER that its output does not show: rows
  * that still wait when the query ends, and far more partitions than rows in a micro-batch.
  *
  * @param cores
  *   number of tasks that run at a time
  * @param warn
  *   writes a text to the log
  */
private[spark] final class StreamReporter(cores: Int, warn: String => Unit)
    extends StreamingQueryListener {
  import StreamReporter._

  private val waiting = new ConcurrentHashMap[UUID, Long]
  private val checked = ConcurrentHashMap.newKeySet[UUID]

  override def onQueryStarted(event: QueryStartedEvent): Unit = ()

  override def onQueryProgress(event: QueryProgressEvent): Unit = {
    val progress = event.progress
    val keeps = progress.stateOperators.filter(_.operatorName == StatefulKeepExec.OperatorName)
    if (keeps.nonEmpty) {
      val rows = keeps.map(_.customMetrics.asScala.get(KeepMetrics.Waiting).fold(0L)(_.longValue))
      waiting.put(progress.runId, rows.sum)
      if (progress.numInputRows > 0 && checked.add(progress.runId)) {
        checkPartitions(progress, keeps.map(_.numShufflePartitions).max)
      }
    }
  }

  override def onQueryTerminated(event: QueryTerminatedEvent): Unit = {
    val rows = Option(waiting.remove(event.runId)).fold(0L)(_.longValue)
    checked.remove(event.runId)
    if (rows > 0 && event.exception.isEmpty) {
      warn(s"The streaming query ${event.id} ended while rows ($rows) waited for the watermark, so " +
        "its output does not have them. They stay in the checkpoint until later rows move the " +
        "watermark. To apply them when a finite input ends, write keep(..., " +
        """at_end="flush") and start the query with trigger(availableNow=True); a start that """ +
        "finds no new rows applies none. For window functions, set spark.winops.over.atEnd to " +
        "flush. Where at_end is given, another watermark of the query " +
        "holds them back, or a windowed operator before keep.")
    }
  }

  private def checkPartitions(progress: StreamingQueryProgress, partitions: Long): Unit =
    if (partitions >= FarMore * progress.numInputRows && partitions >= FarMore * cores) {
      warn(
        s"The first micro-batch of the streaming query ${progress.id} has few rows " +
          s"(${progress.numInputRows}) for its $partitions shuffle partitions and took " +
          s"${progress.batchDuration} ms: each partition is a task with a state store of its " +
          "own, in every micro-batch. If batches stay small, set spark.sql.shuffle.partitions " +
          "to about the number of cores of the cluster before the first start of a query; a " +
          "checkpoint that is there keeps its number, and winops.repartition gives it another.")
    }
}

private[spark] object StreamReporter extends Logging {

  /** Warns if there are this many times more partitions than rows, and than cores. */
  private val FarMore = 4L

  /** Logs a text under the name of this object, which logging settings can refer to. */
  private def report(text: String): Unit = logWarning(text)

  /** Adds a reporter and the live view to a session when its first query with a `keep` or OVER
    * starts.
    */
  final class Registration(session: SparkSession) extends Rule[LogicalPlan] {
    override def apply(plan: LogicalPlan): LogicalPlan = {
      plan match {
        case start: WriteToStreamStatement
            if start.inputQuery.exists(_.isInstanceOf[GroupedOperator]) =>
          register()
        case _ =>
      }
      plan
    }

    private def register(): Unit = session.synchronized {
      val queries = session.streams
      if (!queries.listListeners().exists(_.isInstanceOf[StreamReporter])) {
        val cores = session.sparkContext.defaultParallelism
        queries.addListener(new StreamReporter(cores, report))
      }
      LiveListener.install(session, StatefulKeepExec.OperatorName)
    }
  }
}
