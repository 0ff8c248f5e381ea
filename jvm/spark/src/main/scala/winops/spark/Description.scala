package winops.spark

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.AttributeReference
import org.apache.spark.sql.catalyst.plans.logical.{LocalRelation, LogicalPlan}
import org.apache.spark.sql.types.StringType
import org.apache.spark.unsafe.types.UTF8String

import winops.policy.Policy

/** A policy in a sentence of plain English, as a table of one row. */
object Description {
  def of(policy: Policy): LogicalPlan = LocalRelation(
    Seq(AttributeReference("description", StringType, nullable = false)()),
    Seq(InternalRow(UTF8String.fromString(policy.describe))))
}
