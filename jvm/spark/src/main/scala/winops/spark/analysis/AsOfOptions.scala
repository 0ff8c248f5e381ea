package winops.spark.analysis

import org.apache.spark.sql.catalyst.expressions.{Expression, Literal}

import winops.spark.plan.OperatorSpec

/** The arguments of an as-of join that are those of `keep`. `keep` checks their values.
  *
  * @param idle
  *   the time after which the rows of a key are removed
  * @param maxRows
  *   the maximum number of rows of a key, with those that wait
  * @param atEnd
  *   what becomes of the rows that wait when the input ends
  * @param emitsLate
  *   true if late rows of the left side are emitted, with a column for the reason behind all
  *   others
  */
private[spark] final case class AsOfOptions(
    idle: Option[Expression] = None,
    maxRows: Option[Expression] = None,
    atEnd: Option[Expression] = None,
    emitsLate: Boolean = false) {

  /** The arguments by their names in `keep`. */
  def ofKeep: Seq[(String, Expression)] = Seq(
    "idle" -> idle,
    "max_rows" -> maxRows,
    "at_end" -> atEnd,
    "late" -> Option.when(emitsLate)(Literal("emit")),
    // A window has no more rows than its group may have, so its rows fit the array.
    "max_content" -> Some(maxRows.getOrElse(Literal(OperatorSpec.DefaultMaxRows)))).collect {
    case (name, Some(value)) => name -> value
  }
}
