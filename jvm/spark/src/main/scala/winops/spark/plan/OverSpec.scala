package winops.spark.plan

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}

import winops.spark.expressions.UnqualifiedSql

/** The options of window functions over a stream, without resolved columns.
  *
  * @param exactFloats
  *   true if floating-point results are folded row by row
  */
final case class OverSpec(
    group: Seq[String],
    order: Seq[String],
    application: Option[Application],
    idleMillis: Option[Long],
    maxRows: Long,
    dropNullTime: Boolean,
    flushesAtEnd: Boolean,
    exactFloats: Boolean)
    extends OperatorSpec {
  override def words: OperatorWords = OperatorWords.Over
  override def nodeName: String = "Over"
  override def isCrossGroup: Boolean = false
  override def emitsRefused: Boolean = false
  override def newestRows: Option[Int] = None

  override def title: String = OverSpec.title(group, order)

  override def describe(time: Option[Attribute], results: Seq[Expression]): String = described(
    results.map(UnqualifiedSql.of).distinct.mkString("[", ", ", "]"),
    time,
    Option.when(exactFloats)("every frame folded row by row").toSeq)
}

object OverSpec {

  /** The window of functions with these parts of PARTITION BY and ORDER BY. */
  def title(group: Seq[String], order: Seq[String]): String = {
    val by = if (group.isEmpty) Nil else Seq(s"PARTITION BY ${group.mkString(", ")}")
    val ordered = if (order.isEmpty) Nil else Seq(s"ORDER BY ${order.mkString(", ")}")
    (by ++ ordered).mkString("OVER (", " ", ")")
  }
}
