package winops.spark.analysis

import winops.spark.internal.SessionSettings

/** The settings of Spark's own as-of joins over streams. */
private[spark] object AsOfSettings {
  val Enabled = "spark.winops.asOf.enabled"

  /** Returns true if as-of joins over streams run with winops. */
  def isEnabled: Boolean = SessionSettings.text(Enabled).forall(!_.equalsIgnoreCase("false"))
}
