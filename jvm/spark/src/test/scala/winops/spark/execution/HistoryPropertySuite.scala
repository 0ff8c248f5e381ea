package winops.spark.execution

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import winops.spark.group.BatchTimes
import winops.spark.plan.{Application, KeepPlan}
import winops.spark.state.HistoryTimes
import winops.spark.testing.{Arrived, Changed, DrivenTask, KeepPlans, RandomProperties}
import winops.terms.RowExpression
import winops.testing.Longer
import winops.text.ccl.Ccl
import winops.text.dialect.Dialect
import winops.text.esper.Esper
import winops.text.spl.Spl

import org.scalacheck.Gen
import org.scalacheck.rng.Seed

/** Random windows over a stream that starts with a table have the changes and the state of the
  * same windows over a stream that has read the table first. Runs as often as `-Dhistory=`
  * specifies. Between two batches all state is stored, and restored into new objects.
  */
class HistoryPropertySuite extends AnyFunSuite with RandomProperties {
  import HistoryPropertySuite._

  Seq[(String, Random => KeepPlan)](
    "windows in the order of time" -> (timed(_, Application.EventTime)),
    "windows in the order of arrival" -> (timed(_, Application.Arrival)),
    "windows without a time" -> (planOf(_, None))).foreach { case (name, draw) =>
    (1 to Parts).foreach { part =>
      property(s"$name: part $part", Longer.unless(part == 1): _*) { random =>
        (0 until RunsOfPart).foreach(_ => check(new Case(random, draw(random))))
      }
    }
  }

  private def timed(random: Random, application: Application): KeepPlan =
    planOf(random, Some(application))

  private def check(one: Case): Unit = withClue(s"$one: ") {
    val (all, replayed) = one.replay()
    Seq(true, false).foreach { isSilent =>
      val (emitted, driven) = one.afterHistory(isSilent)
      val expected = if (isSilent) one.spoken(all) else all.flatten
      if (!isSilent || one.knowsSilence) {
        assert(grouped(emitted) == grouped(expected), s"silent: $isSilent")
      }
      assert(driven.rowsHeld == replayed.rowsHeld)
      assert(driven.groupsRemembered == replayed.groupsRemembered)
      assert(driven.metric("rowsInserted") <= replayed.metric("rowsInserted"))
      if (one.isOfSameBatches) {
        val (bytes, expected) = (driven.store.bytes, replayed.store.bytes)
        if (one.hasSeveralWindows) assert(bytes <= expected + expected / 8)
        else assert(bytes == expected)
        assert(driven.partitionSegments.bytesHeld == replayed.partitionSegments.bytesHeld)
      }
    }
  }

  private def grouped(changes: Seq[Changed]): Map[Long, Seq[Changed]] =
    changes.groupBy(_.row.k)
}

private object HistoryPropertySuite {
  import KeepPlans._

  private val Runs = sys.props.get("history").fold(21)(_.toInt)

  /** The tests of each property. */
  val Parts = 3
  val RunsOfPart: Int = (Runs + Parts - 1) / Parts

  private val crossGroup: Seq[(Dialect, String)] = Seq(
    Spl -> "sliding, count(3), partitioned, partitionCount(2)",
    Spl -> "sliding, count(3), partitioned, tupleCount(20)",
    Spl -> "tumbling, count(4), partitioned, partitionCount(2)",
    Esper -> "@Hint('reclaim_group_aged=1') #groupwin(k)#length(3)")

  def planOf(random: Random, application: Option[Application]): KeepPlan =
    if (random.nextInt(6) == 0) keyed(random, application) else unkeyed(random, application)

  /** A window of rows with the primary key `text`, each of which is an upsert. */
  private def keyed(random: Random, application: Option[Application]): KeepPlan = {
    val texts = KeyedTaskSuite.policies
    val text = texts(random.nextInt(texts.size))
    val of = spec(text, application, dialect = if (text.startsWith("#")) Esper else Ccl)
    val policy = of.policy.copy(key = Seq(RowExpression.Column("text")(0)))
    val buffer = KeyedTaskSuite.bufferOf(text, random)
    plan(KeyedTaskSuite.buffered(of.copy(policy = policy), buffer), Seq(n))
  }

  private def unkeyed(random: Random, application: Option[Application]): KeepPlan = {
    def one[A](gen: Gen[A]): A = gen.pureApply(Gen.Parameters.default, Seed(random.nextLong()))
    val (dialect, texts) = random.nextInt(10) match {
      case 0 | 1 => one(WindowsPropertySuite.apart)
      case 2 | 3 => WindowsPropertySuite.alone(one(WindowsPropertySuite.combined))
      case 4 => WindowsPropertySuite.alone(one(Gen.oneOf(crossGroup)))
      case _ => WindowsPropertySuite.alone(one(Gen.oneOf(WindowsPropertySuite.named)))
    }
    val first = spec(texts.head, application, dialect = dialect)
    val all = if (texts.size == 1) first else first.copy(policy = policyOf(dialect, texts))
    val idle = Option.when(random.nextInt(5) == 0 && application.isDefined)(2000L)
    val keys = if (random.nextInt(5) == 0) Nil else Seq(k)
    plan(all.copy(idleMillis = idle), Seq(n), keys)
  }

