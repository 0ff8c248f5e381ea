package winops.terms

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import winops.text.dialect.Limits

class SpanSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 2000)

  // SQL timestamps are microseconds in 64 bits.
  private val earliest = Math.floorDiv(Long.MinValue, 1000L)
  private val latest = Math.floorDiv(Long.MaxValue, 1000L)

  private val instants = Gen.oneOf(
    Gen.oneOf(earliest, latest, -1L, 0L, 1L, -62135596800000L, 253402300799999L),
    Gen.choose(earliest, latest),
    Gen.choose(-5000L, 5000L))

  private val lengths = Gen.oneOf(
    Gen.oneOf(1L, 999L, 1000L, 1001L, 86400000000L, Limits.MaxMicros - 1, Limits.MaxMicros),
    Gen.choose(1L, Limits.MaxMicros),
    Gen.choose(1L, 100000L))

  test("the next end of a span is exact for all instants and lengths that there are") {
    forAll(instants, instants, lengths) { (instant, origin, micros) =>
      val passed = floorDivided(BigInt(instant - origin) * 1000, BigInt(micros))
      val end = BigInt(origin) - floorDivided(-(passed + 1) * micros, BigInt(1000))
      assert(BigInt(Span.ofMicros(micros).nextAfter(instant, origin)) == end)
    }
  }

  test("no length added to an instant passes the end of the clock") {
    forAll(instants, lengths) { (instant, micros) =>
      val span = Span.ofMicros(micros)
      assert(span.after(instant) > instant)
      assert(span.before(instant) < instant)
    }
  }

  test("the number of ends of spans between two instants is that of the steps from end to end") {
    val spans = Gen.oneOf(
      Gen.choose(1L, 5000000L).map(Span.ofMicros),
      Gen.zip(Gen.choose(1L, 30L), Gen.oneOf(0L, 1L, 86400000000L)).map { case (months, micros) =>
        Span(months, micros)
      })
    forAll(spans, Gen.choose(-5000L, 5000L), instants, Gen.choose(0, 20)) {
      (span, origin, instant, steps) =>
        whenever(Math.abs(instant) < 300000000000000L) {
          val ends = Iterator.iterate(instant)(span.nextAfter(_, origin)).take(steps + 1).toSeq
          assert(ends == ends.distinct.sorted)
          assert(span.endsBetween(instant, ends.last, origin) == steps)
          if (steps > 0) assert(span.lastUntil(ends.last, origin) == ends.last)
          val before = span.nextAfter(ends.last, origin) - 1
          assert(span.endsBetween(instant, before, origin) == steps)
          assert(span.lastUntil(before, origin) <= before)
          if (steps > 0) assert(span.lastUntil(before, origin) == ends.last)
        }
    }
  }

  private def floorDivided(dividend: BigInt, divisor: BigInt): BigInt =
    (dividend - dividend.mod(divisor)) / divisor
}
