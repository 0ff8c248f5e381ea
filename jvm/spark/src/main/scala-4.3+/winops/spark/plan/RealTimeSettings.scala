package winops.spark.plan

import org.apache.spark.sql.internal.SQLConf

import winops.spark.internal.WinopsErrors

/** The settings of operators in real-time mode. */
object RealTimeSettings {
  val OpenGroups = "spark.winops.realTime.openGroups"

  private val DefaultOpenGroups = 128

  /** The maximum number of groups that a task holds in memory between their rows.
    *
    * @throws org.apache.spark.sql.AnalysisException
    *   if the setting is not a number above 0
    */
  def openGroups(settings: SQLConf): Int = {
    val value = settings.getConfString(OpenGroups, DefaultOpenGroups.toString).trim
    value.toIntOption.filter(_ > 0).getOrElse {
      throw WinopsErrors.analysis(
        "WINOPS_REAL_TIME.SETTING",
        "operator" -> "keep or window functions",
        "setting" -> OpenGroups,
        "value" -> value,
        "expected" -> "a whole number above 0")
    }
  }
}
