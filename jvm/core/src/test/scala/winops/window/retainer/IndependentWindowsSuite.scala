package winops.window.retainer

import scala.util.Random

import org.scalacheck.Gen
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import winops.policy.{ColumnKind, Policy, Retention, Scope, Sharing}
import winops.terms.Stream
import winops.testing.{CclWindow, DrivenGroup, Input, ObservedChange, TableTests}
import winops.text.apama.Apama
import winops.text.dialect.Dialect
import winops.text.esper.Esper
import winops.text.spl.Spl

/** Several windows over the same rows, compared with each window alone. */
class IndependentWindowsSuite extends TableTests with ScalaCheckPropertyChecks {
  import IndependentWindowsSuite._

  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 500)

  private val idle = Gen.option(Gen.choose(1L, 90L))

  test("each window emits and holds what it would alone, wherever the group is stored") {
    forAll(windows, idle, Input.sequences, Gen.long) { (windows, idle, inputs, seed) =>
      val random = new Random(seed)
      val alone = windows.map(new DrivenGroup(_, idle))
      val group = new DrivenGroup(apart(windows), idle)
      inputs.foreach { input =>
        random.nextInt(5) match {
          case 0 => group.restore(group.save())
          case 1 => group.restart(group.save())
          case 2 =>
            if (!group.isAlive) {
              group.dropForgotten()
              alone.foreach(_.dropForgotten())
            }
          case _ =>
        }
        val emitted = group.feed(input)
        alone.zipWithIndex.foreach { case (one, number) =>
          assert(emitted.filter(_.window == number).map(fate) == one.feed(input).map(fate))
        }
        assert(group.size == alone.map(_.size).max)
        assert(group.nextDue == alone.map(_.nextDue).min)
      }
      val contents = group.contents
      alone.zipWithIndex.foreach { case (one, number) =>
        assert(contents.filter(_.window == number).map(_.row) == one.content)
      }
    }
  }

  test("a row is stored once, and as long as a window needs it") {
    forAll(windows, Input.sequences) { (windows, inputs) =>
      val group = new DrivenGroup(apart(windows), None)
      inputs.foreach { input =>
        group.feed(input)
        assert(group.stored == group.size)
      }
    }
  }

  test("steps and changes are numbered for all windows together") {
    forAll(windows, Input.sequences) { (windows, inputs) =>
      val group = new DrivenGroup(apart(windows), None)
      val emitted = inputs.flatMap(group.feed)
      assert(emitted.map(_.step).distinct == emitted.map(_.step).distinct.indices.map(_.toLong))
      assert(emitted.map(_.at) == emitted.map(_.at).sorted)
      if (windows.head.stream != Events) {
        assert(emitted.map(_.sequence) == emitted.indices.map(_.toLong))
      }
    }
  }

  private def expected(dialect: Dialect, text: String): String =
    Sharing.expected(parsed(dialect, text)).getOrElse("")

  testEach("windows that refuse or delay rows, or evict any row, cannot share rows")(
    ("#unique(a)", Esper, "order of their arrival"),
    ("#sort(3, a)", Esper, "order of their arrival"),
    ("#timetolive(ts)", Esper, "missing value"),
    ("#ext_timed(ts, 5 sec)", Esper, "missing value"),
    ("#firstlength(3)", Esper, "every row when it arrives"),
    ("#length_batch(3)", Esper, "every row when it arrives"),
    ("#length(3)#expr(a > 3)", Esper, "order of their arrival"),
    ("#length(3)#time_batch(1)", Esper, "every row when it arrives"),
    ("select avg(a) from S#length(3)", Esper, "rows, not values"),
    ("select * from S(a > 3)#length(3)", Esper, "without a filter"),
    ("retain 3 every 2", Apama, "every row when it arrives"),
    ("retain 3 with unique a", Apama, "order of their arrival"),
    ("tumbling, delta(a, 5)", Spl, "missing value"),
    ("sliding, delta(a, 5)", Spl, "missing value")) { case (text, dialect, part) =>
    assert(expected(dialect, text).contains(part))
  }

  testEach("windows that insert and evict rows in the order of arrival share rows")(
    (taken :+ (Esper -> Seq("#expr(a > 3)"))).flatMap { case (dialect, texts) =>
      texts.map(_ -> dialect)
    }: _*) { case (text, dialect) => assert(expected(dialect, text).isEmpty) }
}

private object IndependentWindowsSuite {

  /** Windows that can share rows. */
  val taken: Seq[(Dialect, Seq[String])] = Seq(
    Esper -> Seq(
      "#keepall",
      "#lastevent",
      "#length(3)",
      "#time_accum(20 msec)#length(4)",
      "#time(25 msec)",
      "#time_accum(20 msec)",
      "#length(3)#time(40 msec)",
      "#length(5)#time(30 msec) retain-union"),
    Apama -> Seq("within 0.02", "retain 3", "within 0.03 retain 5"),
    Spl -> Seq(
      "tumbling, count(4)",
      "tumbling, time(0.03)",
      "sliding, count(3)",
      "sliding, time(0.02)",
      "sliding, count(5), time(0.015)",
      "sliding, time(0.02), count(2)"))

  private val scope =
    Scope(columns = Seq("a", "ts"), kinds = Map("a" -> ColumnKind.WholeNumber))

  def parsed(dialect: Dialect, text: String): Policy = dialect
    .parse(text, scope)
    .fold(error => throw new IllegalArgumentException(error.toString), identity)

  val Events: Stream = parsed(Spl, "sliding, count(3)").stream

  val windows: Gen[Seq[Policy]] = for {
    policy <- Gen.oneOf(CclWindow.any.map(_.policy) +: taken.map { case (dialect, texts) =>
      Gen.oneOf(texts).map(parsed(dialect, _))
    })
    count <- Gen.choose(1, 4)
    all <- Gen.listOfN(count, policy)
  } yield all

  def apart(windows: Seq[Policy]): Policy =
    windows.head.copy(retention = Retention.Independent(windows.zipWithIndex.map {
      case (window, number) => s"w$number" -> window.retention
    }))

  /** A change without its numbers, which differ for a window alone. */
  def fate(emitted: ObservedChange): (Boolean, Int, Long) =
    (emitted.isInsert, emitted.row, emitted.at)
}
