package winops.spark.internal

import scala.collection.mutable

/** Remembers the last runs of operators for which a message was logged. */
final class OncePerRun {
  private val runs = mutable.LinkedHashSet.empty[(String, Long)]

  /** Returns true in the first call for a run of an operator. */
  def isFirst(run: String, operator: Long): Boolean = synchronized {
    val isNew = runs.add(run -> operator)
    if (runs.size > OncePerRun.MaxRuns) runs.remove(runs.head)
    isNew
  }
}

private object OncePerRun {
  private val MaxRuns = 100
}
