package winops.spark.testing

import org.apache.spark.SparkConf
import org.apache.spark.sql.internal.SQLConf

/** A suite in which one task has all groups, and uses the same objects for one after the other.
  */
trait OneTask extends KeepStreamTest {
  override protected def sparkConf: SparkConf =
    super.sparkConf.set(SQLConf.SHUFFLE_PARTITIONS.key, "1")
}
