package org.apache.spark.sql.winops.checkpoint

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference}
import org.apache.spark.sql.types.LongType

/** Writes a new checkpoint without some groups.
  *
  * @param where
  *   the condition of the groups that the new checkpoint lacks
  * @param operator
  *   the number of the only `keep` that loses groups; all of them by default
  */
final case class ForgetGroups(
    from: String,
    to: String,
    where: String,
    operator: Option[Long],
    output: Seq[Attribute] = ForgetGroups.columns)
    extends MovedCheckpoint {

  // The condition may name a person.
  override def simpleString(maxFields: Int): String = "ForgetGroups"

  override private[checkpoint] def change: StateChange = ForgottenGroups(where, operator)

  override private[checkpoint] def row(keep: MovedKeep): InternalRow =
    InternalRow(keep.operator, keep.forgottenGroups, keep.forgottenRows, keep.groups, keep.rows)
}

object ForgetGroups {
  private def columns: Seq[Attribute] =
    Seq("operator", "forgotten_groups", "forgotten_rows", "groups", "rows").map { name =>
      AttributeReference(name, LongType, nullable = false)()
    }
}
