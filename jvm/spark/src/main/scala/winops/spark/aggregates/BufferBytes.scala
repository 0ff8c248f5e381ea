package winops.spark.aggregates

import org.apache.spark.sql.catalyst.encoders.Codec
import org.apache.spark.sql.catalyst.expressions.{Expression, Literal}
import org.apache.spark.sql.catalyst.expressions.aggregate._
import org.apache.spark.sql.catalyst.expressions.objects.EncodeUsingSerializer
import org.apache.spark.sql.execution.aggregate.{ComplexTypedAggregateExpression, ScalaAggregator, SimpleTypedAggregateExpression}
import org.apache.spark.sql.types.DataType

/** The serialized form of aggregation buffers that hold objects. */
private[spark] object BufferBytes {

  /** Returns true if the serialized buffer of a user's function contains values only. Other forms
    * name classes that are instantiated when the buffer is read: Java serialization, Kryo, and
    * types in JSON.
    */
  def areValues(function: AggregateFunction): Boolean = columnsOf(function) match {
    case Some(columns) => columns.forall(isValue)
    case None => !function.isInstanceOf[TypedImperativeAggregate[_]]
  }

  /** Returns the types of the columns if the serialized buffer is a row. */
  def rowOf(function: AggregateFunction): Option[Seq[DataType]] = function match {
    case _: TypedImperativeAggregate[_] => columnsOf(function).map(_.map(_.dataType))
    case _ => None
  }

  /** The expressions that turn the object of a user's aggregator into the columns of a row. */
  private def columnsOf(function: AggregateFunction): Option[Seq[Expression]] = function match {
    case user: ScalaAggregator[_, _, _] => Some(user.bufferEncoder.serializer)
    case user: ComplexTypedAggregateExpression => Some(user.bufferSerializer)
    case user: SimpleTypedAggregateExpression => Some(user.bufferSerializer)
    case _ => None
  }

  private def isValue(column: Expression): Boolean = !column.exists {
    case _: EncodeUsingSerializer => true
    case Literal(_: Codec[_, _], _) => true
    case _ => false
  }
}
