package winops.spark.testing

import org.apache.spark.sql.Row
import org.scalatest.Assertions

import winops.aggregation.WindowSummary

/** Holds what `keep` gives as aggregates against what they are afresh: to the bit where rows are
  * folded one by one, as they are there, else up to the rounding of another association.
  *
  * Of a row of either output the first two columns tell which it is of: the group, and the last
  * change of the step or the number of the inserted row.
  *
  * @param readings
  *   the rows, each at the place that its number says
  * @param fresh
  *   for each content the values of the functions, by their texts
  */
final class AggregateCheck(readings: Vector[Reading], fresh: Map[Vector[Long], Map[String, Any]])
    extends Assertions {
  import AggregateCheck.{checkKeys, keyed}

  /** One row for each step; the time of the step, then the values, stand behind its key. */
  def ofSteps(steps: Seq[ContentStep], functions: Seq[String], rows: Seq[Row]): Unit = {
    val got = keyed(rows)
    val expected = steps.map(step => (step.k, step.sequence) -> step).toMap
    checkKeys(got.keySet, expected.keySet)
    expected.foreach { case (key, step) =>
      assert(got(key).get(2) == step.at, s"the time of $key")
      checkValues(step.content, functions, got(key))
    }
  }

  /** One row for each that came in; `x` and how far it is from the mean stand behind its key,
    * then the values.
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

  /** A row for each report of a content; the time of the report, then the values, stand behind
    * its key.
    */
  def ofReports(reports: Seq[(Vector[Long], Row)], functions: Seq[String]): Unit =
    reports.foreach { case (content, row) => checkValues(content, functions, row) }

  /** The last columns of a row are the functions' values. */
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
      else Closeness.of(rows).same(expected, value)
    if (!isSame) {
      fail(
        s"$function is $value and not $expected in $row, over ${rows.take(300).mkString(", ")}")
    }
  }
}

object AggregateCheck extends Assertions {

  /** Rows by what they are of. */
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
