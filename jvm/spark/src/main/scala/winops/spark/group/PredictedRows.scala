package winops.spark.group

import org.apache.spark.sql.catalyst.expressions.{Attribute, UnsafeRow}

import winops.spark.plan.OperatorPlan
import winops.storage.bytes.Bytes
import winops.storage.rows.RowForm
import winops.window.time.Clock

/** Predicts rows with these columns: they have the key of the group, a time near its clock, and
  * the first value of variable length behind their columns.
  *
  * Columns are found by their names, as a reader of the state does not have the query.
  *
  * @param columns
  *   the columns of the rows
  */
final class PredictedRows(plan: OperatorPlan, columns: Seq[Attribute]) extends RowForm {
  import PredictedRows._

  private val nulls = UnsafeRow.calculateBitSetWidthInBytes(columns.size)
  private val fixed = nulls + columns.size * WordBytes
  private val firstOfAnyLength = columns.indexWhere(isOfAnyLength)
  private val timeAt = plan.time.flatMap(time => ordinalOf(time.name)).fold(-1)(wordAt)

  /** The columns of fixed length that are in the key, and their places in the key. */
  private val keyColumns: Array[(Int, Int)] =
    groupColumns.filterNot(column => isOfAnyLength(columns(column._1))).toArray

  /** The place in the key of the first column of any length; -1 if it is not in the key. */
  private val longKey =
    groupColumns.collectFirst { case (`firstOfAnyLength`, i) => i }.getOrElse(-1)

  private var run = newRow(fixed)
  private var value = newRow(fixed)
  private var clock = 0L

  override def beforeRun: Array[Byte] = run
  override def beforeValue: Array[Byte] = value
  override def hasTimes: Boolean = timeAt >= 0
  override def leastLength: Int = fixed

  override def timeOf(bytes: Array[Byte], at: Int): Long =
    Clock.floorToMillis(Bytes.getLong(bytes, at + timeAt))

  /** Predicts the rows of a group. */
  def select(key: UnsafeRow): Unit = {
    if (longKey >= 0) {
      val text = if (key.isNullAt(longKey)) Array.emptyByteArray else key.getBinary(longKey)
      run = newRow(fixed + (text.length + WordBytes - 1) / WordBytes * WordBytes)
      Bytes.putInt(run, wordAt(firstOfAnyLength), text.length)
      System.arraycopy(text, 0, run, fixed, text.length)
    }
    keyColumns.foreach { case (column, i) =>
      Bytes.putLong(run, wordAt(column), if (key.isNullAt(i)) 0L else key.getLong(i))
    }
    if (value.length != run.length) value = new Array[Byte](run.length)
    System.arraycopy(run, 0, value, 0, run.length)
    reach(clock)
  }

  /** Predicts the rows in the value of a group with this clock, in milliseconds. */
  def reach(clock: Long): Unit = {
    this.clock = clock
    if (timeAt >= 0) Bytes.putLong(value, timeAt, clock * Clock.MicrosPerMilli)
  }

  private def newRow(length: Int): Array[Byte] = {
    val row = new Array[Byte](length)
    if (firstOfAnyLength >= 0) {
      Bytes.putInt(row, wordAt(firstOfAnyLength) + Integer.BYTES, fixed)
    }
    row
  }

  /** The ordinals of columns that are in the key, with their places in the key. */
  private def groupColumns: Seq[(Int, Int)] =
    plan.spec.group.zip(plan.keys).zipWithIndex.flatMap { case ((name, key), i) =>
      ordinalOf(name)
        .filter(column => isOfAnyLength(columns(column)) == isOfAnyLength(key))
        .map(_ -> i)
    }

  /** The ordinal of a column that alone has this name. */
  private def ordinalOf(name: String): Option[Int] =
    Option.when(columns.count(_.name == name) == 1)(columns.indexWhere(_.name == name))

  private def wordAt(column: Int): Int = nulls + column * WordBytes
}

private object PredictedRows {
  val WordBytes = 8

  def isOfAnyLength(column: Attribute): Boolean = !UnsafeRow.isFixedLength(column.dataType)
}
