package winops.spark.harness

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.CollectList
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{ArrayType, LongType, StringType, StructType}

import winops.spark.expressions.{UnqualifiedSql, WindowAggregate}
import winops.spark.over.OverDescriber
import winops.spark.plan.{FramedFunction, OffsetValue, Over}
import winops.window.changes.ChangeReason

/** Window functions over rows of a request.
  *
  * @param over
  *   the operator of the functions
  * @param above
  *   the select list, over a relation with the operator's output
  * @param schema
  *   the columns of the rows
  */
private[harness] final class OverWindow(over: Over, above: LogicalPlan, schema: StructType) {

  /** The window that computes the functions. */
  def window: WindowPlan = new WindowPlan(over, schema)

  /** The columns of the select list. */
  val results: StructType = DataTypeUtils.fromAttributes(selected)

  /** The functions in English. */
  def describer: OverDescriber = new OverDescriber(over.plan(over.keys.map(_.toAttribute), Nil))

  /** The name of the time column, if rows are ordered by an event time. */
  def time: Option[String] = over.time.map(_.name)

  /** The SQL of each part of PARTITION BY. */
  def group: Seq[String] = over.group.map {
    case column: Attribute => column.name
    case other => UnqualifiedSql.of(other)
  }

  /** Returns a function that gives the number and, as JSON, the results of a row of [[window]].
    */
  def toResults: InternalRow => (Long, String) = {
    val rows = ComputedRows.of(above)
    val values = UnsafeProjection.create(selected, above.output)
    val json = new JsonRows(results)
    (row: InternalRow) => {
      val computed = rows(row).get
      (computed.getLong(0), json.text(values(computed)))
    }
  }

  /** The window whose results are the rows that the functions are computed of. */
  def windowOfFrames: WindowPlan = new WindowPlan(
    over.copy(
      results = frames.map { case (_, frame) => frame },
      changeColumns = frames.map { case (name, frame) =>
        AttributeReference(name, frame.dataType, frame.nullable)()
      }),
    schema)

  /** The frames of [[windowOfFrames]], by name. */
  def frameNames: Seq[String] = frames.map { case (name, _) => name }

  /** The reasons for which rows leave the frames. */
  def frameReasons: Seq[String] = frames.map { case (_, frame) =>
    ChangeReason.Names(if (frame.isOfRows) ChangeReason.Displaced else ChangeReason.Expired)
  }

  /** Returns a function that gives the number of a row of [[windowOfFrames]], the values of its
    * group, and the numbers of the rows in each frame.
    */
  def toFrames: InternalRow => (Long, Seq[String], Seq[Seq[Long]]) = {
    val rows = over.rows
    val groups = UnsafeProjection.create(over.group.map(text), rows)
    val place = rows.indexWhere(_.exprId == number.exprId)
    (row: InternalRow) => {
      val group = groups(row)
      val lists = frames.zipWithIndex.map { case ((_, frame), i) =>
        val ordinal = rows.size + i
        frame.dataType match {
          case _: ArrayType => row.getArray(ordinal).toLongArray().toSeq
          case _ => Option.unless(row.isNullAt(ordinal))(row.getLong(ordinal)).toSeq
        }
      }
      val values = over.group.indices.map { i =>
        if (group.isNullAt(i)) "NULL" else group.getUTF8String(i).toString
      }
      (row.getLong(place), values, lists)
    }
  }

  private def selected: Seq[Attribute] =
    above.output.tail.filterNot(_.name == WindowPlan.RowNumber)

  private def number: Attribute = over.content.find(_.name == WindowPlan.RowNumber).get

  /** Functions that give the numbers of the rows of a frame, or of the row of a `lag` or `lead`.
    */
  private lazy val frames: Seq[(String, FramedFunction)] = over.results
    .collect { case function: FramedFunction =>
      function.child match {
        case value: OffsetValue =>
          val numbered =
            if (value.ignoreNulls) If(IsNull(value.left), Literal(null, LongType), number)
            else number
          val row = value.copy(left = numbered, right = Literal(null, LongType))
          OverDescriber.sql(value) -> function.copy(child = row)
        case _ =>
          val list = WindowAggregate(new CollectList(number), isDistinct = false, None)
          FramedFunction.text(function.lower, function.upper) -> function.copy(child = list)
      }
    }
    .distinctBy { case (name, _) => name }

  private def text(value: Expression): Expression =
    Cast(value, StringType, Some(OverWindow.zone))
}

private[harness] object OverWindow {

  private def zone: String = SQLConf.get.sessionLocalTimeZone
}
