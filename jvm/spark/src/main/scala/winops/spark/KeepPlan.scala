package winops.spark

import org.apache.spark.sql.catalyst.expressions._

/** What the stream's and the table's operator share: a [[Keep]] whose group is attributes, over
  * rows that carry what groups and orders them.
  *
  * @param keys
  *   the group, among the input's attributes
  * @param content
  *   the attributes of a row as it is kept and given back; the input begins with them
  * @param position
  *   tells where in the source a row stood, the last word in every order
  */
final case class KeepPlan(
    spec: KeepSpec,
    keys: Seq[Attribute],
    order: Seq[SortOrder],
    time: Option[Attribute],
    changeColumns: Seq[Attribute],
    content: Seq[Attribute],
    position: Attribute) {

  def output: Seq[Attribute] = spec.output match {
    case Output.Changes | Output.Rows => changeColumns ++ content.map(Keep.withoutWatermark)
    case Output.Snapshots | Output.Events => changeColumns
  }

  /** The order in which the rows of a group are applied, up to ties. */
  def stamp: Seq[SortOrder] =
    (if (spec.rowsWait) time.map(SortOrder(_, Ascending)).toSeq else Nil) ++ order

  /** The order of the rows of one batch, in which there are no ties. */
  def arrival: Seq[SortOrder] = stamp :+ SortOrder(position, Ascending)

  /** The order that a task's input needs. With keys it is that of a hash of them, which sorts as
    * one 64-bit number; the rows of a group are then put in order by themselves.
    */
  def inputOrder: Seq[SortOrder] =
    if (keys.isEmpty) arrival else Seq(SortOrder(KeepPlan.hash(keys), Ascending))

  /** The place of the time column in a row of the content, or -1. */
  def timeOrdinal: Int = time.fold(-1)(t => content.indexWhere(_.exprId == t.exprId))

  /** For EXPLAIN FORMATTED, under the node's name. */
  def verboseString(name: String): String = s"$name\n$simpleString\n"

  def simpleString: String = Keep.describe(spec, time)
}

object KeepPlan {
  def hash(keys: Seq[Attribute]): Expression = new XxHash64(keys)
}
