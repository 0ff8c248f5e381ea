package winops.spark.aggregates

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.catalyst.util.{ArrayData, MapData}
import org.apache.spark.sql.types.{DataType, Decimal}
import org.apache.spark.unsafe.types.{CalendarInterval, UTF8String, VariantVal}

/** The columns of two rows one after the other, read-only. Unlike Spark's JoinedRow, the class
  * has fields of type UnsafeRow, so that reading a column needs no virtual calls.
  */
private[spark] final class TwoUnsafeRows extends ColumnsOfRows {
  private var front: UnsafeRow = _
  private var behind: UnsafeRow = _
  private var split = 0

  def of(front: UnsafeRow, behind: UnsafeRow): TwoUnsafeRows = {
    this.front = front
    this.behind = behind
    split = front.numFields
    this
  }

  override protected def row(i: Int): UnsafeRow = if (i < split) front else behind
  override protected def at(i: Int): Int = if (i < split) i else i - split

  override def numFields: Int = split + behind.numFields
  override def isNullAt(i: Int): Boolean = row(i).isNullAt(at(i))
  override def getBoolean(i: Int): Boolean = row(i).getBoolean(at(i))
  override def getByte(i: Int): Byte = row(i).getByte(at(i))
  override def getShort(i: Int): Short = row(i).getShort(at(i))
  override def getInt(i: Int): Int = row(i).getInt(at(i))
  override def getLong(i: Int): Long = row(i).getLong(at(i))
  override def getFloat(i: Int): Float = row(i).getFloat(at(i))
  override def getDouble(i: Int): Double = row(i).getDouble(at(i))
  override def getUTF8String(i: Int): UTF8String = row(i).getUTF8String(at(i))
  override def getBinary(i: Int): Array[Byte] = row(i).getBinary(at(i))
  override def getInterval(i: Int): CalendarInterval = row(i).getInterval(at(i))
  override def getVariant(i: Int): VariantVal = row(i).getVariant(at(i))
  override def getArray(i: Int): ArrayData = row(i).getArray(at(i))
  override def getMap(i: Int): MapData = row(i).getMap(at(i))

  override def getDecimal(i: Int, precision: Int, scale: Int): Decimal =
    row(i).getDecimal(at(i), precision, scale)

  override def getStruct(i: Int, numFields: Int): InternalRow =
    row(i).getStruct(at(i), numFields)

  override def get(i: Int, dataType: DataType): AnyRef = row(i).get(at(i), dataType)

  override def setNullAt(i: Int): Unit = refused
  override def update(i: Int, value: Any): Unit = refused
  override def copy(): InternalRow = refused

  private def refused: Nothing = throw new UnsupportedOperationException("it is read only")
}
