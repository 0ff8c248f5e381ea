package winops.spark.group

import winops.spark.internal.WinopsErrors
import winops.spark.plan.KeepSpec

/** The cap on how many rows a group may hold; groups that depend on each other have one cap. */
object MaxRows {
  def check(spec: KeepSpec, held: Long): Unit =
    if (held > spec.maxRows) {
      throw WinopsErrors.runtime("WINOPS_MAX_ROWS", "maxRows" -> spec.maxRows.toString)
    }
}
