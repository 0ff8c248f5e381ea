package winops.spark.row

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, BoundReference, Expression, ToPrettyString}
import org.apache.spark.unsafe.types.UTF8String

import winops.spark.internal.GroupSizes

/** Writes group keys as text for people: the values as `DataFrame.show` writes them, separated by
  * commas.
  *
  * @param keys
  *   the columns of the group key
  * @param zone
  *   the time zone of timestamps
  */
final class KeyText(keys: Seq[Attribute], zone: String) extends Serializable {
  @transient private lazy val values: Seq[Expression] = keys.zipWithIndex.map { case (key, i) =>
    ToPrettyString(BoundReference(i, key.dataType, key.nullable), Some(zone))
  }

  /** The text of a key, at most [[GroupSizes.MaxKey]] characters long. */
  def of(key: InternalRow): String = {
    val text =
      if (keys.isEmpty) "all rows"
      else values.map(_.eval(key).asInstanceOf[UTF8String].toString).mkString(", ")
    if (text.length > GroupSizes.MaxKey) s"${text.take(GroupSizes.MaxKey - 3)}..." else text
  }
}
