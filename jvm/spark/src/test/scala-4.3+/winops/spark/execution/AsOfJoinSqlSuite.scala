package winops.spark.execution

import java.nio.file.Files

import org.apache.commons.io.FileUtils
import org.scalatest.BeforeAndAfterAll
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.{AnalysisException, Encoder, SparkSession}
import org.apache.spark.sql.classic
import org.apache.spark.sql.execution.streaming.runtime.MemoryStream

/** ASOF JOIN of Spark's SQL over two streams, compared with the join of two tables. */
class AsOfJoinSqlSuite extends AnyFunSuite with BeforeAndAfterAll {
  import AsOfJoinSqlSuite._

  private lazy val spark: classic.SparkSession = SparkSession
    .builder()
    .master("local[2]")
    .appName(getClass.getSimpleName)
    .config("spark.ui.enabled", "false")
    .config("spark.sql.shuffle.partitions", "2")
    .config("spark.sql.session.timeZone", "UTC")
    .config("spark.sql.join.asofJoin.enabled", "true")
    .getOrCreate()
    .asInstanceOf[classic.SparkSession]

  override def afterAll(): Unit =
    try spark.stop()
    finally super.afterAll()

  private def stream[A: Encoder](id: Int): MemoryStream[A] = new MemoryStream[A](id, spark)

  /** The rows of a query over tables, and over streams of the same rows and one of a later time.
    */
  private def rowsOf(query: String): (Seq[String], Seq[String]) = {
    val session = spark
    import session.implicits._
    def timed(name: String) = s"SELECT k, timestamp_seconds(sec) AS ts, n FROM $name"
    Left.toDF().createOrReplaceTempView("rows_l")
    Right.toDF().createOrReplaceTempView("rows_r")
    spark.sql(timed("rows_l")).createOrReplaceTempView("l")
    spark.sql(timed("rows_r")).createOrReplaceTempView("r")
    val table = spark.sql(query).collect().map(_.toString).sorted.toSeq
    val (left, right) = (stream[Timed](1), stream[Timed](2))
    left.toDF().createOrReplaceTempView("rows_l")
    right.toDF().createOrReplaceTempView("rows_r")
    spark.sql(timed("rows_l")).withWatermark("ts", "0 seconds").createOrReplaceTempView("l")
    spark.sql(timed("rows_r")).withWatermark("ts", "0 seconds").createOrReplaceTempView("r")
    val folder = Files.createTempDirectory("asof")
    val running = spark
      .sql(query)
      .writeStream
      .format("memory")
      .queryName("answers")
      .option("checkpointLocation", folder.toString)
      .start()
    try {
      left.addData(Left :+ Last)
      right.addData(Right :+ Last)
      running.processAllAvailable()
      (table, spark.table("answers").collect().map(_.toString).sorted.toSeq)
    } finally {
      running.stop()
      FileUtils.deleteDirectory(folder.toFile)
    }
  }

  private val select = "SELECT l.k, l.n, l.ts, r.n AS m, r.ts AS at FROM l"

  Seq(
    s"$select ASOF JOIN r MATCH_CONDITION (l.ts >= r.ts) ON l.k = r.k",
    s"$select ASOF JOIN r MATCH_CONDITION (l.ts > r.ts) ON l.k = r.k",
    s"$select ASOF JOIN r MATCH_CONDITION (r.ts <= l.ts) ON l.k = r.k",
    s"$select LEFT ASOF JOIN r MATCH_CONDITION (l.ts >= r.ts) ON l.k = r.k",
    s"$select LEFT ASOF JOIN r MATCH_CONDITION (l.ts > r.ts) ON r.k = l.k AND l.n % 2 = r.n % 2",
    s"$select LEFT ASOF JOIN r MATCH_CONDITION (l.ts >= r.ts) ON l.k = r.k AND r.n < 3 AND l.n > 1",
    "SELECT k, l.n, r.n AS m FROM l LEFT ASOF JOIN r MATCH_CONDITION (l.ts >= r.ts) USING (k)")
    .foreach { query =>
      test(s"over streams as over tables: $query") {
        val (table, streamed) = rowsOf(query)
        assert(streamed == table)
        assert(table.nonEmpty)
      }
    }

  Seq("<=", "<").foreach { comparison =>
    test(s"a match by $comparison may come later, and is refused on streams") {
      val query = s"$select ASOF JOIN r MATCH_CONDITION (l.ts $comparison r.ts) ON l.k = r.k"
      val error = intercept[AnalysisException](rowsOf(query))
      assert(error.getCondition == "WINOPS_ASOF_JOIN")
    }
  }
}

private object AsOfJoinSqlSuite {
  final case class Timed(k: Option[String], sec: Long, n: Int)

  val Left: Seq[Timed] = Seq(
    Timed(Some("a"), 2, 1),
    Timed(Some("a"), 5, 2),
    Timed(Some("b"), 1, 3),
    Timed(Some("z"), 5, 4),
    Timed(None, 5, 5))

  val Right: Seq[Timed] = Seq(
    Timed(Some("a"), 1, 1),
    Timed(Some("a"), 2, 2),
    Timed(Some("a"), 4, 3),
    Timed(Some("b"), 3, 4),
    Timed(None, 1, 5))

  /** A row after which the watermark has passed all others, and which waits itself. */
  val Last: Timed = Timed(Some("end"), 99, 99)
}
