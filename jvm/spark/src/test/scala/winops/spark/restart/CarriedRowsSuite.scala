package winops.spark.restart

import scala.collection.mutable
import scala.util.Random

import org.apache.spark.sql.Row
import org.apache.spark.sql.execution.streaming.runtime.MemoryStream
import org.apache.spark.sql.streaming.StreamingQueryException

import winops.spark.plan.Application
import winops.spark.testing.{ContentSteps, KeepStreamTest, RandomProperties, RandomWindow, RandomWindows, Reading, Readings, Tick}
import winops.testing.Longer
import winops.text.ccl.Ccl

/** Restarts with another window whose rows are carried over, by `on_change => 'carry'`. */
class CarriedRowsSuite extends KeepStreamTest with RandomProperties {
  import CarriedRowsSuite._
  import testImplicits._

  private def call(window: String, carries: Boolean = true): String =
    s"PARTITION BY (k) ORDER BY (n), $window, time => 'ts', apply => 'arrival'" +
      (if (carries) ", on_change => 'carry'" else "")

  private val first =
    Seq(Tick("a", 1, 1), Tick("a", 2, 2), Tick("a", 3, 3), Tick("b", 8, 4), Tick("z", 10, 5))

  /** The changes of group `a` in both starts. */
  private def carried(before: String, now: String, later: Tick*): (Seq[Change], Seq[Change]) = {
    var changes = (Seq.empty[Change], Seq.empty[Change])
    withTempDir { folder =>
      val stream = ticks()
      stream.addData(first)
      val early = runAll(keep(timed(stream), call(before)), folder.getCanonicalPath).rows
      stream.addData(later)
      val late = runAll(keep(timed(stream), call(now)), folder.getCanonicalPath).rows
      changes = (changesOf(early), changesOf(late))
    }
    changes
  }

  private def changesOf(rows: Seq[Row]): Seq[Change] = rows
    .filter(_.getAs[String]("k") == "a")
    .sortBy(_.getAs[Long]("_change_seq"))
    .map(row =>
      (row.getAs[Long]("_change_seq"), row.getAs[String]("_change_type"), row.getAs[Int]("n")))

  test("rows that the new window does not keep are deleted, and numbers continue") {
    val (before, now) = carried("'KEEP 3 ROWS'", "esper => '#sort(2, n desc)'", Tick("a", 20, 9))
    assert(before.map(_._1) == Seq(0, 1, 2))
    assert(now == Seq((3, "delete", 1), (4, "insert", 9), (5, "delete", 2)))
  }

  test("rows enter a window of time with their own times") {
    val (_, now) = carried("'KEEP 3 ROWS'", "'KEEP 9 SECONDS'", Tick("z", 20, 9))
    assert(now == Seq((3, "delete", 1), (4, "delete", 2), (5, "delete", 3)))
  }

  test("a group that holds no rows keeps its numbers, and its silence goes on") {
    val idle = ", idle => '30 seconds'"
    val (before, now) = carried(
      "'KEEP 2 SECONDS'" + idle,
      "esper => '#firstlength(1)'" + idle,
      Tick("z", 20, 8),
      Tick("a", 21, 9),
      Tick("z", 60, 10))
    assert(before.map(_._1) == (0 until 6))
    assert(now == Seq((6, "insert", 9), (7, "delete", 9)))
  }

  test("rows that a window would take later are deleted, and inserted by its trigger") {
    val (_, now) = carried("'KEEP 3 ROWS'", "esper => '#length_batch(4)'", Tick("a", 20, 9))
    assert(now.take(3) == Seq((3, "delete", 1), (4, "delete", 2), (5, "delete", 3)))
    assert(now.drop(3).map(_._3) == Seq(1, 2, 3, 9))
  }

  test("without on_change the new window is refused, and the message says what to write") {
    withTempDir { folder =>
      val stream = ticks()
      stream.addData(first)
      val _ = runAll(keep(timed(stream), call("'KEEP 3 ROWS'")), folder.getCanonicalPath)
      stream.addData(Tick("a", 20, 9))
      val other = keep(timed(stream), call("esper => '#sort(2, n)'", carries = false))
      val error = failureOf(other, folder.getCanonicalPath)
      assert(conditionsOf(error).contains("WINOPS_POLICY_CHANGED"))
      assert(error.getMessage.contains("on_change"))
    }
  }

  test("values of fill= replace NULL in stored rows") {
    withTempDir { folder =>
      val stream = ticks()
      stream.addData(first)
      val window = "PARTITION BY (k) ORDER BY (n), 'KEEP 3 ROWS'"
      val _ = runAll(keep(timed(stream), window), folder.getCanonicalPath)
      stream.addData(Tick("a", 20, 9))
      val wider = timed(stream).withColumn("price", $"n" * 2.5)
      val filled = keep(wider, s"$window, fill => named_struct('price', 7)")
      val deleted =
        runAll(filled, folder.getCanonicalPath).rows.filter(_.getString(0) == "delete")
      assert(deleted.map(_.getAs[Double]("price")) == Seq(7.0))
    }
  }

