package org.apache.spark.sql.winops.live

import java.util.UUID

import org.apache.spark.{SparkContext, SparkEnv}
import org.apache.spark.internal.Logging
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.internal.{SQLConf, StaticSQLConf}
import org.apache.spark.sql.streaming.StreamingQueryListener
import org.apache.spark.sql.streaming.StreamingQueryListener._

import winops.spark.internal.GroupSizes
import winops.spark.live.{LiveQueries, LiveSettings}

/** Records the queries of a session for the tab "Windows" and for gauges.
  *
  * @param queries
  *   the runs of the application
  * @param operator
  *   the name of operators of winops in the progress of a query
  * @param session
  *   the session, whose settings at the start of a query decide on gauges
  */
final class LiveListener private[live] (
    queries: LiveQueries,
    operator: String,
    session: SparkSession)
    extends StreamingQueryListener {
  private var withGauges = Set.empty[UUID]
  private var gauges = Map.empty[UUID, LiveGauges]

  // Spark calls this method before the start of the query returns, so settings are those of then.
  override def onQueryStarted(event: QueryStartedEvent): Unit = {
    val hasGauges = LiveListener.hasGauges(session)
    if (hasGauges) synchronized(withGauges += event.runId)
    if (hasGauges || session.sparkContext.ui.isDefined) queries.started(event.runId)
  }

  override def onQueryProgress(event: QueryProgressEvent): Unit = {
    val progress = event.progress
    val operators = progress.stateOperators.toSeq.filter(_.operatorName == operator)
    if (operators.nonEmpty) {
      queries.progressed(progress, operators)
      if (hasGauges(progress.runId) && !gauges.contains(progress.runId)) {
        queries.get(progress.runId).foreach { query =>
          val added = new LiveGauges(query, queries)
          gauges += query.run -> added
          SparkEnv.get.metricsSystem.registerSource(added)
        }
      }
    }
  }

  override def onQueryTerminated(event: QueryTerminatedEvent): Unit = {
    gauges.get(event.runId).foreach(SparkEnv.get.metricsSystem.removeSource)
    gauges -= event.runId
    synchronized(withGauges -= event.runId)
    queries.ended(event.runId, event.exception.isDefined)
  }

  private def hasGauges(run: UUID): Boolean = synchronized(withGauges.contains(run))
}

object LiveListener extends Logging {

  /** Records the queries of a session from now on, if the application has a UI, or gauges for its
    * streaming queries. The first call of an application adds the tab.
    *
    * @param operator
    *   the name of operators of winops in the progress of a query
    */
  def install(session: SparkSession, operator: String): Unit = {
    val context = session.sparkContext
    val isOn = LiveSettings.isOn(context.getConf, LiveSettings.Enabled)
    val listeners = session.streams.listListeners()
    if (isOn && (context.ui.isDefined || hasGauges(session)) &&
      !listeners.exists(_.isInstanceOf[LiveListener])) {
      val queries = LiveQueries.start(context)(withTab(context))
      session.streams.addListener(new LiveListener(queries, operator, session))
    }
  }

  private def hasGauges(session: SparkSession): Boolean =
    session.conf.get(SQLConf.STREAMING_METRICS_ENABLED.key).toBoolean

  private def withTab(context: SparkContext): LiveQueries = {
    val showsKeys = LiveSettings.isOn(context.getConf, LiveSettings.GroupKeys)
    val queries = new LiveQueries(
      context.getConf.get(StaticSQLConf.STREAMING_UI_RETAINED_QUERIES),
      if (showsKeys && context.ui.isDefined) GroupSizes.MaxGroups else 0)
    context.ui.foreach { ui =>
      ui.attachTab(new WindowsTab(ui, queries))
      logInfo(s"Added the tab ${ui.webUrl}/${WindowsTab.Path}/ to Spark's UI")
    }
    queries
  }
}
