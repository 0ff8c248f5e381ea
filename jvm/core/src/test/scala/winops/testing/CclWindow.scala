package winops.testing

import org.scalacheck.Gen

import winops.policy._
import winops.terms.{Origin, Span, Stream}
import winops.window.piece._

/** A CCL policy in the terms of its text. */
sealed trait CclWindow {

  /** The policy as the machine evaluates it. */
  def policy: Policy = {
    val (bound, leave) = pieces
    Policy(
      Group.whole,
      Retention.One(Window(EveryRow, Arrival, bound, Triggers(EachRow, leave, Never))),
      Stream.InsertsThenDeletes,
      text = toString,
      window = toString)
  }

  /** Returns true if each row expires at an instant of its own, so that a timer can leave rows in
    * the window.
    */
  def expiresRowsOneByOne: Boolean

  protected def pieces: (Bound, Trigger)
}

object CclWindow {
  case object All extends CclWindow {
    override def expiresRowsOneByOne: Boolean = false

    override protected def pieces: (Bound, Trigger) = (Unbounded, Never)
  }

  final case class Rows(count: Int, slack: Int) extends CclWindow {
    override def expiresRowsOneByOne: Boolean = false

    override protected def pieces: (Bound, Trigger) =
      (MoreThan(count.toLong), Excess(slack.toLong))
  }

  final case class EveryRows(count: Int) extends CclWindow {
    override def expiresRowsOneByOne: Boolean = false

    override protected def pieces: (Bound, Trigger) =
      (MoreThan(1L), Excess(count.toLong))
  }

  final case class Interval(micros: Long) extends CclWindow {
    override def expiresRowsOneByOne: Boolean = true

    override protected def pieces: (Bound, Trigger) =
      (AgeReached(Span.ofMicros(micros)), WhenDue)
  }

  /** Periods of `micros`, counted from `origin` in milliseconds, or from the group's first row.
    */
  final case class EveryInterval(micros: Long, origin: Option[Long]) extends CclWindow {
    override def expiresRowsOneByOne: Boolean = false

    override protected def pieces: (Bound, Trigger) =
      (
        Everything,
        Period(Span.ofMicros(micros), origin.fold[Origin](Origin.FirstRow)(Origin.At(_))))
  }

  private val micros: Gen[Long] =
    Gen.oneOf(Gen.choose(1L, 2500L), Gen.choose(1L, 60L).map(_ * 1000), Gen.choose(1L, 90000L))

  val any: Gen[CclWindow] = Gen.oneOf(
    Gen.const(All),
    Gen.zip(Gen.choose(1, 12), Gen.frequency(2 -> Gen.const(1), 3 -> Gen.choose(1, 20))).map {
      case (count, slack) => Rows(count, slack)
    },
    Gen.choose(1, 12).map(EveryRows(_)),
    micros.map(Interval(_)),
    Gen.zip(micros, Gen.option(Gen.choose(-200L, 200L))).map { case (length, origin) =>
      EveryInterval(length, origin)
    })
}
