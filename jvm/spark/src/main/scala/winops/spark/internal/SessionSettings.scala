package winops.spark.internal

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.internal.SQLConf

/** Settings of the session. */
private[spark] object SessionSettings {

  /** The value of a setting; None if it is not set. Within a view, Spark's own settings are those
    * of the view, which has none of winops.
    */
  def text(name: String): Option[String] = {
    val conf = SparkSession.getActiveSession.fold(SQLConf.get)(_.sessionState.conf)
    Option(conf.getConfString(name, null)).map(_.trim)
  }
}
