package winops.spark.execution

import java.util.concurrent.atomic.AtomicInteger

import scala.jdk.CollectionConverters._
import scala.util.{Random, Try}

import org.apache.spark.SparkConf
import org.apache.spark.sql.{DataFrame, Encoder, Row}
import org.apache.spark.sql.functions._
import org.apache.spark.sql.winops.testing.FailingDebugFileSystem

import winops.{readState, withHistory}
import winops.spark.over.{OverStreamTest, Quote, RandomOver}
import winops.spark.plan.Application
import winops.spark.testing.{RandomProperties, RandomWindow, RandomWindows, Reading, Readings}
import winops.testing.Longer
import winops.text.esper.Esper
import winops.text.spl.Spl

/** Random queries over a stream that starts with a table, whose first micro-batch fails, and
  * which then restart between random micro-batches. They have the output and the state of the
  * same query over a stream that has read the table first, without a failure.
  *
  * Of four runs, two have a window of some language, one a cross-group window, and one window
  * functions with running and moving frames. The number of runs is that of `-Dhistory=`; `make
  * test` has the first two.
  */
class HistoryFailureSuite extends OverStreamTest with RandomProperties {
  import HistoryFailureSuite._
  import testImplicits._

  override protected def sparkConf: SparkConf = super.sparkConf
    .set("spark.hadoop.fs.file.impl", classOf[FailingDebugFileSystem].getName)

  (1 to Runs).foreach { run =>
    val tags = Longer.unless(run <= 2)
    property(s"a first micro-batch with a table that fails: run $run", tags: _*) { random =>
      run % 4 match {
        case 0 => check(random, functions(random))
        case 1 => check(random, ofWindows(random, crossGroup(random)))
        case _ => check(random, ofWindows(random, window(random)))
      }
    }
  }

  private def check[A: Encoder](random: Random, one: Case[A]): Unit = {
    val failures = Seq.fill(1 + random.nextInt(2))(Failure.random(random))
    val hint = s"${one.name}, ${one.history.size} rows, ${one.batches.map(_.size)}, $failures: "
    withClue(hint) {
      val (ofHistory, others, state) = replay(one)
      val expected =
        if (one.emitsAll) ofHistory ++ others
        else one.isSpoken.fold(others)((ofHistory ++ others).filter(_))
      val (emitted, stateAfter) = interrupted(random, one, failures)
      assertSame(emitted.map(_.getString(0)), expected.map(_.getString(0)), "output")
      assertSame(stateAfter.map(_.toString), state.map(_.toString), "state")
    }
  }

  private def assertSame(left: Seq[String], right: Seq[String], what: String): Unit = {
    val (missing, surplus) = (right.diff(left), left.diff(right))
    assert(
      missing.isEmpty && surplus.isEmpty,
      s"\n$what: of ${right.size} are missing:\n${missing.take(5).mkString("\n")}\n" +
        s"of ${left.size} are too many:\n${surplus.take(5).mkString("\n")}\n")
  }

  /** The output of the query for the rows of the table, its other output, and its state. */
  private def replay[A: Encoder](one: Case[A]): (Seq[Row], Seq[Row], Seq[Row]) = {
    val stream = memoryStream[A]
    val written = new Written
    var first = 0
    var state = Seq.empty[Row]
    withTempDir { checkpoint =>
      val input = one.columns(stream.toDF()).withWatermark("ts", one.delay)
      val query = start(comparable(one, one.result(input)), checkpoint.getPath, written)
      try {
        if (one.history.nonEmpty) stream.addData(one.history)
        query.processAllAvailable()
        first = written.rows.size
        one.batches.foreach { batch =>
          stream.addData(batch)
          query.processAllAvailable()
        }
      } finally query.stop()
      state = stateOf(one, checkpoint.getPath)
    }
    val (ofHistory, others) = written.rows.splitAt(first)
    (ofHistory, others, state)
  }

