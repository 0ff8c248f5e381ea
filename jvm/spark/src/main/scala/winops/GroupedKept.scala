package winops

import scala.annotation.varargs

import org.apache.spark.sql.{Column, DataFrame}

import winops.spark.plan.Output

/** The window contents of a policy, grouped by columns;
  * [[Kept.groupBy(col1:String* Kept.groupBy]] creates it.
  */
final class GroupedKept private[winops] (call: KeepCall, by: Seq[Column]) {

  /** Aggregates of each part of the window contents, after every step that changes the part.
    *
    * The columns are those of [[Kept]]'s `agg`, with the grouping columns before the aggregates.
    */
  @varargs def agg(expr: Column, exprs: Column*): DataFrame = over(expr +: exprs, Nil)

  /** Aggregates of each part of the window contents, as rows of a mode.
    *
    * @param mode
    *   `all`, `latest` or `changes`, as for [[Kept]]'s `agg`
    */
  @varargs def agg(mode: String, expr: Column, exprs: Column*): DataFrame =
    over(expr +: exprs, Seq("mode" -> mode))

  private def over(columns: Seq[Column], more: Seq[(String, Any)]): DataFrame = {
    val query = call.rows.groupBy(by: _*).agg(columns.head, columns.tail: _*)
    call.over(Output.Agg, Some(query), more)
  }
}
