package winops.spark.analysis

import org.apache.spark.sql.types._

import winops.policy.ColumnKind

/** What dialects have to know of Spark's types. */
object ColumnKinds {
  def of(dataType: DataType): ColumnKind = dataType match {
    case ByteType | ShortType | IntegerType | LongType => ColumnKind.WholeNumber
    case FloatType | DoubleType => ColumnKind.RealNumber
    case TimestampType | TimestampNTZType => ColumnKind.Timestamp
    case _ => ColumnKind.Other
  }
}
