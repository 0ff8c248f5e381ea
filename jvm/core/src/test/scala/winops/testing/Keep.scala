package winops.testing

import org.scalacheck.Gen

import winops.policy._

/** What a CCL policy keeps, as its text would say it. */
sealed trait Keep {

  /** The policy in the pieces that the machine runs. */
  def policy: Policy = {
    val (bound, leave) = pieces
    Policy(
      Group.whole,
      Retention.One(
        Window(Admit.All, Order.Arrival, bound, Beats(Beat.EachRow, leave, Beat.Never))),
      Stream.InsertsThenDeletes,
      text = toString,
      window = toString)
  }

  protected def pieces: (Bound, Beat)
}

object Keep {
  case object All extends Keep {
    override protected def pieces: (Bound, Beat) = (Bound.Unbounded, Beat.Never)
  }

  final case class Rows(count: Int, slack: Int) extends Keep {
    override protected def pieces: (Bound, Beat) =
      (Bound.MoreThan(count.toLong), Beat.Excess(slack.toLong))
  }

  final case class EveryRows(count: Int) extends Keep {
    override protected def pieces: (Bound, Beat) =
      (Bound.MoreThan(1L), Beat.Excess(count.toLong))
  }

  final case class Interval(micros: Long) extends Keep {
    override protected def pieces: (Bound, Beat) =
      (Bound.AgeReached(Span.ofMicros(micros)), Beat.WhenDue)
  }

  /** Intervals count from `origin`, in milliseconds, or from the group's first row. */
  final case class EveryInterval(micros: Long, origin: Option[Long]) extends Keep {
    override protected def pieces: (Bound, Beat) =
      (
        Bound.Everything,
        Beat.Period(Span.ofMicros(micros), origin.fold[Origin](Origin.FirstRow)(Origin.At(_))))
  }

  private val micros: Gen[Long] =
    Gen.oneOf(Gen.choose(1L, 2500L), Gen.choose(1L, 60L).map(_ * 1000), Gen.choose(1L, 90000L))

  val any: Gen[Keep] = Gen.oneOf(
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
