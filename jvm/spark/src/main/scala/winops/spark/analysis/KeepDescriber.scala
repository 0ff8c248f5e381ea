package winops.spark.analysis

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{LocalRelation, LogicalPlan}
import org.apache.spark.sql.types.StringType
import org.apache.spark.unsafe.types.UTF8String

import winops.policy.{Policy, Reclaim}
import winops.spark.expressions.UnqualifiedSql
import winops.spark.plan.{Application, FramedFunction, GroupedOperator, Keep, KeepSpec, Over}
import winops.terms.RowExpression

/** Describes a `keep` in English, for the output `describe`. */
object KeepDescriber {

  /** The relation with the description.
    *
    * @param partitionBy
    *   the group keys that are given outside the policy's text
    */
  def of(spec: KeepSpec, partitionBy: Seq[Expression], time: Option[Attribute]): LogicalPlan =
    LocalRelation(
      Seq(AttributeReference("description", StringType, nullable = false)()),
      Seq(InternalRow(UTF8String.fromString(text(spec, partitionBy, time)))))

  /** The description of an operator. Window functions are described by their results. */
  def text(operator: GroupedOperator): String = operator match {
    case keep: Keep => text(keep.spec, keep.group, keep.time)
    case over: Over => functions(over)
  }

  private def functions(over: Over): String = {
    val results = over.results.map(FramedFunction.textOf(_, over.content)).distinct
    val rows =
      if (over.spec.group.isEmpty) "all rows" else s"the rows of each ${quoted(over.spec.group)}"
    val order = over.spec.order
      .map(_.stripSuffix(" ASC NULLS FIRST").replaceFirst(" DESC NULLS LAST$", " DESC"))
    val ordered = if (order.isEmpty) "" else s" in the order of ${quoted(order)}"
    s"Adds ${quoted(results)} to each row, over $rows$ordered."
  }

  private def quoted(expressions: Seq[String]): String =
    expressions.map(sql => s"`$sql`").mkString(", ")

  private def text(
      spec: KeepSpec,
      partitionBy: Seq[Expression],
      time: Option[Attribute]): String = {
    val policy = policyOf(spec, partitionBy)
    val idle = spec.idleMillis.map(millis => Reclaim.Silent(millis * 1000))
    val applied = for (column <- time; application <- spec.application) yield {
      val name = rowExpression(column).sql
      application match {
        case Application.EventTime =>
          s"Applies rows in the order of $name; on a stream, when the watermark has passed them."
        case Application.Arrival =>
          "Applies rows in the order of arrival; the time of a group is its greatest " +
            s"$name so far."
      }
    }
    val asked = spec.lookup.map { lookup =>
      val rows = if (lookup.before) "before the rows of its time" else "as of its time"
      s"Each row of another input looks the rows of its group up, $rows."
    }
    (policy.describeWith(idle) +: (applied ++ asked).toSeq).mkString(" ")
  }

  /** The policy with all group keys.
    *
    * @param partitionBy
    *   the group keys, also those that are given outside the policy's text
    */
  def policyOf(spec: KeepSpec, partitionBy: Seq[Expression]): Policy = {
    val group = spec.policy.group
    val beside = partitionBy
      .map(rowExpression)
      .filterNot(key => group.keys.exists(_.sql.equalsIgnoreCase(key.sql)))
    spec.policy.copy(group = group.copy(keys = beside.distinct ++ group.keys))
  }

  private def rowExpression(expression: Expression): RowExpression = expression match {
    case column: Attribute => RowExpression.Column(column.name)(0)
    case other => RowExpression.Computed(UnqualifiedSql.of(other))(0)
  }
}
