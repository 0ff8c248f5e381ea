package winops.spark.expressions

import org.apache.spark.sql.catalyst.expressions.{Expression, UnaryExpression, Unevaluable}
import org.apache.spark.sql.types.DataType

/** A row that a condition can refer to beside the row it examines. */
sealed abstract class OtherRow(val name: String) extends Serializable

object OtherRow {
  case object Newest extends OtherRow("newest_event")
  case object Oldest extends OtherRow("oldest_event")

  val all: Seq[OtherRow] = Seq(Newest, Oldest)
}

/** The value of `child` for another row of the window, within a condition. */
final case class OfRow(row: OtherRow, child: Expression)
    extends UnaryExpression
    with Unevaluable {
  override def dataType: DataType = child.dataType

  override protected def withNewChildInternal(newChild: Expression): OfRow =
    copy(child = newChild)
}
