package winops.spark.aggregates

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.aggregate._

/** A buffer that was stored, of a function that cannot add rows to a buffer that it has read. New
  * rows are added to a buffer of their own, which is merged when the value is read.
  *
  * @param stored
  *   the serialized buffer
  */
private[aggregates] final class ResumedBuffer[T](
    function: TypedImperativeAggregate[T],
    stored: Array[Byte]) {
  private var added: Option[T] = None

  def update(row: InternalRow): Unit =
    added = Some(function.update(added.getOrElse(function.createAggregationBuffer()), row))

  /** The buffer of all rows, to which no row may be added. */
  def value: T = {
    val before = function.deserialize(stored)
    // Merging may change both buffers.
    added.fold(before) { rows =>
      function.merge(before, function.deserialize(function.serialize(rows)))
    }
  }
}

private[aggregates] object ResumedBuffer {

  /** Returns the buffer with these bytes, or a [[ResumedBuffer]] that contains it. */
  def of(function: TypedImperativeAggregate[Any], stored: Array[Byte]): Any =
    AggregateProperties.of(function).resumption match {
      case AggregateProperties.BesideStored => new ResumedBuffer(function, stored)
      case AggregateProperties.MergedIntoEmpty =>
        function.merge(function.createAggregationBuffer(), function.deserialize(stored))
      case AggregateProperties.Continued => function.deserialize(stored)
    }

  /** Returns true if no row can be added to a buffer that the function has read or merged. */
  def isNeededFor(function: ImperativeAggregate): Boolean =
    AggregateProperties.of(function).resumption == AggregateProperties.BesideStored
}
