package org.apache.spark.sql.winops.live

import scala.xml.{Elem, Node}

import jakarta.servlet.http.HttpServletRequest
import org.json4s.JValue

import org.apache.spark.ui.{UIUtils, WebUIPage}

import winops.spark.live.{LiveQueries, WindowsHtml}

/** The page of the tab "Windows", which Spark also serves as JSON below `json`. */
private[live] final class WindowsPage(parent: WindowsTab, queries: LiveQueries)
    extends WebUIPage("") {
  import WindowsPage._

  override def render(request: HttpServletRequest): Seq[Node] =
    UIUtils.headerSparkPage(
      request,
      "Windows",
      refresh(Option(request.getParameter(Refresh)).contains(Seconds)) ++
        WindowsHtml.of(queries.all, parent.pageOf),
      parent)

  override def renderJson(request: HttpServletRequest): JValue = WindowsJson.of(queries.all)
}

private[live] object WindowsPage {
  private val Refresh = "refresh"
  private val Seconds = "5"

  private def refresh(isOn: Boolean): Seq[Elem] = {
    val json = <a href="json/">JSON</a>
    if (isOn) {
      Seq(
        <meta http-equiv="refresh" content={Seconds}/>,
        <p>Refreshed every {Seconds} seconds (<a href="?">stop</a>) | {json}</p>)
    } else {
      Seq(<p><a href={s"?$Refresh=$Seconds"}>Refresh every {Seconds} seconds</a> | {json}</p>)
    }
  }
}
