package winops.spark.execution

import java.util.function.Supplier

import org.apache.spark.sql.catalyst.expressions.aggregate.Average
import org.scalatest.funsuite.AnyFunSuite

import winops.spark.expressions.WindowAggregate
import winops.spark.group.BatchTimes
import winops.spark.internal.KeepMetrics
import winops.spark.plan.{FrameBound, FramedFunction, OperatorPlan}
import winops.spark.state.{NoGroupStore, TransientPartitionState}
import winops.spark.testing.{Arrived, CalledTypes, DrivenTask, KeepPlans, RecordedClasses}

/** Names all types whose methods a row calls in the middle of a group, so that the way of a row
  * does not grow by accident.
  */
class RowPathSuite extends AnyFunSuite {
  import RowPathSuite._

  test("KEEP 2 ROWS PER (k) with its changes") {
    val input = Set("ImmediateArrivals", "OrderWatch")
    val window = Set("KeepOperation", "Machine", "FrontWindow", "CountRule", "ChangeQueue")
    val bases = Set("FrontRetainer", "EvictionRule", "ChangesReader")
    val checks = Set("Punctuation", "EmptyPeriods", "ChangeKind", "ChangeReason")
    val plan = Set("KeepPlan", "KeepSpec")
    assert(
      typesOf(classOf[Keep]) ==
        Common ++ input ++ window ++ bases ++ checks ++ plan + "ChangesOutput")
  }

  test("avg(n) OVER (PARTITION BY k ORDER BY ts, n ROWS 2 PRECEDING)") {
    val input = Set("OrderedArrivals", "NoWaitingRows")
    val frames =
      Set(
        "OverOperation",
        "SilentRows",
        "Frames",
        "FrameRows",
        "SlidingFrame",
        "MovingFrame",
        "Boundary")
    val aggregates = Set(
      "GroupAggregates",
      "AggregatePlan",
      "FunctionBuffers",
      "TwoUnsafeRows",
      "FrontSummary",
      "WindowSummary",
      "RowFold")
    val plan = Set("OverPlan", "OverSpec")
    assert(
      typesOf(classOf[Over]) == Common ++ input ++ frames ++ aggregates ++ plan + "OverOutput")
  }

  private def typesOf(run: Class[_ <: Supplier[Array[String]]]): Set[String] = {
    val thread = Thread.currentThread
    val loader = thread.getContextClassLoader
    val recorded = new RecordedClasses(getClass.getClassLoader)
    thread.setContextClassLoader(recorded)
    try {
      recorded
        .loadClass(run.getName)
        .getConstructor()
        .newInstance()
        .asInstanceOf[Supplier[Array[String]]]
        .get()
        .map(_.split('.').last)
        .toSet - getClass.getSimpleName
    } finally thread.setContextClassLoader(loader)
  }
}

private object RowPathSuite {

  /** The types on the way of every row: those of the task, the input, the stored rows, and the
    * output.
    */
  val Common: Set[String] = {
    val task = Set(
      "OperatorTask",
      "GroupTask",
      "OpenGroup",
      "GroupClock",
      "Clock",
      "BatchTimes",
      "MaxRows",
      "ArrivalState",
      "WaitingLog",
      "Silence")
    val input = Set("HashedGroups", "RunGroups", "SortedRun", "Admission")
    val rows = Set("RowLog", "RowRuns", "RowBuffer", "PackedRow", "Bytes", "RowBytes")
    task ++ input ++ rows + "OutputWriter"
  }

  final class Keep extends Supplier[Array[String]] {
    override def get(): Array[String] = typesOf(KeepPlans.plan(KeepPlans.spec("KEEP 2 ROWS")))
  }

  final class Over extends Supplier[Array[String]] {
    override def get(): Array[String] = typesOf(
      KeepPlans.over(
        Seq(
          FramedFunction(
            WindowAggregate(Average(KeepPlans.n), isDistinct = false, None),
            FrameBound.ByRows(-2),
            FrameBound.ByRows(0)))))
  }

  /** The types that rows pass in the middle of a group. */
  private def typesOf(plan: OperatorPlan): Array[String] = {
    val rows = (1 to 100).map(i => Arrived(1L, Some(i * 1000L), i.toLong))
    val metrics = new KeepMetrics(DrivenTask.counters)
    val task = GroupTask.of(
      plan,
      KeepPlans.input,
      DrivenTask.grouped(plan, rows),
      BatchTimes.ofTable(None),
      new NoGroupStore,
      new TransientPartitionState(metrics),
      metrics)
    def read(): Unit = (1 to 20).foreach(_ => task.next())
    read()
    CalledTypes.during(() => read())
  }
}