  (1 to Runs).foreach { run =>
    val tags = Longer.unless(run <= 2)
    property(s"the changes before and after are those of one consumer: run $run", tags: _*) {
      random =>
        check(mixed(random))
    }
  }

  (1 to Runs / 2).foreach { run =>
    val tags = Longer.unless(run == 1)
    property(s"aggregates after a restart are those of the changes: run $run", tags: _*) {
      random =>
        checkAggregates(mixed(random))
    }
  }

  /** The first number that a generator draws is nearly that of generators with seeds near by. */
  private def mixed(random: Random): Random = new Random(random.nextLong())

  /** A consumer that applies all changes never deletes a row that it does not have, and ends with
    * the rows that the state has.
    */
  private def check(random: Random): Unit = {
    val application = Application.all(random.nextInt(2))
    val drawn = if (random.nextInt(3) == 0) severalWindows(random) else oneWindow(random)
    // The state shows rows that wait for a trigger too, and not those that wait to be deleted.
    val plain =
      if (drawn.head.isNamed) "windows => named_struct('b', 'KEEP 2 ROWS')" else "'KEEP 2 ROWS'"
    val windows = drawn :+ CarriedWindow(plain, drawn.head.isNamed)
    val readings = Readings.random(random, Seq.fill(4)(1 + random.nextInt(80)))
    val cuts = Seq.fill(2)(1 + random.nextInt(readings.size - 2)).sorted
    val parts = Seq(
      readings.take(cuts.head),
      readings.slice(cuts.head, cuts.last + 1),
      readings.drop(cuts.last + 1))
    withClue(s"${windows.map(_.text).mkString(" to ")} with ${application.name}: ") {
      withTempDir { folder =>
        val stream = memoryStream[Reading]
        val checkpoint = folder.getCanonicalPath
        val consumer = new Consumer
        windows.zip(parts).foreach { case (window, rows) =>
          stream.addData(rows)
          consumer.apply(run(window.call(application, random), stream, checkpoint))
        }
        val stored = stateOf(checkpoint)
        consumer.contents.foreach { case (window, content) =>
          assert(content == stored.getOrElse(window, Set.empty))
        }
        assert(stored.keySet.forall(consumer.contents.contains))
      }
    }
  }

  private def oneWindow(random: Random): Seq[CarriedWindow] = {
    val windows = new RandomWindows(random)
    val all = windows.ccl ++ windows.apama ++ windows.esper ++ windows.reporting ++
      windows.combined(2) ++ windows.large
    Seq.fill(2)(CarriedWindow(textOf(all(random.nextInt(all.size))), isNamed = false))
  }

  private def textOf(window: RandomWindow): String = {
    val text = s"'${window.policy.replace("'", "\\'")}'"
    if (window.dialect == Ccl) text else s"${window.dialect.name} => $text"
  }

  /** Windows under some of three names, which rows enter at once. */
  private def severalWindows(random: Random): Seq[CarriedWindow] = Seq.fill(2) {
    val names = random.shuffle(Seq("a", "b", "c")).take(1 + random.nextInt(3))
    val named = names.map { name =>
      val windows = new RandomWindows(random).ccl
      s"'$name', '${windows(random.nextInt(windows.size)).policy}'"
    }
    CarriedWindow(s"windows => named_struct(${named.mkString(", ")})", isNamed = true)
  }

  private def run(call: String, stream: MemoryStream[Reading], checkpoint: String): Seq[Row] = {
    val input = Readings.columns(stream.toDF()).withWatermark("ts", Readings.Disorder)
    try runAll(keep(input, call), checkpoint).rows
    catch { case error: StreamingQueryException => fail(error.getMessage) }
  }

  /** The rows in each window of each group that has been seen, by the changes. */
  private final class Consumer {
    private val numbers = mutable.Map.empty[Long, Long]
    val contents = mutable.Map.empty[(Long, String), Set[Long]]

