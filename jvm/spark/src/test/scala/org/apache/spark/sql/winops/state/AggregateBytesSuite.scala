package org.apache.spark.sql.winops.state

import java.io.File

import org.apache.spark.sql.catalyst.expressions.{AttributeReference, Cast}
import org.apache.spark.sql.catalyst.expressions.aggregate.Average
import org.apache.spark.sql.types.DoubleType
import org.apache.spark.sql.winops.testing.TaskTest

import winops.spark.analysis.WindowResults
import winops.spark.expressions.WindowAggregate
import winops.spark.plan.{KeepPlan, Output}
import winops.spark.testing.KeepPlans

/** The bytes that aggregates of windows in arrival order write and read, if batches bring few
  * rows of a group.
  */
class AggregateBytesSuite extends StateBytesTest {
  import AggregateBytesSuite._
  import StateBytesSuite.Costs

  test("a row costs the same in windows of any length") {
    withStores { (folder, confs) =>
      def costs(name: String, planOf: Int => KeepPlan): Seq[Costs] =
        StateBytesSuite.Shapes.map { case (window, groups) =>
          val there = new File(folder, s"$name$window")
          StateBytesSuite.costsOf(there, confs, planOf(window), window, groups)
        }
      val ofRows = costs("rows", StateBytesSuite.planOf)
      Seq(Output.WithColumns, Output.Agg).foreach { output =>
        val all = costs(output.toString, averageOf(_, output))
        all.zip(ofRows).foreach { case (costs, rows) =>
          TaskTest.check(costs.written <= rows.written + 60, s"written: $costs, $rows")
        }
        val read = all.filter(_.window >= 100).map(_.read)
        TaskTest.check(read.max <= 2 * read.min, s"bytes read: $all")
      }
    }
  }
}

private object AggregateBytesSuite {
  def averageOf(window: Int, output: Output): KeepPlan = {
    val average =
      WindowAggregate(Average(Cast(KeepPlans.ts, DoubleType)), isDistinct = false, filter = None)
    val column = AttributeReference("mean", average.dataType)()
    KeepPlans.computing(
      StateBytesSuite.planOf(window),
      output,
      WindowResults(Nil, Seq(average), Seq(column)))
  }
}
