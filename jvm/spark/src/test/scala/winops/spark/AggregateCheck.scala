package winops.spark

import org.apache.spark.sql.Row
import org.scalatest.Assertions

/** Holds what `keep` gives as aggregates against what they are afresh.
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
  import AggregateCheck.keyed

  /** One row for each step; the time of the step, then the values, stand behind its key. */
  def ofSteps(steps: Seq[ContentStep], functions: Seq[String], rows: Seq[Row]): Unit = {
    val got = keyed(rows)
    val expected = steps.map(step => (step.k, step.sequence) -> step).toMap
    assert(got.keySet == expected.keySet, "the steps")
    expected.foreach { case (key, step) =>
      assert(got(key).get(2) == step.at, s"the time of $key")
      checkValues(step, functions, got(key).toSeq.drop(3))
    }
  }

  /** One row for each that came in; `x` and how far it is from the mean stand behind its key,
    * then the values.
    */
  def ofInserts(steps: Seq[ContentStep], functions: Seq[String], rows: Seq[Row]): Unit = {
    val got = keyed(rows)
    val expected = steps.flatMap(step => step.inserted.map(n => (step.k, n) -> step)).toMap
    assert(got.keySet == expected.keySet, "the inserted rows")
    expected.foreach { case (key @ (_, n), step) =>
      val row = got(key).toSeq
      val x = readings(n.toInt).x
      val mean = Option(fresh(step.content)("avg(x)"))
      val off = for (value <- x; of <- mean) yield value - of.asInstanceOf[Double]
      checkValue(step, s"x of row $n", x.getOrElse(null), row(2))
      checkValue(step, s"x - avg(x) of row $n", off.getOrElse(null), row(3))
      checkValues(step, functions, row.drop(4))
    }
  }

  private def checkValues(step: ContentStep, functions: Seq[String], values: Seq[Any]): Unit = {
    val expected = fresh(step.content)
    functions.zip(values).foreach { case (function, value) =>
      checkValue(step, function, expected(function), value)
    }
  }

  private def checkValue(step: ContentStep, function: String, expected: Any, got: Any): Unit = {
    val content = step.content.map(n => readings(n.toInt))
    if (!Closeness.of(content).same(expected, got)) {
      fail(
        s"$function is $got and not $expected, after change ${step.sequence} of group " +
          s"${step.k}, over ${content.take(300).mkString(", ")}")
    }
  }
}

object AggregateCheck extends Assertions {

  /** Rows by what they are of. */
  def keyed(rows: Seq[Row]): Map[(Long, Long), Row] = {
    val byKey = rows.map(row => (row.getLong(0), row.getLong(1)) -> row).toMap
    assert(byKey.size == rows.size, "one row for each")
    byKey
  }
}
