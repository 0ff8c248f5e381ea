package winops.spark.plan

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.internal.SQLConf

import winops.spark.internal.WinopsErrors

/** The settings of operators in real-time mode. */
object RealTimeSettings {
  val OpenGroups = "spark.winops.realTime.openGroups"

  val OnePartitionPerGroup = "spark.winops.realTime.onePartitionPerGroup"

  val PythonFunctions = "spark.winops.realTime.pythonFunctions"

  private val DefaultOpenGroups = 128

  /** The maximum number of groups that a task holds in memory between their rows.
    *
    * @throws org.apache.spark.sql.AnalysisException
    *   if the setting is not a number above 0
    */
  def openGroups(settings: SQLConf): Int = {
    val value = settings.getConfString(OpenGroups, DefaultOpenGroups.toString).trim
    value.toIntOption.filter(_ > 0).getOrElse {
      throw refused(OpenGroups, value, "a whole number above 0")
    }
  }

  /** Returns true if a query fails when the rows of a group may come from several partitions of
    * the source.
    *
    * @throws org.apache.spark.sql.AnalysisException
    *   if the setting is neither true nor false
    */
  def onePartitionPerGroup(settings: SQLConf): Boolean = isTrue(settings, OnePartitionPerGroup)

  /** Returns true if a query may have functions of Python, which get their rows late.
    *
    * @throws org.apache.spark.sql.AnalysisException
    *   if the setting is neither true nor false
    */
  def pythonFunctions(settings: SQLConf): Boolean = isTrue(settings, PythonFunctions)

  /** Returns the value of a setting whose default is false. */
  private def isTrue(settings: SQLConf, setting: String): Boolean = {
    val value = settings.getConfString(setting, "false").trim
    value.toBooleanOption.getOrElse(throw refused(setting, value, "true or false"))
  }

  private def refused(setting: String, value: String, expected: String): AnalysisException =
    WinopsErrors.analysis(
      "WINOPS_REAL_TIME.SETTING",
      "operator" -> "keep or window functions",
      "setting" -> setting,
      "value" -> value,
      "expected" -> expected)
}
