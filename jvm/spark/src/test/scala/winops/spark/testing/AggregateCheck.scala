package winops.spark.testing

import org.apache.spark.sql.Row
import org.scalatest.Assertions

import winops.aggregation.WindowSummary

/** Compares the aggregates of `keep` with recomputed ones. Values of windows that are folded row
  * by row must be equal to the bit; others may differ by the rounding of another association.
  *
  * The first two columns of an output row identify its subject: the group, and the last change of
  * the step or the number of the inserted row.
  *
  * @param readings
  *   the rows, each at the index of its number
  * @param fresh
  *   the values of the functions by their texts, for each content
  */
final class AggregateCheck(readings: Vector[Reading], fresh: Map[Vector[Long], Map[String, Any]])
    extends Assertions {
  import AggregateCheck.{checkKeys, keyed}

  /** Checks one row for each step: its key, the time of the step, then the values. */
  def ofSteps(steps: Seq[ContentStep], functions: Seq[String], rows: Seq[Row]): Unit = {
    val got = keyed(rows)
    val expected = steps.map(step => (step.k, step.sequence) -> step).toMap
    checkKeys(got.keySet, expected.keySet)
    expected.foreach { case (key, step) =>
      assert(got(key).get(2) == step.at, s"the time of $key")
      checkValues(step.content, functions, got(key))
    }
  }

  /** Checks one row for each inserted row: its key, `x`, the deviation of `x` from the mean, then
    * the values.
    */
  def ofInserts(steps: Seq[ContentStep], functions: Seq[String], rows: Seq[Row]): Unit = {
    val got = keyed(rows)
    val expected = steps.flatMap(step => step.inserted.map(n => (step.k, n) -> step)).toMap
    checkKeys(got.keySet, expected.keySet)
    expected.foreach { case (key @ (_, n), step) =>
      val row = got(key)
      val x = readings(n.toInt).x
      val mean = Option(fresh(step.content)("avg(x)"))
      val off = for (value <- x; of <- mean) yield value - of.asInstanceOf[Double]
      checkValue(step.content, "x", x.getOrElse(null), row, row(2))
      checkValue(step.content, "x - avg(x)", off.getOrElse(null), row, row(3))
      checkValues(step.content, functions, row)
    }
  }

  /** Checks the values of one row for each report of a content; the values are its last columns.
    */
  def ofReports(reports: Seq[(Vector[Long], Row)], functions: Seq[String]): Unit =
    reports.foreach { case (content, row) => checkValues(content, functions, row) }

  /** Compares the last columns of a row with the functions' values. */
  private def checkValues(content: Vector[Long], functions: Seq[String], row: Row): Unit = {
    val expected = fresh(content)
    functions.zip(row.toSeq.takeRight(functions.size)).foreach { case (function, value) =>
      checkValue(content, function, expected(function), row, value)
    }
  }

  private def checkValue(
      content: Vector[Long],
      function: String,
      expected: Any,
      row: Row,
      value: Any): Unit = {
    val rows = content.map(n => readings(n.toInt))
    val isSame =
      if (content.size <= WindowSummary.FoldedRows) SameBits.same(expected, value)
      else Closeness.of(function, rows).same(expected, value)
    if (!isSame) {
      fail(
        s"$function is $value and not $expected in $row, over ${rows.take(300).mkString(", ")}")
    }
  }
}

object AggregateCheck extends Assertions {

  /** The rows by their keys. */
  def keyed(rows: Seq[Row]): Map[(Long, Long), Row] = {
    val byKey = rows.groupBy(row => (row.getLong(0), row.getLong(1)))
    byKey.values.find(_.size > 1).foreach(several => fail(s"one row and not $several"))
    byKey.map { case (key, rows) => key -> rows.head }
  }

  def checkKeys(got: Set[(Long, Long)], expected: Set[(Long, Long)]): Unit = {
    assert(got.diff(expected).take(Shown).isEmpty, "are too much")
    assert(expected.diff(got).take(Shown).isEmpty, "are missing")
  }

  private val Shown = 5
}
