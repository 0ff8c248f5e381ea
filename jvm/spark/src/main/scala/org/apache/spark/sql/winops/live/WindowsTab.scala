package org.apache.spark.sql.winops.live

import java.util.UUID

import org.apache.spark.ui.{SparkUI, SparkUITab}

import winops.spark.live.LiveQueries

/** The tab "Windows" of Spark's UI.
  *
  * @param ui
  *   the UI of the application
  * @param queries
  *   the runs that the tab shows
  */
private[live] final class WindowsTab(ui: SparkUI, queries: LiveQueries)
    extends SparkUITab(ui, WindowsTab.Path) {

  /** Behind "Structured Streaming". */
  override def displayOrder: Int = 3

  attachPage(new WindowsPage(this, queries))

  /** The address of Spark's page of a run, from this tab; None if the UI has no such pages. */
  def pageOf(run: UUID): Option[String] =
    Option.when(ui.getTabs.exists(_.prefix == WindowsTab.Queries))(
      s"../${WindowsTab.Queries}/statistics/?id=$run")
}

private[live] object WindowsTab {

  /** The path of the tab below the address of the UI. */
  val Path = "windows"

  /** The path of the tab "Structured Streaming". */
  private val Queries = "StreamingQuery"
}
