package winops.spark.live

import org.apache.spark.SparkConf

/** The settings of the live view, which an application gets when it starts. */
object LiveSettings {

  /** `false`: the application has neither the tab nor gauges. */
  val Enabled = "spark.winops.live.enabled"

  /** `false`: the values of group keys are not shown. */
  val GroupKeys = "spark.winops.live.groupKeys"

  /** Returns true unless a setting has the value `false`. */
  def isOn(conf: SparkConf, setting: String): Boolean =
    conf.getOption(setting).forall(!_.trim.equalsIgnoreCase("false"))
}