  /** Rows of a table and of a stream with random batches.
    *
    * Times of rows end in different digits, so that no timer of one row is at the time of another
    * one.
    */
  final class Case(random: Random, plan: KeepPlan) {
    private val isTimed = plan.time.isDefined
    private val delay: Long =
      if (!isTimed || random.nextBoolean()) 0L else 50L * (1 + random.nextInt(20))
    private val groups = 1 + random.nextInt(4)
    private val gap = Seq(1, 30, 150)(random.nextInt(3))

    private val history: Seq[Arrived] = rows(random.nextInt(120), 1000L, 0)
    private val end: Long = history.flatMap(_.micros).map(_ / 1000).maxOption.getOrElse(0L)
    private val watermark = if (history.isEmpty) 0L else end - delay

    /** Rows of the stream between the watermark and the end of the table, one for each group. */
    private val between: Seq[Arrived] =
      if (delay == 0) Nil
      else {
        (0 until groups).map { k =>
          val millis = watermark / 10 * 10 + 10 + 10 * random.nextInt((delay / 10).toInt) + 5
          Arrived(k.toLong, Some(millis * 1000), 5000L + k, "b")
        }
      }

    private val later: Seq[Arrived] = rows(20 + random.nextInt(80), end + 10, 10000)

    private val batches: Seq[Seq[Arrived]] = {
      val all = random.shuffle(between) ++ later
      val size = 1 + random.nextInt(all.size)
      all.grouped(size).toSeq
    }

    /** The watermark after each batch. */
    private val watermarks: Seq[Long] = {
      val future = batches
        .map(_.flatMap(_.micros).map(_ / 1000).min)
        .scanRight(Long.MaxValue)(Math.min(_, _))
      batches.indices.foldLeft(Vector(watermark)) { (all, i) =>
        val most = if (i + 1 < batches.size) future(i + 1) else all.last
        all :+ (if (most > all.last) all.last + random.nextLong(most - all.last + 1)
                else all.last)
      }
    }

    private val last = later.flatMap(_.micros).max / 1000 + 20000

    private def rows(count: Int, from: Long, number: Int): Seq[Arrived] = {
      var millis = from / 10
      (0 until count).map { i =>
        millis += 1 + random.nextInt(gap)
        val at = millis * 10 + (if (number == 0) 7 else 3)
        val text = ('a' + random.nextInt(4)).toChar.toString
        Arrived(random.nextInt(groups).toLong, Some(at * 1000), number.toLong + i, text)
      }
    }

    private val shuffled: Seq[Arrived] =
      if (plan.spec.rowsWait) random.shuffle(history) else history

    /** True if the test knows which changes have no output. */
    def knowsSilence: Boolean = plan.spec.rowsWait || delay == 0

    /** True if windows share their rows, which may be stored in other runs of rows then. */
    def hasSeveralWindows: Boolean = plan.spec.windows > 1

    /** True if the rows are applied in the same batches, so that equal state has equal bytes. */
    def isOfSameBatches: Boolean = plan.spec.rowsWait

    /** The changes of the rows of the table, of each batch, and of the end. */
    def replay(): (Seq[Seq[Changed]], DrivenTask) = {
      val driven = new DrivenTask(plan)
      val first =
        if (isTimed) {
          driven.batch(0, 0)(shuffled: _*) ++ driven.batch(0, watermark)()
        } else driven.batchAt(Start)(shuffled: _*)
      val others = batches.indices.map(batch(driven, _))
      (first +: others :+ ended(driven), driven)
    }

    /** The changes of a stream that starts with the table, and the task after them. */
    def afterHistory(isSilent: Boolean): (Seq[Changed], DrivenTask) = {
      val driven = new DrivenTask(plan)
      val times =
        if (isTimed) BatchTimes.ofWatermarks(watermark, watermark) else BatchTimes.ofBatch(Start)
      val ofTable = if (isTimed && history.nonEmpty) end else Long.MinValue
      val read = times.copy(history = Some(HistoryTimes(ofTable, isSilent, isRead = true)))
      val late = Arrived(0L, Some((watermark - 3) * 1000), -1L, "late")
      val isLate = isTimed && watermark > 3
      val first = driven.batchAfter(shuffled, read)(batches.head ++ Option.when(isLate)(late): _*)
      assert(driven.metric("numRowsDroppedByWatermark") == (if (isLate) 1 else 0))
      val next = if (isTimed) driven.batch(0, watermarks(1))() else Nil
      val others = batches.indices.tail.map(batch(driven, _))
      (first ++ next ++ others.flatten ++ ended(driven), driven)
    }

    private def batch(driven: DrivenTask, i: Int): Seq[Changed] =
      if (isTimed) {
        // A query with another watermark of its own makes rows late later.
        driven.batch(watermarks(i), watermarks(i + 1))(batches(i): _*)
      } else driven.batchAt(Start + i * 700L)(batches(i): _*)

    private def ended(driven: DrivenTask): Seq[Changed] =
      if (isTimed) driven.batch(watermarks.last, last)() else driven.batchAt(Start + 1000000)()

    /** The changes that have output if the rows of the table have none. */
    def spoken(all: Seq[Seq[Changed]]): Seq[Changed] =
      if (!plan.spec.rowsWait) all.tail.flatten
      else {
        val own = between.flatMap(row => row.micros.map(_ / 1000)).toSet
        all.flatten.filter(change => change.at.exists(at => at > end || own(at)))
      }

    override def toString: String =
      s"${plan.spec.policy.text}, ${plan.spec.application.fold("no time")(_.name)}, delay $delay, " +
        s"idle ${plan.spec.idleMillis}, ${history.size} rows, ${batches.map(_.size)}"
  }

  private val Start = 100000L
}
