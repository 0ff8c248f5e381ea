package winops.spark

/** The cap on how many rows a group may hold. */
object MaxRows {
  def check(spec: KeepSpec, state: GroupState): Unit =
    if (state.held > spec.maxRows) {
      throw WinopsErrors.runtime("WINOPS_MAX_ROWS", "maxRows" -> spec.maxRows.toString)
    }
}
