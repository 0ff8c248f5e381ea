package winops.spark.frames

import scala.util.Try

import org.apache.spark.unsafe.types.CalendarInterval

import winops.spark.expressions.WindowAggregate
import winops.spark.plan.{FrameBound, FramedFunction, OffsetValue, PositionFunction}

/** A number of rows of a partition before the current row. */
private[spark] sealed trait FrameReach {

  /** The reach as it is stored. */
  def text: String

  /** The reach in an error message. */
  def description: String

  /** Returns true if the rows of this reach include those of another one. */
  def covers(other: FrameReach): Boolean
}

private[spark] object FrameReach {

  /** No row before the current row. */
  val None: FrameReach = Rows(0L)

  /** A number of rows. */
  final case class Rows(rows: Long) extends FrameReach {
    override def text: String = s"rows $rows"

    override def description: String = rows match {
      case 0 => "no earlier row"
      case 1 => "the row before"
      case _ => s"the $rows rows before"
    }

    override def covers(other: FrameReach): Boolean = other match {
      case Rows(others) => rows >= others
      case _ => false
    }
  }

  /** The rows of a time; 0 microseconds are the rows with the current row's sort keys. */
  final case class Micros(micros: Long) extends FrameReach {
    override def text: String = s"micros $micros"

    override def description: String =
      if (micros == 0) "the rows with equal sort keys"
      else
        s"the rows of the ${BigDecimal(micros, 6).bigDecimal.stripTrailingZeros.toPlainString} seconds before"

    override def covers(other: FrameReach): Boolean = other match {
      case Micros(others) => micros >= others
      case _ => other == None
    }
  }

  /** The rows of an interval of which the length depends on the date. */
  final case class Interval(sql: String) extends FrameReach {
    override def text: String = s"interval $sql"
    override def description: String = s"the rows of $sql before"

    override def covers(other: FrameReach): Boolean =
      other == this || other == None || other == Micros(0)
  }

  /** All rows of the partition. */
  case object All extends FrameReach {
    override def text: String = "all"
    override def description: String = "all rows of the partition"
    override def covers(other: FrameReach): Boolean = true
  }

  /** Parses what [[FrameReach.text]] returned. */
  def parse(text: String): Option[FrameReach] = text.split(" ", 2) match {
    case Array("rows", number) => Try(Rows(number.toLong)).toOption
    case Array("micros", number) => Try(Micros(number.toLong)).toOption
    case Array("interval", sql) => Some(Interval(sql))
    case Array("all") => Some(All)
    case _ => scala.None
  }

  /** The earlier rows from which the results of a function can be computed without other state.
    */
  def neededBy(function: FramedFunction): FrameReach = function.child match {
    case value: OffsetValue if value.offset >= 0 => None
    case value: OffsetValue if value.ignoreNulls => All
    case value: OffsetValue => Rows(-value.offset.toLong)
    case _ =>
      function.lower match {
        case FrameBound.Unbounded => All
        case FrameBound.ByRows(offset) => Rows(Math.max(0L, -offset.toLong))
        case _: FrameBound.ByPeers => Micros(0L)
        case by: FrameBound.ByTime if by.isFollowing => None
        case by: FrameBound.ByTime if by.dependsOnZone => Interval(by.offset.sql)
        case by: FrameBound.ByTime =>
          by.offset.value match {
            case interval: CalendarInterval => Micros(-interval.microseconds)
            case micros: Long => Micros(-micros)
            case _ => Interval(by.offset.sql)
          }
      }
  }

  /** The earlier rows that are stored for a function. */
  def keptFor(function: FramedFunction): FrameReach = function match {
    case FramedFunction(value: OffsetValue, _, _) if value.ignoreNulls => None
    case FramedFunction(aggregate: WindowAggregate, FrameBound.Unbounded, _) =>
      ofRunning(aggregate)
    case FramedFunction(position: PositionFunction, FrameBound.Unbounded, _) =>
      ofRunning(position.aggregate)
    case _ => neededBy(function)
  }

  private def ofRunning(aggregate: WindowAggregate): FrameReach =
    if (RunningFrame.canStore(aggregate)) None else All
}
