package winops.ccl

import java.nio.charset.StandardCharsets

import org.scalacheck.{Arbitrary, Gen}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.time.{Seconds, Span}
import org.scalatest.concurrent.TimeLimits.failAfter
import org.scalatest.concurrent.{Signaler, ThreadSignaler}
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks
import winops.policy._

class CclPropertySuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 500)

  implicit private val signaler: Signaler = ThreadSignaler

  private val columns =
    Seq("symbol", "Symbol", "_x1", "trade id", "a`b", "\"", "", "ROWS", "größe", "a,b)")

  private val count = Gen.oneOf(Gen.choose(1L, 9L), Gen.choose(1L, 1000000000000L))
  private val micros = Gen.oneOf(Gen.choose(1L, 100L), Gen.choose(1L, 8640000000000000L))
  private val per = for {
    chosen <- Gen.someOf(columns)
    seed <- Gen.long
  } yield new scala.util.Random(seed).shuffle(chosen.toSeq)

  private val keeps: Gen[Keep] = Gen.oneOf(
    Gen.const(Keep.All),
    Gen.zip(count, count, per).map((Keep.Rows.apply _).tupled),
    Gen.zip(count, Gen.const(1L), per).map((Keep.Rows.apply _).tupled),
    Gen.zip(count, per).map((Keep.EveryRows.apply _).tupled),
    Gen.zip(micros, per).map((Keep.Interval.apply _).tupled),
    Gen.zip(micros, per).map((Keep.EveryInterval.apply _).tupled))

  private val origins: Gen[Origin] =
    Gen.oneOf(Gen.const(Origin.FirstRow), Gen.long.map(Origin.At(_)), Gen.const(Origin.epoch))

  private val scope =
    Scope(Map("N" -> Parameter.Whole(3), "W" -> Parameter.Text("0:00:05")), columns)

  private def read(text: String): Either[PolicyError, Policy] = {
    val result = failAfter(Span(10, Seconds))(Ccl.parse(text, scope))
    result.left.foreach { error =>
      assert(0 <= error.offset && error.offset <= text.length)
      assert(error.text == text && error.message.nonEmpty)
      assert(error.message.length < 300)
      assert(Ccl.parse(error.example, scope).isRight)
    }
    result
  }

  /** The same clause in another layout. */
  private def restyled(text: String, style: Int): String = style match {
    case 0 => text.replace(" ", "\n \t")
    case 1 => s" $text ; "
    case 2 =>
      text.replace(" PER (", " per(").replace("KEEP", "Keep").replace(" ROWS SLACK", " row slack")
    case 3 => text.replaceAll("S(?= [0-9])", "S,")
  }

  test("a policy's text, read again, gives an equal policy") {
    forAll(keeps) { keep =>
      val policy = keep.policy(Origin.epoch)
      assert(read(policy.text) == Right(policy))
    }
  }

  test("policies with equal texts are equal") {
    forAll(keeps, origins, keeps, origins) { (keep, origin, other, otherOrigin) =>
      val (one, two) = (keep.policy(origin), other.policy(otherOrigin))
      if (one.text == two.text) assert(one == two)
      val moved = keep.policy(otherOrigin)
      assert((one.text == moved.text) == (one == moved))
    }
  }

  test("the origin at the end of a text is for people, the rest is read as before") {
    forAll(keeps, origins) { (keep, origin) =>
      val policy = keep.policy(origin)
      val withoutOrigin =
        policy.text.replaceFirst(" ORIGIN (FIRST ROW|-?[0-9]+ MILLISECONDS?)$", "")
      assert(Ccl.parse(withoutOrigin, scope.copy(origin = Some(origin))) == Right(policy))
    }
  }

  test("layout does not matter") {
    val plain =
      keeps.map(_.policy(Origin.epoch)).suchThat(!_.group.keys.exists(_.sql.contains(" ")))
    forAll(plain, Gen.choose(0, 3)) { (policy, style) =>
      assert(read(restyled(policy.text, style)) == Right(policy))
    }
  }

  test("any string is read or refused at a place in it") {
    forAll { (text: String) => read(text) }
    forAll { (text: String) => read(s"KEEP $text") }
    forAll(Arbitrary.arbitrary[Array[Byte]]) { bytes =>
      read(new String(bytes, StandardCharsets.UTF_8))
      read(new String(bytes, StandardCharsets.UTF_16))
    }
  }

  test("any tokens in any order are read or refused at a place in them") {
    val tokens =
      """KEEP EVERY ALL ROW ROWS SLACK PER ( ) ( ) , ; + - * / 1 0 2.5 1e9 1e999 ' " ` : . N W x
        |symbol SECONDS MIN DAYS INTERVAL '5 SECONDS' 00:10:00 '3 DAYS 02:30' `a``b` 9999999999999
        |9223372036854775807""".stripMargin
    val words = Gen.oneOf(tokens.split("\\s+").toSeq)
    val texts = Gen.listOf(words).map(_.mkString("KEEP ", " ", ""))
    forAll(texts, minSuccessful(3000)) { text => read(text) }
  }

  test("a valid text with characters changed is read or refused at a place in it") {
    val change = Gen.zip(
      Gen.choose(0.0, 1.0),
      Gen.choose(0, 3),
      Gen
        .oneOf(Gen.oneOf("'\"`();,-+*/.:e0 9K\u0000\n".toSeq), Arbitrary.arbitrary[Char])
        .map(_.toString))
    forAll(keeps, Gen.choose(1, 4).flatMap(Gen.listOfN(_, change)), minSuccessful(3000)) {
      (keep, changes) =>
        val text = changes.foldLeft(keep.policy(Origin.epoch).text) {
          case (changed, (place, removed, added)) =>
            changed.patch((place * changed.length).toInt, added, removed)
        }
        read(text)
    }
  }

  test("no text is slow to read") {
    val pieces = Seq(
      "(",
      "-",
      "1+",
      "(-",
      "1 SECOND ",
      "1 SECOND,",
      "9",
      "0.1*",
      "1e30*",
      "9/",
      "`",
      "``",
      "\"",
      "'",
      "x",
      "x,",
      ":",
      "1:",
      "1:00 ",
      " ",
      "é",
      "\ud83d\ude00",
      "N*",
      "W ",
      "symbol,",
      "KEEP ",
      "ROWS ",
      "PER(",
      "1/0+",
      "0.3/0.7/",
      ";")
    for {
      piece <- pieces
      start <- Seq(
        "",
        "KEEP ",
        "KEEP EVERY 1 ROW PER (",
        "KEEP '",
        "KEEP 1 MINUTE ",
        "KEEP 3 ROWS SLACK ")
      length <- Seq(9990, 10000, 100000)
    } read((start + piece * (length / piece.length)).take(length))
  }

  test("no text needs a deep stack") {
    val results = Seq("(", "-", "(-", "1+", "1 SEC ", "x,").flatMap { piece =>
      Seq(30, 32, 5000, 100000).map(times => s"KEEP ${piece * times}2 ROWS")
    }
    @volatile var finished = 0
    val thread = new Thread(
      null,
      () =>
        results.foreach { text =>
          Ccl.parse(text, scope)
          finished += 1
        },
      "small stack",
      256L * 1024)
    thread.start()
    thread.join()
    assert(finished == results.length)
  }
}
