package org.apache.spark.sql.winops.state

import java.io.File

import org.apache.spark.sql.winops.testing.TaskTest

import winops.spark.plan.KeepPlan
import winops.spark.testing.KeepPlans
import winops.terms.RowExpression
import winops.testing.Longer

/** The bytes of rows with a primary key that are only inserted, beside those without a key. */
class KeyedBytesSuite extends StateBytesTest {
  import KeyedBytesSuite._

  test("the index of a key costs few bytes a row", Longer) {
    withStores { (folder, confs) =>
      for ((window, groups) <- Seq(20 -> 30, 100 -> 30, 1000 -> 8, 10000 -> 4)) {
        def costs(name: String, plan: KeepPlan): StateBytesSuite.Costs =
          StateBytesSuite.costsOf(
            new File(folder, s"$name$window"),
            confs,
            plan,
            window,
            groups,
            settlingBatches = 64,
            Measured)
        val plain = costs("plain", StateBytesSuite.planOf(window))
        val keyed = costs("keyed", planOf(window))
        TaskTest.check(keyed.written <= plain.written + 40, s"bytes written: $plain, $keyed")
      }
    }
  }
}

private object KeyedBytesSuite {

  /** The number of batches in which rows of each group enter the index and its runs are merged.
    */
  private val Measured = 512

  private def planOf(window: Int): KeepPlan = {
    val spec = KeepPlans.spec(s"KEEP $window ROWS")
    val keyed = spec.copy(policy = spec.policy.copy(key = Seq(RowExpression.Column("text")(0))))
    KeepPlans.plan(keyed, order = Seq(KeepPlans.n))
  }
}
