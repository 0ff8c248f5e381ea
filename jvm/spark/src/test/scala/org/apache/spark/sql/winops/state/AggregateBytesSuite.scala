package org.apache.spark.sql.winops.state

import java.io.File

import org.apache.spark.sql.catalyst.expressions.{AttributeReference, Cast}
import org.apache.spark.sql.catalyst.expressions.aggregate.Average
import org.apache.spark.sql.execution.streaming.state.StateStoreConf
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.DoubleType
import org.apache.spark.sql.winops.testing.TaskTest

import winops.spark.analysis.WindowResults
import winops.spark.expressions.WindowAggregate
import winops.spark.plan.{KeepPlan, Output}
import winops.spark.testing.{KeepPlans, KeepStreamTest}

/** The bytes that aggregates of windows in arrival order write and read, if batches bring few
  * rows of a group.
  */
class AggregateBytesSuite extends KeepStreamTest with TaskTest {
  import AggregateBytesSuite._
  import StateBytesSuite.{Changelog, Confs, Costs}

  private val settings = Seq(
    KeepStreamTest.rocksDb,
    Changelog -> "true",
    SQLConf.STATE_STORE_COORDINATOR_REPORT_SNAPSHOT_UPLOAD_LAG.key -> "false")

  private def confs: Confs = {
    val snapshots = spark.sessionState.conf.clone()
    snapshots.setConfString(Changelog, "false")
    Confs(StateStoreConf(spark.sessionState.conf), StateStoreConf(snapshots))
  }

  for (output <- Seq(Output.WithColumns, Output.Agg)) {
    test(s"$output: a row costs the same in windows of any length") {
      withSQLConf(settings: _*) {
        withTempDir { dir =>
          val conf = confs
          val folder = dir.getPath
          val of = output
          inTask { _ =>
            def costs(name: String, planOf: Int => KeepPlan): Seq[Costs] =
              StateBytesSuite.Shapes.map { case (window, groups) =>
                val there = new File(folder, s"$name$window")
                StateBytesSuite.costsOf(there, conf, planOf(window), window, groups)
              }
            val ofRows = costs("rows", StateBytesSuite.planOf)
            val all = costs("results", averageOf(_, of))
            all.zip(ofRows).foreach { case (costs, rows) =>
              TaskTest.check(costs.written <= rows.written + 60, s"written: $costs, $rows")
            }
            val read = all.filter(_.window >= 100).map(_.read)
            TaskTest.check(read.max <= 2 * read.min, s"bytes read: $all")
          }
        }
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
