package winops.spark.restart

/** The settings of restarts with another query. */
object RestartSettings {

  /** True refuses a query that is not that of its checkpoint, unless [[Plan]] names the plan. */
  val Confirm = "spark.winops.restart.confirm"

  /** The hash of a plan that may be carried out. */
  val Plan = "spark.winops.restart.plan"
}
