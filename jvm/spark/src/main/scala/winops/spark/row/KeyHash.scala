package winops.spark.row

import org.apache.spark.sql.catalyst.expressions.{Attribute, UnsafeProjection, UnsafeRow, XxHash64}

/** A 64-bit hash of a row's group key. */
object KeyHash {
  def apply(keys: Seq[Attribute], input: Seq[Attribute]): UnsafeRow => Long = {
    val projection = UnsafeProjection.create(Seq(new XxHash64(keys)), input)
    row => projection(row).getLong(0)
  }
}
