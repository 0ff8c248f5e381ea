package org.apache.spark.sql.winops.source

import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSet}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}

/** Adds a column with the position of each row in the files that are read.
  *
  * @param position
  *   the added column
  * @param isRequired
  *   true if the query fails when the files of the child are unknown; otherwise all rows then
  *   have the same position
  * @param byAge
  *   true if an older file precedes a newer one, as in the micro-batches of a stream
  */
final case class FilePosition(
    position: Attribute,
    child: LogicalPlan,
    isRequired: Boolean = false,
    byAge: Boolean = false)
    extends UnaryNode {
  override def output: Seq[Attribute] = child.output :+ position
  override def producedAttributes: AttributeSet = AttributeSet(position)

  override protected def withNewChildInternal(newChild: LogicalPlan): FilePosition =
    copy(child = newChild)
}
