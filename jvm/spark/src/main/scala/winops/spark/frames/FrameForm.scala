package winops.spark.frames

import org.apache.spark.sql.types.{DataType, StructType}

import winops.spark.aggregates.{AggregatePlan, WideDecimals}
import winops.spark.expressions.WindowAggregate
import winops.spark.plan.{FrameBound, FramedFunction, OffsetValue, PositionFunction}

/** The form in which some window functions of a group are stored. It suffices to read what is
  * stored without the functions.
  *
  * @param kind
  *   one of the names in [[FrameForm]]
  * @param functions
  *   the identities of the functions, in their order
  * @param positions
  *   the number of boundaries whose positions are stored
  * @param distinct
  *   the number of functions that count distinct values, in a sliding frame
  * @param buffers
  *   the identities of the functions with a stored buffer, and the types of their buffers, in a
  *   running frame
  * @param wide
  *   the columns of these buffers whose digits follow if they are NULL
  */
private[spark] final case class FrameForm(
    kind: String,
    functions: Seq[String],
    positions: Int = 0,
    distinct: Int = 0,
    buffers: Seq[(String, StructType)] = Nil,
    wide: Seq[Int] = Nil) {

  /** The types of the columns of all buffers. */
  def types: Seq[DataType] = buffers.flatMap(_._2.map(_.dataType))
}

private[spark] object FrameForm {
  val Running = "running"
  val Sliding = "sliding"
  val Nth = "nth"
  val Lag = "lag"

  /** Nothing is stored. */
  val Nothing = "nothing"

  /** The form of functions that are evaluated together.
    *
    * @param functions
    *   the functions with their identities
    * @param folds
    *   returns true for functions that are computed from all rows of a frame
    */
  def of(
      functions: Seq[(String, FramedFunction)],
      folds: WindowAggregate => Boolean): FrameForm = {
    val (first, names) = (functions.head._2, functions.map(_._1))
    val positions = Seq(first.lower, first.upper).count(storesPosition)
    first.child match {
      case value: OffsetValue if value.ignoreNulls && value.offset < 0 => FrameForm(Lag, names)
      case _: OffsetValue => FrameForm(Nothing, names)
      case _ if !Frames.isShared(first) => FrameForm(Nth, names, positions)
      case _ =>
        val aggregates = functions.map { case (name, function) => name -> aggregateOf(function) }
        if (first.lower == FrameBound.Unbounded) running(aggregates, positions)
        else {
          val plan = new AggregatePlan(aggregates.map(_._2), Nil, folds)
          FrameForm(Sliding, names, positions, plan.counted.size)
        }
    }
  }

  private def running(functions: Seq[(String, WindowAggregate)], positions: Int): FrameForm = {
    val stored = functions.filter(one => RunningFrame.canStore(one._2))
    val buffers = stored.map { case (name, aggregate) =>
      val columns = aggregate.function.aggBufferAttributes.zipWithIndex.map { case (column, i) =>
        (s"c$i", column.dataType)
      }
      name -> columns.foldLeft(new StructType) { case (struct, (column, dataType)) =>
        struct.add(column, dataType)
      }
    }
    FrameForm(
      Running,
      functions.map(_._1),
      positions,
      buffers = buffers,
      wide = WideDecimals.ordinals(stored.map(_._2)))
  }

  private def aggregateOf(function: FramedFunction): WindowAggregate = function.child match {
    case position: PositionFunction => position.aggregate
    case aggregate: WindowAggregate => aggregate
    case other => throw new IllegalArgumentException(other.sql)
  }

  private def storesPosition(bound: FrameBound): Boolean = bound match {
    case FrameBound.Unbounded | _: FrameBound.ByRows => false
    case _ => true
  }
}
