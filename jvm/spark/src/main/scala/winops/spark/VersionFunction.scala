package winops.spark

import org.apache.spark.sql.catalyst.expressions.{Expression, Literal}

import winops.spark.internal.WinopsErrors

/** The function `winops_version()`. Returns the version of the JAR, which clients compare with
  * their own.
  */
object VersionFunction extends (Seq[Expression] => Expression) {
  val Name = "winops_version"
  val Usage = "_FUNC_() - Returns the version of the winops JAR."

  override def apply(arguments: Seq[Expression]): Expression =
    if (arguments.isEmpty) Literal(SparkVersion.winops)
    else throw WinopsErrors.argument("UNKNOWN", arguments.head.sql, "no arguments")
}
