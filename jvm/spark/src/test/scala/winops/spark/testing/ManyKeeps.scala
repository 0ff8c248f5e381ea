package winops.spark.testing

import scala.util.Random

import org.apache.spark.sql.{Column, DataFrame, Row}
import org.apache.spark.sql.execution.streaming.runtime.MemoryStream
import org.apache.spark.sql.functions.{col, lit}

/** Tests of one query with a `keep` of every kind over the same rows, identified by `n`. */
trait ManyKeeps extends KeepStreamTest {
  import ManyKeeps._

  private val random = new Random(23)

  /** Rows of hundreds of groups, one of them NULL, in random order of time, none of them late. */
  protected val batches: Seq[Seq[Tick]] = (0 until 2).map { batch =>
    (0 until 400).map { i =>
      val group = random.nextInt(220)
      Tick(
        if (group == 0) null else s"group $group",
        100L + batch * 9 + random.nextInt(9),
        batch * 400 + i)
    }
  }

  /** Rows of a separate group that advance time for all groups. */
  protected def heartbeat(sec: Long): Seq[Tick] = Seq(Tick("heartbeat", sec, -sec.toInt))

  /** The changes of all `keep`s, each with its index in `calls`. */
  protected def manyKeeps(stream: MemoryStream[Tick], calls: Seq[Call]): DataFrame =
    calls.zipWithIndex
      .map { case (call, number) =>
        val changes = keep(timed(stream), call.arguments)
        val window: Column =
          if (changes.columns.contains("_window")) col("_window") else lit(null).cast("string")
        changes.select(
          lit(number).as("keep"),
          window.as("window"),
          col("_change_type").as("kind"),
          col("_change_time").as("time"),
          col("_change_step").as("step"),
          col("_change_seq").as("seq"),
          col("k"),
          col("ts"),
          col("n"))
      }
      .reduce(_.union(_))

  /** The rows that were inserted and not deleted, as window and `n`. */
  protected def content(changes: Seq[Row]): Set[(String, Int)] = {
    def emitted(kind: String) = changes.filter(_.getAs[String]("kind") == kind).map(placed)
    assert(emitted("insert").toSet.size == emitted("insert").size)
    emitted("insert").toSet -- emitted("delete")
  }

  protected def placed(row: Row): (String, Int) =
    (row.getAs[String]("window"), row.getAs[Int]("n"))
}

object ManyKeeps {

  /** A call of `keep`.
    *
    * @param arguments
    *   the SQL after the table
    * @param waitsInside
    *   true if the window's contents are rows that are not inserted yet
    */
  final case class Call(arguments: String, waitsInside: Boolean = false)

  private val perGroup = "PARTITION BY (k) ORDER BY (n)"
  private val atOnce = "time => 'ts', apply => 'arrival'"
  private val inTime = "time => 'ts'"

  val few: Seq[Call] = Seq(
    Call(s"$perGroup, 'KEEP 3 ROWS SLACK 2', $atOnce"),
    Call(s"$perGroup, 'KEEP 8 SECONDS', $inTime"),
    Call(s"$perGroup, esper => '#sort(3, n desc)', $inTime"))

  /** Calls whose partitions store different kinds of state. */
  def moved: Seq[Call] = Seq(1, 4, 5, 8, 9).map(all)

  val all: Seq[Call] = few ++ Seq(
    Call(s"$perGroup, esper => '#unique(n % 3)', $inTime"),
    Call(s"$perGroup, esper => '#time(10 sec)#unique(n % 3)', $inTime, idle => '4 seconds'"),
    Call(
      s"$perGroup, windows => named_struct('short', 'KEEP 2 ROWS', 'a, b: c', " +
        s"'KEEP 20 SECONDS', 'spans', 'KEEP EVERY 3 SECONDS'), $atOnce, origin => 'first'"),
    Call(s"$perGroup, 'KEEP EVERY 7 SECONDS', $inTime, origin => 'first'"),
    Call(s"$perGroup, esper => '#time_batch(5 sec)', $inTime", waitsInside = true),
    Call(s"WITH SINGLE PARTITION ORDER BY (n), 'KEEP 700 ROWS', $inTime"),
    Call(s"$perGroup, spl => 'sliding, count(3), partitioned, partitionCount(150)', $inTime"),
    Call(
      "PARTITION BY (CAST(IF(n % 7 = 0, 'NaN', CAST(n % 7 AS STRING)) AS DOUBLE)) " +
        s"ORDER BY (n), 'KEEP 300 ROWS', $atOnce"))
}