  private def interrupted[A: Encoder](
      random: Random,
      one: Case[A],
      failures: Seq[Failure]): (Seq[Row], Seq[Row]) = {
    val stream = memoryStream[A]
    val written = new Written
    var state = Seq.empty[Row]
    withTempDir { folder =>
      val checkpoint = folder.getPath
      def query: DataFrame = {
        val input = one.columns(stream.toDF()).withWatermark("ts", one.delay)
        val table = one.columns(one.history.toDF())
        val whole = withHistory(input, table, if (one.emitsAll) "all" else "none")
        comparable(one, one.result(whole))
      }
      stream.addData(one.batches.head)
      failures.foreach(fail(query, checkpoint, _))
      val restarts = Seq.fill(random.nextInt(3))(random.nextInt(one.batches.size)).toSet
      var running = start(query, checkpoint, written)
      try {
        one.batches.zipWithIndex.foreach { case (batch, i) =>
          if (i > 0) stream.addData(batch)
          running.processAllAvailable()
          if (restarts(i)) {
            running.stop()
            running = start(query, checkpoint, written)
          }
        }
        running.processAllAvailable()
      } finally running.stop()
      state = stateOf(one, checkpoint)
    }
    (written.rows, state)
  }

  /** Runs the first micro-batch until it fails. */
  private def fail(query: DataFrame, checkpoint: String, failure: Failure): Unit = {
    val refuse = udf(() => Failure.passes()).asNondeterministic()
    val failing = failure match {
      case Failure.AtOutputRow(_) => query.where(refuse())
      case _ => query
    }
    failure.arm()
    val sink = (batch: DataFrame, _: Long) => {
      val _ = batch.collect()
      // Also if too few rows came for the failure of a task.
      throw new IllegalStateException("the sink fails after the state is stored")
    }
    val running = start(failing, checkpoint, new Written, sink)
    val outcome =
      try Try(running.processAllAvailable())
      finally running.stop()
    assert(outcome.isFailure)
    failure match {
      case Failure.AtStateFile(operations) =>
        val hasFailed = FailingDebugFileSystem.stop()
        // A query with one partition has no third operation.
        assert(hasFailed || operations > 1, "no file failed")
      case _ =>
    }
    assert(Try(execution(running).commitLog.getLatestBatchId()).toOption.flatten.isEmpty)
  }

  /** Without a time column, the times in the state are those of the micro-batches. */
  private def stateOf(one: Case[_], checkpoint: String): Seq[Row] = {
    val ofBatches = if (one.isTimed) Nil else Seq("_arrived", "_leaves")
    val omitted = Seq("_partition", "_row") ++ ofBatches
    readState(spark, checkpoint).drop(omitted: _*).collect().toSeq
  }

  /** All columns as JSON, the number of the row, the group and the time of the change. */
  private def comparable[A](one: Case[A], result: DataFrame): DataFrame = {
    // Without a time column, the time of changes is that of the micro-batch.
    val columns = result.columns
      .filter(column => one.isTimed || column != "_change_time")
      .sorted
      .map(result(_))
    def orElse(names: Seq[String], value: Any) =
      names.find(result.columns.contains).fold(lit(value))(name => result(name).cast("long"))
    val time =
      if (result.columns.contains("_change_time")) unix_millis(result("_change_time"))
      else lit(-1L)
    result.select(
      to_json(struct(columns.toIndexedSeq: _*), KeepNulls),
      orElse(Seq("seq", "n"), -1L),
      if (result.columns.contains("k")) result("k").cast("string") else lit(""),
      time)
  }

  private def functions(random: Random): Case[Quote] = {
    val over = new RandomOver(new Random(random.nextLong()))
    val (history, rows) =
      over.quotes(120).sortBy(row => (row.at, row.seq)).splitAt(20 + random.nextInt(60))
    val drawn = over.functions(1 + random.nextInt(6), follows = random.nextBoolean())
    val texts = drawn.zipWithIndex.map { case (function, i) => s"$function AS c$i" }
    val ofHistory = history.map(_.seq.toLong).toSet
    val last = Quote("a", rows.map(_.at).max + 60000000L, 1000, None, None, None)
    Case(
      drawn.mkString(", "),
      history,
      over.runs(rows).flatten :+ Seq(last),
      withTimeOf(_),
      s"${random.nextInt(3)} seconds",
      input => {
        input.createOrReplaceTempView(View)
        spark.sql(s"SELECT *, ${texts.mkString(", ")} FROM $View")
      },
      emitsAll = random.nextInt(3) == 0,
      isSpoken = Some(row => !ofHistory(row.getLong(1))))
  }

