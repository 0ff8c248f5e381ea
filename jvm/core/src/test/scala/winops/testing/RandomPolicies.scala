package winops.testing

import org.scalacheck.Gen

import winops.policy._
import winops.terms.{Distance, Origin, RowExpression, SortKey, Span, StepOrder}
import winops.window.piece._

/** Random policies: windows of valid texts, with some of their pieces exchanged for others. No
  * text has most of the results.
  *
  * @param texts
  *   policies of texts, without groups
  * @param key
  *   a column with few values
  * @param value
  *   a column of whole numbers
  * @param timestamp
  *   a column of timestamps
  * @param conditions
  *   conditions of Esper's expression windows
  */
final class RandomPolicies(
    texts: Gen[Policy],
    key: String,
    value: String,
    timestamp: String,
    conditions: Gen[RowExpression]) {
  private val keys = Seq(RowExpression.Column(key)(0))
  private val number = RowExpression.Column(value)(0)
  private val time = RowExpression.Column(timestamp)(0)
  private val sorted = Seq(SortKey(number, descending = false))

  private val rows = Gen.choose(1L, 6L)
  private val span = Gen.choose(1L, 40L).map(Span.ofMillis)
  private val distance = Gen.choose(0L, 5L).map(Distance.Whole(_))
  private val origin: Gen[Origin] = Gen.oneOf(Origin.FirstRow, Origin.At(3L))

  private val admit: Gen[Admit] = Gen.oneOf(
    Gen.const(EveryRow),
    rows.map(FirstRows(_)),
    Gen.zip(span, origin).map((FirstFor.apply _).tupled),
    Gen.const(FirstOfEach(keys)))

  private val order: Gen[Order] =
    Gen.oneOf(Arrival, Sorted(sorted), Replacing(keys), Ranked(keys, sorted), Shadowing(keys))

  private val stepOrder: Gen[StepOrder] =
    Gen.oneOf(StepOrder.InsertsFirst, StepOrder.Net, StepOrder.Events)

  private val simpleBound: Gen[Bound] = Gen.oneOf(
    Gen.oneOf(Unbounded, Everything, PreviousBatch),
    rows.map(MoreThan(_)),
    span.map(AgeReached(_)),
    span.map(AgeExceeded(_)),
    span.map(TimestampBehind(time, _)),
    distance.map(ValueBehind(number, _)),
    span.map(DeadlineReached(time, _)),
    conditions.map(Fails(_)))

  private val bound: Gen[Bound] = Gen.frequency(
    8 -> simpleBound,
    1 -> Gen.choose(1, 3).flatMap(Gen.listOfN(_, simpleBound)).map(AnyOf(_)))

  private val trigger: Gen[Trigger] = Gen.oneOf(
    Gen.oneOf(Never, EachRow, WhenDue, Punctuation),
    rows.map(EachRows(_)),
    rows.map(Excess(_)),
    Gen.zip(span, origin, Gen.oneOf(true, false)).map((Period.apply _).tupled),
    Gen
      .zip(span, rows, Gen.option(origin), Gen.oneOf(true, false))
      .map((PeriodOrRows.apply _).tupled),
    Gen.zip(span, Gen.option(Gen.const(5L))).map { case (span, from) =>
      Crosses(time, span, from)
    },
    distance.map(Exceeds(number, _)),
    Gen.zip(conditions, Gen.oneOf(true, false)).map((Holds.apply _).tupled),
    span.map(Quiet(_)))

  private val window: Gen[Window] = for {
    whole <- texts.map(_.retention.windows.head)
    admit <- often(whole.admit, admit)
    order <- often(whole.order, order)
    bound <- often(whole.bound, bound)
    enter <- often(whole.triggers.enter, trigger)
    leave <- often(whole.triggers.leave, trigger)
    isBatch <- Gen.oneOf(true, false)
    report <- often(whole.triggers.report, trigger)
  } yield Window(admit, order, bound, Triggers(if (isBatch) leave else enter, leave, report))

  private val together: Gen[Retention] = Gen.oneOf(
    window.map(Retention.One(_)),
    several.map(Retention.Intersection(_)),
    several.map(Retention.Union(_)))

  private val retention: Gen[Retention] = Gen.frequency(
    5 -> together,
    1 -> Gen.choose(1, 3).flatMap(Gen.listOfN(_, together)).map { parts =>
      Retention.Independent(parts.zipWithIndex.map { case (part, i) => s"w$i" -> part })
    })

  /** Policies that the machine runs and others that it refuses. */
  val all: Gen[Policy] = for {
    policy <- texts
    retention <- Gen.frequency(1 -> Gen.const(policy.retention), 3 -> retention)
    order <- often(policy.stream.order, stepOrder)
  } yield policy.copy(retention = retention, stream = policy.stream.copy(order = order))

  private def several: Gen[Seq[Window]] = Gen.choose(1, 3).flatMap(Gen.listOfN(_, window))

  private def often[A](usual: A, other: Gen[A]): Gen[A] =
    Gen.frequency(5 -> Gen.const(usual), 1 -> other)
}
