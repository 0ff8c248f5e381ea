package winops.spark.expressions

import org.apache.spark.sql.catalyst.expressions.{LeafExpression, Unevaluable}
import org.apache.spark.sql.types.{DataType, LongType}

import winops.window.expression.WindowView

/** A number that describes the window, such as its row count. */
sealed abstract class Fact(val name: String) extends Serializable {
  def of(view: WindowView): Long
}

object Fact {
  case object CurrentCount extends Fact("current_count") {
    override def of(view: WindowView): Long = view.count
  }

  case object ExpiredCount extends Fact("expired_count") {
    override def of(view: WindowView): Long = view.expired
  }

  case object NewestTimestamp extends Fact("newest_timestamp") {
    override def of(view: WindowView): Long = view.newestArrival
  }

  case object OldestTimestamp extends Fact("oldest_timestamp") {
    override def of(view: WindowView): Long = view.oldestArrival
  }

  val all: Seq[Fact] = Seq(CurrentCount, ExpiredCount, NewestTimestamp, OldestTimestamp)
}

/** A number that describes the window, within a condition. */
final case class WindowFact(fact: Fact) extends LeafExpression with Unevaluable {
  override def nullable: Boolean = false
  override def dataType: DataType = LongType
}
