package winops.spark.execution

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.execution.streaming.runtime.MemoryStream

import winops.spark.testing.{KeepStreamTest, Tick}
import winops.withHistory

/** The errors, warnings and plans of streams that start with a table, and of restarts that need
  * one.
  */
class HistoryMessagesSuite extends KeepStreamTest {
  import testImplicits._

  private val history = Seq(Tick("a", 100, 1), Tick("b", 101, 2), Tick("a", 102, 3))
  private val timed = "PARTITION BY (k) ORDER BY (n), 'KEEP 2 ROWS', time => 'ts'"

  private def table: DataFrame = withTime(history.toDF())

  private def stream(rows: Tick*): (MemoryStream[Tick], DataFrame) = {
    val source = ticks()
    source.addData(rows)
    (source, timed(source))
  }

  private def inTempDir[A](body: String => A): A = {
    var result: Option[A] = None
    withTempDir(folder => result = Some(body(folder.getCanonicalPath)))
    result.get
  }

  test("a first micro-batch that has begun with a table does not run without it") {
    Seq[(String, DataFrame => DataFrame)](
      "no table" -> (keep(_, timed)),
      "no keep" -> identity,
      "an operator of Spark" -> (_.dropDuplicates("k", "ts"))).foreach { case (name, without) =>
      withClue(s"$name: ") {
        inTempDir { checkpoint =>
          val (_, input) = stream(Tick("a", 103, 4), Tick("c", 110, 5))
          failAtSink(keep(withHistory(input, table), timed), checkpoint)
          val error = failureOf(without(input), checkpoint)
          assert(conditionsOf(error).contains("WINOPS_HISTORY_MISSING"))
          Seq("with_history(stream, table)", "new checkpoint", checkpoint)
            .foreach(text => assert(error.getMessage.contains(text)))
          val rows = runAll(keep(withHistory(input, table), timed), checkpoint).rows
          assert(rows.map(_.getAs[Long]("_change_seq")).min == 2)
          // The micro-batch is committed: the table may be left out.
          assert(runAll(keep(input, timed), checkpoint).rows.isEmpty)
        }
      }
    }
  }

  test("of several tables, none may be left out before the first commit") {
    val (_, input) = stream(Tick("a", 103, 4), Tick("c", 110, 5))
    def union(one: DataFrame, other: DataFrame): DataFrame =
      keep(one, timed).union(keep(other, timed))
    inTempDir { checkpoint =>
      val warm = withHistory(input, table)
      failAtSink(union(warm, warm), checkpoint)
      assert(
        conditionsOf(failureOf(union(warm, input), checkpoint))
          .contains("WINOPS_HISTORY_MISSING"))
      assert(runAll(union(warm, warm), checkpoint).rows.nonEmpty)
    }
  }
}
