package winops.spark.analysis

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Union}
import org.apache.spark.sql.winops.source.HistorySource

import winops.spark.internal.WinopsErrors
import winops.spark.over.StreamOperators
import winops.spark.plan.{GroupedOperator, Keep, Over}
import winops.spark.source.WithHistory

/** Refuses tables before a stream that no operator can begin with. */
private[spark] object CheckHistory {

  /** Refuses a table over a stream with which the operator would not have a watermark. */
  def operator(operator: GroupedOperator, node: WithHistory): Unit = {
    if (node.until.isDefined && operator.time.isEmpty) {
      throw refused(
        s"until needs a time column, and ${operator.spec.words.operator} has none",
        "Give the time column, or filter the table before with_history")
    }
    if (operator.time.isDefined) {
      val asks = operator match {
        case keep: Keep => keep.asking.isDefined
        case _: Over => false
      }
      val (own, asking) = node.stream match {
        case union: Union if asks => (union.children.head, union.children.tail)
        case other => (other, Nil)
      }
      def check(rows: LogicalPlan, has: String): Unit =
        rows.find(StreamOperators.haveState).foreach { below =>
          throw refused(
            s"$has the stateful operator ${below.nodeName}, whose watermark the table would move",
            s"Write the rows of ${below.nodeName} to a table, and stream from that table")
        }
      check(own, "the stream below with_history has")
      asking.foreach(check(_, "the rows that look up come from"))
    }
  }

  /** Refuses tables that stand below other operators than those that begin with them, and tables
    * of which later reads may have other rows.
    */
  def query(plan: LogicalPlan): Unit = {
    // The nearest operator above that is not one of those that may be between.
    def check(node: LogicalPlan, above: Option[LogicalPlan]): Unit = {
      node match {
        case _: WithHistory if !above.exists(_.isInstanceOf[GroupedOperator]) =>
          throw refused(
            above.fold("the query has no keep and no window functions over the stream") { other =>
              val subquery =
                if (WithHistory.hasCorrelatedSubquery(other)) " with a correlated subquery"
                else ""
              s"${other.nodeName}$subquery is above with_history"
            },
            "Call with_history on the stream of keep or of the window functions; only select, " +
              "filter, explode and withWatermark may be between, without subqueries over columns " +
              "of the stream. Select or filter by such a subquery in the stream and in the table " +
              "before with_history")
        // During the analysis, some tables are not yet what they are read as.
        case table: WithHistory =>
          HistorySource.refusal(table.history).foreach(throw _)
        case _ =>
      }
      val next = if (WithHistory.maySeparate(node)) above else Some(node)
      node.children.foreach(check(_, next))
    }
    check(plan, None)
  }

  /** The error of a query that reads the rows of a stream as those of a table. */
  def notStarted: AnalysisException = refused(
    "its result is a stream, which show, count and collect cannot read",
    "Start a query with writeStream over keep or window functions")

  private def refused(reason: String, expected: String) =
    WinopsErrors.analysis("WINOPS_HISTORY_PLACE", "reason" -> reason, "expected" -> expected)
}