    /** Applies changes, those of a group in the order in which they are emitted. */
    def apply(changes: Seq[Row]): Unit = changes.foreach { change =>
      val (k, n) = (change.getAs[Long]("k"), change.getAs[Long]("n"))
      val window =
        if (change.schema.fieldNames.contains("_window")) change.getAs[String]("_window") else ""
      val number = change.getAs[Long]("_change_seq")
      val isEmpty = contents.forall { case ((group, _), rows) => group != k || rows.isEmpty }
      // A group that returns after its idle time has its first number again.
      assert(number == numbers.getOrElse(k, 0L) || number == 0 && isEmpty)
      numbers(k) = number + 1
      val content = contents.getOrElse((k, window), Set.empty)
      if (change.getAs[String]("_change_type") == "insert") {
        assert(!content(n), s"row $n is inserted twice")
        contents((k, window)) = content + n
      } else {
        assert(content(n), s"row $n is deleted and was not there")
        contents((k, window)) = content - n
      }
    }
  }

  /** The rows of each window of each group that do not wait for the watermark. */
  private def stateOf(checkpoint: String): Map[(Long, String), Set[Long]] = spark
    .sql(s"SELECT k, n, coalesce(_window, '') FROM winops_state('$checkpoint') WHERE NOT _waits")
    .collect()
    .toSeq
    .groupMap(row => row.getLong(0) -> row.getString(2))(_.getLong(1))
    .map { case (window, rows) => window -> rows.toSet }

  /** The aggregates that a restart emits are those of the contents that its changes give. */
  private def checkAggregates(random: Random): Unit = {
    val application = Application.all(random.nextInt(2))
    val windows = new RandomWindows(random)
    val all = windows.ccl ++ windows.apama ++ windows.esper ++ windows.large
    val drawn = Seq.fill(2)(all(random.nextInt(all.size))).map { window =>
      CarriedWindow(textOf(window), isNamed = false).call(application, "1000 days")
    }
    val readings = Readings.random(random, Seq.fill(4)(1 + random.nextInt(80)))
    val (early, late) = readings.splitAt(1 + random.nextInt(readings.size - 1))
    def runs(output: String): Seq[Seq[Row]] = {
      val stream = memoryStream[Reading]
      var emitted = Seq.empty[Seq[Row]]
      withTempDir { folder =>
        emitted = drawn.zip(Seq(early, late)).map { case (call, rows) =>
          stream.addData(rows)
          run(call + output, stream, folder.getCanonicalPath)
        }
      }
      emitted
    }
    withClue(drawn.mkString(" to ")) {
      val changes = runs("")
      val (before, after) = (changes.head, changes.last)
      val aggregates = runs(
        ", output => 'agg', aggregates => TABLE(SELECT count(*) AS c, sum(n) AS s FROM input_of_keep)").last
        .groupMap(_.getAs[Long]("k"))(row => row.getAs[Long]("c") -> row.getAs[Any]("s"))
      val stepsBefore = before.groupBy(_.getAs[Long]("k")).map { case (k, rows) =>
        k -> rows.map(_.getAs[Long]("_change_step")).max
      }
      val expected = ContentSteps
        .replay(before ++ after)
        .toSeq
        .zip(stepNumbers(before ++ after))
        .filter { case (step, number) => number > stepsBefore.getOrElse(step.k, -1L) }
        .map(_._1)
        .groupMap(_.k) { step =>
          val sum: Any = if (step.content.isEmpty) null else step.content.sum
          step.content.size.toLong -> sum
        }
      (aggregates.keySet ++ expected.keySet).foreach { k =>
        val values = changing(aggregates.getOrElse(k, Nil))
        val all = changing(expected.getOrElse(k, Nil))
        // The rows that the new window does not keep are deleted in a step without aggregates.
        assert(values == all || values == all.drop(1), s"of group $k")
      }
    }
  }

  /** The numbers of the steps that [[ContentSteps.replay]] returns. */
  private def stepNumbers(changes: Seq[Row]): Seq[Long] =
    changes.groupBy(_.getAs[Long]("k")).iterator.toSeq.flatMap { case (_, rows) =>
      rows.sortBy(_.getAs[Long]("_change_seq")).map(_.getAs[Long]("_change_step")).distinct
    }

  /** The values without those that are equal to the ones before. */
  private def changing[A](values: Seq[A]): Seq[A] = values.foldLeft(Vector.empty[A]) {
    (kept, value) => if (kept.lastOption.contains(value)) kept else kept :+ value
  }
}

private object CarriedRowsSuite {
  type Change = (Long, String, Int)

  /** A window, or several with names, in SQL. */
  final case class CarriedWindow(text: String, isNamed: Boolean) {

    /** The call with a random idle time, which may be short. */
    def call(application: Application, random: Random): String = call(
      application,
      if (random.nextInt(3) == 0) s"${200 + random.nextInt(3000)} milliseconds" else "1000 days")

    def call(application: Application, idle: String): String =
      s"PARTITION BY (k) ORDER BY (n), $text, time => 'ts', apply => '${application.name}', " +
        s"idle => '$idle', on_change => 'carry'"
  }

  val Runs: Int = sys.props.get("changes").fold(8)(_.toInt)
}
