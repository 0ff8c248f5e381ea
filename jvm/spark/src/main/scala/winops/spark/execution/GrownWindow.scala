package winops.spark.execution

import winops.policy.{Policy, Scope}
import winops.text.apama.Apama
import winops.text.ccl.Ccl
import winops.text.esper.Esper

/** A restart with a longer window than that of the checkpoint. */
object GrownWindow {

  /** The warning that a longer window has too few rows at first; None if it is not longer.
    *
    * @param before
    *   the text of the window in the checkpoint
    * @param dialect
    *   the language of both texts
    */
  def warning(before: String, now: Policy, dialect: String): Option[String] = for {
    language <- Seq(Ccl, Esper, Apama).find(_.name == dialect)
    was <- language.parse(before, Scope(isGrouped = true)).toOption
    growth <- now.growth(was)
  } yield s"The window was [${was.window}] in the checkpoint and is [${now.window}] now. Rows that have left " +
    s"it do not return: $growth."
}