  private def ofWindows(random: Random, window: RandomWindow): Case[Reading] = {
    val rows = new HistoryRows(random, window.time)
    val output = pick(random, Seq("changes", "changes", "agg", "withColumns"))
    val aggregates = random.shuffle(Aggregates).take(2).zipWithIndex.map { case (f, i) =>
      s"$f AS value$i"
    }
    val groups = if (output == "withColumns") " GROUP BY k, n, text, i, x, ts" else ""
    val ofAggregates =
      if (output == "changes") ""
      else {
        s", aggregates => TABLE(SELECT ${aggregates.mkString(", ")} FROM input_of_keep$groups)"
      }
    val call = s"${window.callForChanges}, output => '$output'$ofAggregates"
    // Rows of the table that wait have no output when they are applied among those of the stream.
    val waits = window.time.contains(Application.EventTime)
    val isKnown = rows.delay == 0 || waits && !window.policy.contains("(ts")
    // Rows of the table are inserted together with a row of the stream, and then have output.
    val isLate = output == "withColumns" &&
      Seq("batch", "every", "EVERY", "tumbling").exists(window.policy.contains)
    Case(
      s"$call, delay ${rows.delay}",
      rows.history,
      rows.batches,
      df => Readings.columns(df).select("k", "n", "text", "i", "x", "ts"),
      s"${rows.delay} milliseconds",
      keep(_, call),
      emitsAll = !isKnown && output != "withColumns" || isLate || random.nextInt(3) == 0,
      isSpoken =
        if (output == "withColumns") Some(_.getLong(1) >= HistoryRows.FirstOfStream)
        else if (waits) Some(row => rows.isSpoken(row.getString(2).toLong, row.getLong(3)))
        else None,
      isTimed = window.time.isDefined)
  }

  private def window(random: Random): RandomWindow = {
    val windows = new RandomWindows(random)
    val all = windows.ccl ++ windows.apama ++ windows.esper ++ windows.reporting ++
      windows.combined(6)
    val drawn = pick(random, all)
    // No timer of a row of the table is then at the time of a row of the stream.
    drawn.copy(policy = "(\\d+)\\d (MILLISECONDS|msec)".r
      .replaceAllIn(drawn.policy, m => s"${m.group(1)}0 ${m.group(2)}"))
  }

  private def crossGroup(random: Random): RandomWindow = {
    val size = 1 + random.nextInt(5)
    val policies = Seq(
      Spl -> s"sliding, count($size), partitioned, partitionCount(2)",
      Spl -> s"sliding, count($size), partitioned, tupleCount(${10 * size})",
      Spl -> s"tumbling, count($size), partitioned, partitionCount(2)",
      Esper -> s"@Hint('reclaim_group_aged=1') #groupwin(k)#length($size)")
    val (dialect, policy) = pick(random, policies)
    RandomWindow(dialect, policy, Some(pick(random, Application.all)))
  }
}

private object HistoryFailureSuite {
  val Runs: Int = sys.props.get("history").fold(8)(_.toInt)

  private val Aggregates =
    Seq("sum(x)", "avg(i)", "max(n)", "count(*)", "collect_list(i)", "last(x)", "min(text)")

  private val KeepNulls: java.util.Map[String, String] = Map("ignoreNullFields" -> "false").asJava

  private def pick[A](random: Random, some: Seq[A]): A = some(random.nextInt(some.size))

  /** A query over rows of a table and of a stream.
    *
    * @param input
    *   the columns of the rows, with a watermark
    * @param isSpoken
    *   true for an output row that is emitted though rows of the table have no output; None if it
    *   is each one after those of the table
    */
  final case class Case[A](
      name: String,
      history: Seq[A],
      batches: Seq[Seq[A]],
      columns: DataFrame => DataFrame,
      delay: String,
      result: DataFrame => DataFrame,
      emitsAll: Boolean,
      isSpoken: Option[Row => Boolean],
      isTimed: Boolean = true)

