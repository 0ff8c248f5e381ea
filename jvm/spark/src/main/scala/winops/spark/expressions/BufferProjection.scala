package winops.spark.expressions

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.types.{DataType, StringType, UserDefinedType}
import org.apache.spark.unsafe.types.UTF8String

/** Projections that write the buffers of aggregates. */
private[spark] object BufferProjection {

  /** A projection of `expressions` over rows with the columns `input`.
    *
    * Spark interprets expressions whose code the JVM cannot compile, such as those of some
    * hundred aggregates. Its interpreter then copies a string before it writes it only if the
    * string has no collation. Another one would change with the memory of the row that it was
    * read from, so it is copied here.
    */
  def create(expressions: Seq[Expression], input: Seq[Attribute]): MutableProjection =
    MutableProjection.create(expressions, input) match {
      case _: InterpretedMutableProjection =>
        new InterpretedMutableProjection(expressions.map(copied), input)
      case compiled => compiled
    }

  private def copied(expression: Expression): Expression =
    if (isCollated(expression.dataType)) CopiedString(expression) else expression

  private def isCollated(dataType: DataType): Boolean = dataType match {
    case udt: UserDefinedType[_] => isCollated(udt.sqlType)
    case string: StringType => string != StringType
    case _ => false
  }
}

/** The string `child` in memory of its own. */
private final case class CopiedString(child: Expression)
    extends UnaryExpression
    with CodegenFallback {
  override def dataType: DataType = child.dataType
  override def nullSafeEval(string: Any): UTF8String = string.asInstanceOf[UTF8String].copy()
  override protected def withNewChildInternal(newChild: Expression): CopiedString =
    copy(child = newChild)
}
