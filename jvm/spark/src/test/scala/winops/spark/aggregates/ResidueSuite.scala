package winops.spark.aggregates

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.expressions.Window
import org.apache.spark.sql.functions._

import winops.spark.testing.{CompiledCode, KeepStreamTest}

/** A sum over a window is independent of deleted rows: no precision lost to a large value, and no
  * NaN or infinity, remains.
  */
class ResidueSuite extends KeepStreamTest with CompiledCode {
  import testImplicits._

  private val size = 5

  // The first window deletes the oldest row, the second by sort order; both hold the newest rows.
  Seq(s"'KEEP $size ROWS'" -> 1000000L, s"esper => '#sort($size, n desc)'" -> 100000L).foreach {
    case (window, count) =>
      test(s"sums of values of any magnitude, $count times: $window") {
        val values = doubles(count)
        val query = "SELECT last(n) AS n, sum(x) AS sum FROM input_of_keep"
        val got = keep(
          values,
          s"WITH SINGLE PARTITION ORDER BY (n), $window, output => 'agg', aggregates => TABLE($query)")
        val newest = Window.orderBy($"n").rowsBetween(1L - size, 0)
        val fresh = values.select(
          $"n",
          sum($"x").over(newest).as("fresh"),
          max(abs($"x")).over(newest).as("magnitude"))
        val infinite = lit(Double.PositiveInfinity)
        val compared = fresh
          .join(got, "n")
          .select(
            $"n",
            $"fresh",
            $"sum",
            ($"magnitude" < infinite).as("isFinite"),
            ($"fresh" === $"sum").as("isSame"))
          .cache()
        assert(compared.where(!$"isSame").head(5).isEmpty)
        assert(compared.count() == count)
        assert(compared.where($"isFinite").count() > count * 9 / 10)
        compared.unpersist()
      }
  }

  private def doubles(count: Long): DataFrame = spark
    .range(0, count, 1, 1)
    .select(
      $"id".as("n"),
      expr("""CASE WHEN id % 1000 = 3 THEN double('NaN')
             |  WHEN id % 1000 = 503 THEN double('Infinity')
             |  WHEN id % 1000 = 506 THEN double('-Infinity')
             |  ELSE sin(id) * pow(10, pmod(hash(id), 37) - 18) END""".stripMargin).as("x"))
}
