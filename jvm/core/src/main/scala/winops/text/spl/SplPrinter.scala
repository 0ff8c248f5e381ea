package winops.text.spl

import winops.terms.Origin
import winops.text.dialect.{Decimals, Intervals, Names, Origins}

/** The canonical text of a window clause. Parsing it gives an equal policy, unless it ends in an
  * origin.
  */
private[spl] object SplPrinter {

  /** Formats a clause without the name of its port and without defaults, and with names quoted
    * unless they are plain. An origin other than the first row is appended in words that the
    * parser does not read.
    */
  def text(clause: WindowClause, origin: Origin): String = {
    val key = clause.keys.map(column => Names.quoted(column.name)).mkString(", ")
    val (partitioned, param) =
      if (clause.keys.isEmpty) ("", "") else (", partitioned", s"; param partitionBy : $key;")
    val partitions = clause.eviction.fold(partitioned)(evicted)
    s"${shape(clause.shape)}$partitions$param${counting(clause.shape, origin)}"
  }

  /** Formats the clause without its key. The text keeps `partitioned` only before a partition
    * eviction rule.
    */
  def window(clause: WindowClause, origin: Origin): String =
    text(clause.copy(keys = Seq.empty), origin)

  private def shape(shape: Shape[Delta]): String = shape match {
    case Shape.Tumbling(eviction) => s"tumbling, ${extent(eviction)}"
    case Shape.Punctuated => "tumbling, punct()"
    case Shape.Sliding(eviction, Extent.EachTuple) => s"sliding, ${extent(eviction)}"
    case Shape.Sliding(eviction, trigger) => s"sliding, ${extent(eviction)}, ${extent(trigger)}"
  }

  private def extent(extent: Extent[Delta]): String = extent match {
    case Extent.Count(rows) => s"count($rows)"
    case Extent.Time(micros) => s"time(${seconds(micros)})"
    case Extent.Attribute(Delta(attribute, _, size)) =>
      s"delta(${Names.quoted(attribute.name)}, $size)"
  }

  private def evicted(eviction: PartitionEviction): String = {
    val rule = eviction match {
      case PartitionEviction.Age(micros) => s"partitionAge(${seconds(micros)})"
      case PartitionEviction.Partitions(count) => s"partitionCount($count)"
      case PartitionEviction.Tuples(count) => s"tupleCount($count)"
    }
    s", partitioned, $rule"
  }

  private def counting(shape: Shape[Delta], origin: Origin): String = shape match {
    case Shape.Tumbling(_: Extent.Time) | Shape.Sliding(_, _: Extent.Time)
        if origin != Origin.FirstRow =>
      s" ${Origins.words(origin)}"
    case _ => ""
  }

  /** Formats microseconds as seconds. */
  def seconds(micros: Long): String = Decimals.plain(Intervals.seconds(micros))
}
