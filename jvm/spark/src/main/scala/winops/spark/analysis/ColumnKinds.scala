package winops.spark.analysis

import org.apache.spark.sql.types._

import winops.policy.ColumnKind

/** Maps Spark's types to the kinds of columns that dialects distinguish. */
object ColumnKinds {
  def of(dataType: DataType): ColumnKind = dataType match {
    case ByteType | ShortType | IntegerType | LongType => ColumnKind.WholeNumber
    case FloatType | DoubleType => ColumnKind.RealNumber
    case TimestampType | TimestampNTZType => ColumnKind.Timestamp
    case _ => ColumnKind.Other
  }
}
