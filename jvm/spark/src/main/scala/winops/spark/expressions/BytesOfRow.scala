package winops.spark.expressions

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Expression, UnsafeProjection}
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.types.{BinaryType, DataType}

/** The bytes of a row with the given columns. They break ties between rows, so that the order
  * depends on the rows alone.
  */
final case class BytesOfRow(columns: Seq[Expression]) extends Expression with CodegenFallback {
  @transient private lazy val toUnsafe = UnsafeProjection.create(columns)

  override def children: Seq[Expression] = columns
  override def dataType: DataType = BinaryType
  override def nullable: Boolean = false

  /** Returns a copy, because a comparison evaluates the expression for two rows. */
  override def eval(input: InternalRow): Array[Byte] = toUnsafe(input).copy().getBytes

  override def toString: String = "bytes of the row"

  override protected def withNewChildrenInternal(
      newChildren: IndexedSeq[Expression]): BytesOfRow = copy(columns = newChildren)
}
