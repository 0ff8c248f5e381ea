package org.apache.spark.sql.winops.source

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSet, GenericInternalRow, JoinedRow, SortOrder, UnsafeProjection}
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode, FalseLiteral, JavaCode}
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.{CodegenSupport, SparkPlan, UnaryExecNode}
import org.apache.spark.sql.types.LongType

import winops.spark.source.SourceOrder

/** Adds the position of each row in the files that its child is reading. See [[FilePosition]]. */
final case class FilePositionExec(
    position: Attribute,
    isRequired: Boolean,
    byAge: Boolean,
    child: SparkPlan)
    extends UnaryExecNode
    with CodegenSupport {

  /** The file splits of the child; filled on the driver before the tasks are serialized. */
  @transient private lazy val splits = new FileSplits(isRequired, byAge)

  override def output: Seq[Attribute] = child.output :+ position
  override def producedAttributes: AttributeSet = AttributeSet(position)
  override def outputPartitioning: Partitioning = child.outputPartitioning
  override def outputOrdering: Seq[SortOrder] = child.outputOrdering

  override def inputRDDs(): Seq[RDD[InternalRow]] = {
    val rows = child.asInstanceOf[CodegenSupport].inputRDDs()
    read(rows)
    rows
  }

  override protected def doProduce(ctx: CodegenContext): String =
    child.asInstanceOf[CodegenSupport].produce(ctx, this)

  override def doConsume(ctx: CodegenContext, input: Seq[ExprCode], row: ExprCode): String = {
    val pieces = ctx.addReferenceObj("splits", splits)
    val positions =
      ctx.addMutableState(
        classOf[FilePositions].getName,
        "positions",
        p => s"$p = $pieces.positions();")
    val value = ctx.freshName("position")
    s"""
       |final long $value = $positions.next();
       |${consume(ctx, input :+ ExprCode(FalseLiteral, JavaCode.variable(value, LongType)))}
     """.stripMargin
  }

  override protected def doExecute(): RDD[InternalRow] = {
    val rows = child.execute()
    read(Seq(rows))
    val (pieces, columns) = (splits, output)
    rows.mapPartitions { part =>
      val positions = pieces.positions()
      val last = new GenericInternalRow(1)
      val joined = new JoinedRow
      val toUnsafe = UnsafeProjection.create(columns, columns)
      part.map { row =>
        last.setLong(0, positions.next())
        toUnsafe(joined(row, last))
      }
    }
  }

  private def read(rows: Seq[RDD[InternalRow]]): Unit = {
    val found = splits.read(rows)
    if (isRequired && !found)
      throw SourceOrder.required(child.collectLeaves().head.nodeName)
  }

  override protected def withNewChildInternal(newChild: SparkPlan): FilePositionExec =
    copy(child = newChild)
}
