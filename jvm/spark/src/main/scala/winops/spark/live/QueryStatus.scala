package winops.spark.live

/** The status of a run of a query.
  *
  * @param name
  *   the status as users see it
  */
sealed abstract class QueryStatus(val name: String)

object QueryStatus {
  case object Running extends QueryStatus("running")
  case object Finished extends QueryStatus("finished")
  case object Failed extends QueryStatus("failed")
}
