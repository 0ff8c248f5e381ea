package winops.spark.over

import scala.util.Random

import org.apache.spark.sql.Row

import winops.withHistory
import winops.spark.testing.{CompiledCode, RandomProperties}
import winops.window.time.Clock.MicrosPerMilli

/** Random window functions over a stream, with late rows and a restart, give the rows of a table.
  * Spark compiles the code of half of the queries and interprets that of the others.
  */
class OverPropertySuite extends OverStreamTest with RandomProperties {
  import testImplicits._

  private val runs = sys.props.get("over").fold(4)(_.toInt)
  private val functionsOfRun = 20

  property("rows that follow, in one operator") { random =>
    compare(random)(_.functions(functionsOfRun, follows = true))
  }

  property("several operators, one after the other") { random =>
    compare(random) { over =>
      Seq.fill(3)(over.functions(functionsOfRun / 3 + 1, follows = false)).flatten
    }
  }

  property("two orders of which one begins with the other") { random =>
    compare(random)(_.ofTwoOrders(functionsOfRun, follows = false))
  }

  property("functions over a stream that starts with a table") { random =>
    for (run <- 0 until runs) interpretedIf(run % 4 >= 2) {
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

  private def compare(random: Random)(functions: RandomOver => Seq[String]): Unit = {
    var late = 0
    for (run <- 0 until (runs + 1) / 2) interpretedIf(run % 2 == 1) {
      val over = new RandomOver(new Random(random.nextLong()))
      val rows = over.quotes(120)
      val columns =
        functions(over).zipWithIndex.map { case (column, i) => s"$column AS c$i" }
      def query = spark.sql(s"SELECT seq, ${columns.mkString(", ")} FROM $View")
      val starts = over.runs(rows)
      val streamed = onStream(starts)(query)
      val known = streamed.map(_.getInt(0)).toSet
      assert(rowsInTime(starts.flatten).forall(row => known(row.seq)))
      late += rows.size - known.size
      assertSameColumns(streamed, onTable(rows.filter(row => known(row.seq)))(query), columns)
    }
    assert(late > 0)
  }

  private def interpretedIf(isInterpreted: Boolean)(body: => Unit): Unit =
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

  /** Compares column by column, so that an error names the function. */
  private def assertSameColumns(
      streamed: Seq[Row],
      expected: Seq[Row],
      columns: Seq[String]): Unit = columns.indices.foreach { i =>
    def one(rows: Seq[Row]) = rows.map(row => Row(row.get(0), row.get(i + 1)))
    assertSameRows(one(streamed), one(expected), columns(i))
  }
}
