package winops.spark.live

import java.lang.ref.WeakReference
import java.util.UUID

import scala.collection.immutable.VectorMap
import scala.jdk.CollectionConverters._

import org.apache.spark.SparkContext
import org.apache.spark.sql.streaming.{StateOperatorProgress, StreamingQueryProgress}

import winops.spark.internal.{GroupSize, GroupSizes, KeepMetrics}

/** The runs of queries with `keep` or window functions in an application, those that run and the
  * last ones that have ended. All methods may be called by any thread.
  *
  * @param retained
  *   the number of ended runs that are remembered
  * @param shownGroups
  *   the number of groups whose keys tasks report; 0 if keys must not be shown
  */
final class LiveQueries(retained: Int, val shownGroups: Int = GroupSizes.MaxGroups) {
  private var runs = VectorMap.empty[UUID, QueryHistory]
  private var started = Set.empty[UUID]

  /** The runs in the order of their start. */
  def all: Seq[QueryHistory] = synchronized(runs.values.toVector)

  def get(run: UUID): Option[QueryHistory] = synchronized(runs.get(run))

  /** Takes the start of a run whose end will be reported. Other runs are not recorded, because
    * nothing would remove them.
    */
  def started(run: UUID): Unit = synchronized(started += run)

  /** The name of the gauges of a run: its title, with the id of the run if the gauges of another
    * running query would have the same name. Prometheus sees letters and digits alone.
    */
  def gaugeTitle(query: QueryHistory): String = {
    def shown(title: String) = title.replaceAll("[^a-zA-Z0-9]", "_")
    val isTaken = all.exists { other =>
      other.run != query.run && other.status == QueryStatus.Running &&
      shown(other.title) == shown(query.title)
    }
    if (isTaken) s"${query.title}-${query.run}" else query.title
  }

  /** Takes what an operator does, and its largest groups in a micro-batch. The first calls of a
    * run are in the order of the operators in the query's progress.
    *
    * @param policy
    *   the text of the operator's policy, or of its window
    */
  def described(
      run: UUID,
      operatorId: Long,
      policy: String,
      description: String,
      groups: Seq[GroupSize],
      batch: Long): Unit = update(run) { query =>
    val known =
      if (query.windows.exists(_.operatorId == operatorId)) query.windows
      else query.windows :+ WindowHistory(operatorId, description, policy)
    query.copy(windows = known.map { window =>
      if (window.operatorId == operatorId) window.see(groups, batch) else window
    })
  }

  /** Takes a micro-batch of a query.
    *
    * @param operators
    *   the query's operators that were described, in the order of its progress
    */
  def progressed(progress: StreamingQueryProgress, operators: Seq[StateOperatorProgress]): Unit =
    update(progress.runId) { query =>
      val windows = query.windows.zip(operators).map { case (window, operator) =>
        window.add(LiveQueries.sample(progress, operator))
      }
      query.copy(
        id = Some(progress.id),
        name = Option(progress.name),
        batch = progress.batchId,
        batches = query.batches + 1,
        rowsPerSecond = finite(progress.processedRowsPerSecond),
        watermark = Option(progress.eventTime.get("watermark")),
        newest = QueryHistory.later(query.newest, Option(progress.eventTime.get("max"))),
        clock = Option(progress.timestamp),
        windows = windows ++ query.windows.drop(windows.size))
    }

  /** Takes the end of a run. */
  def ended(run: UUID, isFailure: Boolean): Unit = synchronized {
    started -= run
    runs.get(run).foreach { query =>
      val status = if (isFailure) QueryStatus.Failed else QueryStatus.Finished
      runs = runs.updated(run, query.copy(status = status))
      val ended = runs.values.filter(_.status != QueryStatus.Running).map(_.run).toSeq
      runs = runs.removedAll(ended.dropRight(retained))
    }
  }

  private def finite(number: Double): Double =
    if (number.isNaN || number.isInfinite) 0 else number

  private def update(run: UUID)(change: QueryHistory => QueryHistory): Unit = synchronized {
    if (started.contains(run)) {
      runs = runs.updated(run, change(runs.getOrElse(run, QueryHistory(run))))
    }
  }
}

object LiveQueries {
  private var current: Option[(WeakReference[SparkContext], LiveQueries)] = None

  /** The runs of an application, if they are recorded. */
  def of(context: SparkContext): Option[LiveQueries] = synchronized {
    current.collect { case (of, queries) if of.get eq context => queries }
  }

  /** The runs of an application, which are recorded from now on.
    *
    * @param create
    *   called if they are not recorded yet
    */
  def start(context: SparkContext)(create: => LiveQueries): LiveQueries = synchronized {
    of(context).getOrElse {
      val queries = create
      current = Some(new WeakReference(context) -> queries)
      queries
    }
  }

  private def sample(
      progress: StreamingQueryProgress,
      operator: StateOperatorProgress): WindowSample = {
    val own = operator.customMetrics.asScala
    def number(name: String): Long = own.get(name).fold(0L)(_.longValue)
    WindowSample(
      batch = progress.batchId,
      millis = progress.batchDuration,
      rowsRead = progress.numInputRows,
      inserted = number(KeepMetrics.Inserted),
      deleted = number(KeepMetrics.Deleted),
      held = number(KeepMetrics.Held),
      groups = number(KeepMetrics.Groups),
      waiting = number(KeepMetrics.Waiting),
      largest = number(KeepMetrics.LargestGroup),
      late = operator.numRowsDroppedByWatermark,
      refused = number(KeepMetrics.Refused),
      dropped = number(KeepMetrics.NullTime) + number(KeepMetrics.AfterFinal),
      bytesWritten = number(KeepMetrics.BytesWritten),
      updated = number(KeepMetrics.Updated),
      removed = number(KeepMetrics.Removed),
      notHeld = number(KeepMetrics.NotHeld))
  }
}
