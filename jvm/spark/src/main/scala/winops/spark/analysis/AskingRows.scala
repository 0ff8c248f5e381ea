package winops.spark.analysis

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

/** The rows of windows together with those that read the windows.
  *
  * @param rows
  *   the rows of both, first those of the windows
  * @param asking
  *   the column with the row that reads, behind those of the windows
  * @param shown
  *   the columns of the output that come from the row that reads
  * @param by
  *   the columns that fill the time and the group key of the windows, as in
  *   [[winops.spark.plan.LookupOptions]]
  */
private[spark] final case class AskingRows(
    rows: LogicalPlan,
    asking: Attribute,
    shown: Seq[Attribute],
    by: Seq[String])
