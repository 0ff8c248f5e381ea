package winops.spark.plan

import org.apache.spark.sql.catalyst.expressions.Attribute

/** The plan of a `keep` as its checkpoint stores it. */
trait StoredPlans extends Serializable {

  /** The plan, without results.
    *
    * @param idle
    *   the idle time in milliseconds after which groups were removed
    */
  def keepOf(idle: Long): KeepPlan
}

object StoredPlans {

  /** Parses what a checkpoint stores, on the driver: its expressions need a session. */
  trait Parser extends Serializable {

    /** Parses the identity of a `keep`.
      *
      * @param keys
      *   the columns of the group key
      */
    def parse(identity: String, keys: Seq[Attribute]): StoredPlans
  }
}
