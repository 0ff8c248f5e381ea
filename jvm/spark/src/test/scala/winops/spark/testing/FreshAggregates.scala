package winops.spark.testing

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.internal.SQLConf

/** Aggregates of window contents, computed by Spark: as windows over each content, which add row
  * by row, oldest to newest, or with DISTINCT by a GROUP BY.
  *
  * @param readings
  *   the rows, each at the index of its number
  */
final class FreshAggregates(spark: SparkSession, readings: Vector[Reading]) {
  import FreshAggregates._
  import spark.implicits._

  /** The values of `aggregates`, by their texts, over each of the contents; a content is the
    * numbers of its rows in aggregation order.
    */
  def of(
      contents: Seq[Vector[Long]],
      aggregates: Seq[String]): Map[Vector[Long], Map[String, Any]] = {
    val numbered = contents.distinct.zipWithIndex
    // Spark has no windows with DISTINCT or FILTER. For a DISTINCT, Spark regroups the rows, so
    // other functions of the query would see the rows in any order.
    val kinds = aggregates.groupBy(text => Seq("DISTINCT", "FILTER").find(text.contains(_)))
    val queries = kinds.toSeq.map { case (kind, some) =>
      some -> query(numbered, some, isGrouped = kind.isDefined)
    }
    numbered.map { case (content, id) =>
      content -> queries.flatMap { case (some, values) =>
        some.zip(values.getOrElse(id.toLong, values(Empty)))
      }.toMap
    }.toMap
  }

  private def query(
      contents: Seq[(Vector[Long], Int)],
      aggregates: Seq[String],
      isGrouped: Boolean): Map[Long, Seq[Any]] = {
    val rows =
      for ((content, id) <- contents; (n, place) <- content.zipWithIndex)
        yield (id.toLong, place, readings(n.toInt))
    // Within one partition, a function receives the rows in their order.
    Readings
      .columns(
        spark.sparkContext
          .parallelize(rows, 1)
          .toDF("id", "place", "row")
          .select("id", "place", "row.*"))
      .coalesce(1)
      .createOrReplaceTempView("contents")
    val select = s"SELECT ${aggregates.mkString(", ")}"
    val ofEach =
      if (isGrouped) s"$select, id FROM contents GROUP BY id"
      else {
        // Every row of a content has the same values.
        s"""SELECT * EXCEPT (place) FROM (
           |  SELECT ${aggregates.map(over).mkString(", ")}, id, place FROM contents
           |  WINDOW whole AS (PARTITION BY id ORDER BY place
           |    ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING))
           |WHERE place = 0""".stripMargin
      }
    val setting = SQLConf.OBJECT_AGG_SORT_BASED_FALLBACK_THRESHOLD
    val before = spark.conf.get(setting.key)
    // With more groups, Spark would sort rows and merge partial results.
    spark.conf.set(setting.key, Int.MaxValue.toString)
    try {
      val ofRows = spark.sql(ofEach).collect().map { row =>
        row.getAs[Long]("id") -> row.toSeq.init
      }
      val ofNone = spark.sql(s"$select FROM contents WHERE id < 0").head().toSeq
      ofRows.toMap + (Empty -> ofNone)
    } finally spark.conf.set(setting.key, before)
  }
}

private object FreshAggregates {

  /** The id of the content without rows. */
  val Empty: Long = -1

  /** Adds a window clause to the outermost calls of the expression, which are aggregates. */
  def over(expression: String): String = {
    var depth = 0
    expression.map {
      case '(' =>
        depth += 1
        "("
      case ')' =>
        depth -= 1
        if (depth == 0) ") OVER whole" else ")"
      case other => other.toString
    }.mkString
  }
}