  /** A failure in a micro-batch. */
  sealed trait Failure {
    def arm(): Unit
  }

  object Failure {

    /** A task fails when it stores its state; other tasks may have stored theirs. */
    final case class AtStateFile(operations: Int) extends Failure {
      override def arm(): Unit = FailingDebugFileSystem.failAfter(operations)
    }

    /** A task fails at an output row, after it has stored groups. */
    final case class AtOutputRow(row: Int) extends Failure {
      override def arm(): Unit = left.set(row)
    }

    /** The sink fails when all state is stored. */
    case object InSink extends Failure {
      override def arm(): Unit = ()
    }

    private val left = new AtomicInteger

    /** Counts an output row. */
    def passes(): Boolean = {
      if (left.getAndDecrement() == 0) throw new IllegalStateException("a task fails")
      true
    }

    def random(random: Random): Failure = random.nextInt(3) match {
      case 0 => AtStateFile(random.nextInt(4))
      case 1 => AtOutputRow(random.nextInt(40))
      case _ => InSink
    }
  }

  /** Random rows of a table and of a stream. Their times end in different digits, so that no
    * timer of one is at the time of the other.
    */
  final class HistoryRows(random: Random, time: Option[Application]) {
    import HistoryRows._

    /** The delay of the watermark in milliseconds. */
    val delay: Long =
      if (time.isEmpty || random.nextBoolean()) 0L else 50L * (1 + random.nextInt(20))

    private val groups = 1 + random.nextInt(5)
    private val gap = Seq(1, 15, 60)(random.nextInt(3))

    val history: Seq[Reading] = rows(1 + random.nextInt(120), Start, 7, 0L)
    private val end = millisOf(history.last)

    /** Rows of the stream between the watermark and the end of the table. */
    private val between: Seq[Reading] =
      if (delay == 0) Nil
      else {
        Seq
          .tabulate(groups) { k =>
            val millis = end / 10 * 10 - 10 * random.nextInt((delay / 10).toInt) + 3
            reading(k.toLong, millis, FirstOfStream + k)
          }
          .filter(row => millisOf(row) > end - delay && millisOf(row) < end)
      }

    // Without rows to apply, Spark has the watermark of the table one micro-batch later.
    private val isWatermarkKnown = time.contains(Application.EventTime) &&
      history.exists(row => millisOf(row) <= end - delay)

    private val late: Seq[Reading] =
      if (isWatermarkKnown && random.nextBoolean())
        Seq(reading(0L, end - delay - 4, FirstOfStream + 90))
      else Nil

    val batches: Seq[Seq[Reading]] = {
      val later = rows(20 + random.nextInt(60), end + 10, 3, FirstOfStream + 100)
      val all = random.shuffle(between ++ late) ++ later
      val heartbeat = reading(-1L, millisOf(later.last) + 20000, FirstOfStream + 1000)
      all.grouped(1 + random.nextInt(all.size)).toSeq :+ Seq(heartbeat)
    }

    private val own = between.map(row => (row.k, millisOf(row))).toSet

    /** True for a change of a group at a time that rows of the table alone cannot cause. */
    def isSpoken(k: Long, millis: Long): Boolean = millis > end || own((k, millis))

    private def rows(count: Int, from: Long, digit: Long, number: Long): Seq[Reading] = {
      var tens = from / 10
      (0 until count).map { i =>
        tens += 1 + random.nextInt(gap)
        reading(random.nextInt(groups).toLong, tens * 10 + digit, number + i)
      }
    }

    private def reading(k: Long, millis: Long, n: Long): Reading = Reading(
      k,
      millis * 1000,
      n,
      orNone(('a' + random.nextInt(4)).toChar.toString),
      orNone(random.nextInt(7) - 3),
      orNone(random.nextGaussian() * Math.pow(10, random.nextInt(9).toDouble)),
      None,
      None,
      None)

    private def orNone[A](value: A): Option[A] = Option.when(random.nextInt(6) > 0)(value)

    private def millisOf(row: Reading): Long = row.micros / 1000
  }

  object HistoryRows {

    /** No row of the table has this number or a greater one. */
    val FirstOfStream = 10000L

    private val Start = 1000000L
  }
}
