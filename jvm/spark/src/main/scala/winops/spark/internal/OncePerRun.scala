package winops.spark.internal

import scala.collection.mutable

/** Remembers the last runs of queries for which something was done that is done once, such as a
  * message of the log.
  */
final class OncePerRun {
  private val runs = mutable.LinkedHashSet.empty[(String, Any)]

  /** Returns true in the first call for a run and a subject.
    *
    * @param about
    *   the subject, such as an operator of the query
    */
  def isFirst(run: String, about: Any = ()): Boolean = synchronized {
    val isNew = runs.add(run -> about)
    if (runs.size > OncePerRun.MaxRuns) runs.remove(runs.head)
    isNew
  }
}

private object OncePerRun {
  private val MaxRuns = 100
}
