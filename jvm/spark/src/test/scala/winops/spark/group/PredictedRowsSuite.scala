package winops.spark.group

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.types.{DataType, IntegerType, LongType, StringType, TimestampType}
import org.apache.spark.unsafe.types.UTF8String

import winops.spark.plan.{Application, KeepPlan}
import winops.spark.testing.KeepPlans

class PredictedRowsSuite extends AnyFunSuite {
  import PredictedRowsSuite._

  test("a predicted row has the key, the time and the first offset of a row") {
    val rows = new PredictedRows(planOf(Name, Number), Columns)
    rows.select(rowOf(Seq(Name, Number), UTF8String.fromString("long name"), 7))
    rows.reach(5000L)
    val row = rowOf(Columns, 5000000L, UTF8String.fromString("long name"), 7, null)
    row.setNotNullAt(3)
    assert(rows.beforeValue.sameElements(row.getBytes))
    assert(rows.timeOf(row.getBytes, 0) == 5000L)
    row.setLong(0, 0L)
    assert(rows.beforeRun.sameElements(row.getBytes))
  }

  test("a group's prediction is the same whichever group was before") {
    val keys = Seq(Name, Number)
    val groups = Seq(
      rowOf(keys, UTF8String.fromString("a"), 1),
      rowOf(keys, null, null),
      rowOf(keys, UTF8String.fromString("a name of many words"), 1 << 30))
    for (before <- groups; group <- groups) {
      val used = new PredictedRows(planOf(Name, Number), Columns)
      used.select(before)
      used.reach(9L)
      val fresh = new PredictedRows(planOf(Name, Number), Columns)
      Seq(used, fresh).foreach { rows =>
        rows.select(group)
        rows.reach(4L)
      }
      assert(used.beforeRun.sameElements(fresh.beforeRun))
      assert(used.beforeValue.sameElements(fresh.beforeValue))
    }
  }

  test("columns of one name are not predicted from the key or the time") {
    val again = AttributeReference("time", LongType)()
    val rows = new PredictedRows(planOf(Name), Columns :+ again)
    assert(!rows.hasTimes)
    rows.reach(5000L)
    assert(rows.beforeValue.sameElements(rows.beforeRun))
  }
}

private object PredictedRowsSuite {
  val Time: Attribute = AttributeReference("time", TimestampType)()
  val Name: Attribute = AttributeReference("name", StringType)()
  val Number: Attribute = AttributeReference("number", IntegerType)()
  val Price: Attribute = AttributeReference("price", LongType)()
  val Columns: Seq[Attribute] = Seq(Time, Name, Number, Price)

  def planOf(keys: Attribute*): KeepPlan = {
    val spec = KeepPlans.spec("KEEP 3 ROWS", application = Some(Application.EventTime))
    KeepPlans.plan(spec, keys = keys).copy(time = Some(Time), content = Columns)
  }

  def rowOf(columns: Seq[Attribute], values: Any*): UnsafeRow =
    UnsafeProjection
      .create(columns.map(_.dataType).toArray[DataType])
      .apply(InternalRow(values: _*))
      .copy()
}
