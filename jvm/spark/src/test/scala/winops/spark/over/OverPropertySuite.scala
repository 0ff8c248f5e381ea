package winops.spark.over

import scala.util.Random

import winops.withHistory
import winops.spark.testing.{CompiledCode, RandomProperties}
import winops.testing.Longer
import winops.window.time.Clock.MicrosPerMilli

/** Random window functions over a stream, with late rows and a restart, give the rows of a table.
  * Spark compiles the code of half of the queries and interprets that of the others.
  */
class OverPropertySuite extends OverStreamTest with RandomProperties {
  import testImplicits._

  private val runs = sys.props.get("over").fold(4)(_.toInt)
  private val functionsOfRun = 20

  private val kinds = Seq[(String, RandomOver => Seq[String])](
    "several operators, one after the other" -> { over =>
      Seq.fill(3)(over.functions(functionsOfRun / 3 + 1, follows = false)).flatten
    },
    "rows that follow, in one operator" -> (_.functions(functionsOfRun, follows = true)),
    "two orders of which one begins with the other" ->
      (_.ofTwoOrders(functionsOfRun, follows = false)))

  for (run <- 0 until (runs + 1) / 2)
    property(s"late rows and restarts: run $run", Longer.unless(run == 0): _*) { random =>
      val late = kinds.zipWithIndex.map { case ((kind, functions), i) =>
        withClue(s"$kind: ") {
          interpretedIf((run + i) % 2 == 0)(lateRows(random)(functions))
        }
      }
      assert(late.sum > 0)
    }

  for (run <- 0 until runs)
    property(
      s"functions over a stream that starts with a table: run $run",
      Longer.unless(run % 3 == 0): _*) { random =>
      interpretedIf(run % 4 >= 2) {
        val over = new RandomOver(new Random(random.nextLong()))
        val (history, rows) = over.quotes(120).sortBy(row => (row.at, row.seq)).splitAt(50)
        val columns = over.functions(functionsOfRun, follows = run % 2 == 0).zipWithIndex.map {
          case (column, i) => s"$column AS c$i"
        }
        def query = spark.sql(s"SELECT seq, ${columns.mkString(", ")} FROM $View")
        val emit = if (run % 4 < 3) "none" else "all"
        val starts = over.runs(rows)
        val streamed =
          onStream(starts, withHistory(_, withTimeOf(history.toDF()), emit))(query)
        val known = streamed.map(_.getInt(0)).toSet
        val ofHistory = history.map(_.seq).toSet
        assert(known.intersect(ofHistory) == (if (emit == "all") ofHistory else Set.empty))
        val table = onTable(history ++ rows.filter(row => known(row.seq)))(query)
        assertSameColumns(streamed, table.filter(row => known(row.getInt(0))), columns)
      }
    }

  /** Compares a stream with a table of the rows that are not late; returns the number of those
    * that are.
    */
  private def lateRows(random: Random)(functions: RandomOver => Seq[String]): Int = {
    val over = new RandomOver(new Random(random.nextLong()))
    val rows = over.quotes(120)
    val columns =
      functions(over).zipWithIndex.map { case (column, i) => s"$column AS c$i" }
    def query = spark.sql(s"SELECT seq, ${columns.mkString(", ")} FROM $View")
    val starts = over.runs(rows)
    val streamed = onStream(starts)(query)
    val known = streamed.map(_.getInt(0)).toSet
    assert(rowsInTime(starts.flatten).forall(row => known(row.seq)))
    assertSameColumns(streamed, onTable(rows.filter(row => known(row.seq)))(query), columns)
    rows.size - known.size
  }

  private def interpretedIf[A](isInterpreted: Boolean)(body: => A): A =
    withSQLConf((if (isInterpreted) CompiledCode.Interpreted else CompiledCode.Compiled): _*)(
      body)

  /** The rows that are not older than the greatest time in the micro-batches before. Spark
    * compares rows with the watermark of the former micro-batch, so it may accept some older
    * ones.
    */
  private def rowsInTime(batches: Seq[Seq[Quote]]): Seq[Quote] = {
    val watermarks = batches.scanLeft(0L) { (before, batch) =>
      Math.max(before, batch.map(_.at / MicrosPerMilli).max)
    }
    batches.zip(watermarks).flatMap { case (batch, watermark) =>
      batch.filter(_.at / MicrosPerMilli >= watermark)
    }
  }
}
