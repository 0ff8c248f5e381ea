package winops.spark.restart

/** The settings of restarts with another query. */
object RestartSettings {

  /** True refuses a query that is not that of its checkpoint, unless [[Plan]] names the plan. */
  val Confirm = "spark.winops.restart.confirm"

  /** The plan that may be carried out: the hashes of all operators, separated by commas. */
  val Plan = "spark.winops.restart.plan"
}
