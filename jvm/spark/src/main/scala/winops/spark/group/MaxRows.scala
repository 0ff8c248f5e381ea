package winops.spark.group

import winops.spark.internal.WinopsErrors
import winops.spark.plan.OperatorSpec

/** Enforces the limit on the rows of a group. Groups that depend on each other share one limit.
  */
object MaxRows {

  /** Checks the limit.
    *
    * @param held
    *   number of rows that the group holds, including waiting rows
    * @throws WinopsRuntimeException
    *   `WINOPS_MAX_ROWS` if the group holds more rows than allowed
    */
  def check(spec: OperatorSpec, held: Long): Unit =
    if (held > spec.maxRows) {
      throw WinopsErrors.runtime(
        "WINOPS_MAX_ROWS",
        "operator" -> spec.words.operator,
        "maxRows" -> spec.maxRows.toString,
        "argument" -> spec.words.maxRows,
        "fewer" -> spec.words.fewerRows)
    }
}
