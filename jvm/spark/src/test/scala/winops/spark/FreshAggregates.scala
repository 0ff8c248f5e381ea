package winops.spark

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.internal.SQLConf

/** Aggregates of contents as Spark's own GROUP BY computes them.
  *
  * @param readings
  *   the rows, each at the place that its number says
  */
final class FreshAggregates(spark: SparkSession, readings: Vector[Reading]) {
  import FreshAggregates._
  import spark.implicits._

  /** The values of `aggregates`, by their texts, over each of the contents, which are numbers of
    * rows in the order in which functions see them.
    */
  def of(
      contents: Seq[Vector[Long]],
      aggregates: Seq[String]): Map[Vector[Long], Map[String, Any]] = {
    val numbered = contents.distinct.zipWithIndex
    // A DISTINCT has Spark regroup the rows, so that functions next to it see them in any order.
    val (distinct, inOrder) = aggregates.partition(_.contains("DISTINCT"))
    val queries =
      Seq(distinct, inOrder).filter(_.nonEmpty).map(some => some -> query(numbered, some))
    numbered.map { case (content, id) =>
      content -> queries.flatMap { case (some, values) =>
        some.zip(values.getOrElse(id.toLong, values(Empty)))
      }.toMap
    }.toMap
  }

  private def query(
      contents: Seq[(Vector[Long], Int)],
      aggregates: Seq[String]): Map[Long, Seq[Any]] = {
    val rows = for ((content, id) <- contents; n <- content) yield id.toLong -> readings(n.toInt)
    // Within one partition rows reach a function in the order in which they stand there.
    Readings
      .columns(spark.sparkContext.parallelize(rows, 1).toDF("id", "row").select("id", "row.*"))
      .coalesce(1)
      .createOrReplaceTempView("contents")
    val select = s"SELECT ${aggregates.mkString(", ")}"
    val setting = SQLConf.OBJECT_AGG_SORT_BASED_FALLBACK_THRESHOLD
    val before = spark.conf.get(setting.key)
    // Above so many groups Spark would sort rows and merge what it has of them already.
    spark.conf.set(setting.key, Int.MaxValue.toString)
    try {
      val ofRows = spark.sql(s"$select, id FROM contents GROUP BY id").collect().map { row =>
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
}
