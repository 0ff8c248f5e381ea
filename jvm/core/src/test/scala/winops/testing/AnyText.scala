package winops.testing

import java.nio.charset.StandardCharsets

import org.scalacheck.{Arbitrary, Gen}
import org.scalatest.concurrent.{Signaler, ThreadSignaler}
import org.scalatest.concurrent.TimeLimits.failAfter
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.time.{Seconds, Span}
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks
import winops.policy.{Policy, PolicyError, Scope}
import winops.text.dialect.Dialect

/** Tests that a dialect parses any text or refuses it at an offset in the text, quickly and with
  * a small stack.
  */
trait AnyText extends AnyFunSuite with ScalaCheckPropertyChecks {
  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 500)

  implicit private val signaler: Signaler = ThreadSignaler

  protected def dialect: Dialect
  protected def scope: Scope

  /** Valid texts. */
  protected def texts: Gen[String]

  /** Words and symbols, separated by blanks. */
  protected def words: String

  /** Beginnings of texts; each one ends at another place of the grammar. */
  protected def beginnings: Seq[String]

  /** Pieces that are repeated after the beginnings. */
  protected def pieces: Seq[String]

  protected def read(text: String): Either[PolicyError, Policy] = {
    val result = failAfter(Span(10, Seconds))(dialect.parse(text, scope))
    result.left.foreach { error =>
      assert(0 <= error.offset && error.offset <= text.length)
      assert(error.text == text && error.message.nonEmpty)
      assert(error.message.length < 300)
      assert(dialect.parse(error.example, scope).isRight)
    }
    result
  }

  // PolicyFuzzSuite reads random texts of all kinds.
  test("any string is read or refused at a place in it", Longer) {
    forAll { (text: String) => read(text) }
    forAll(Gen.oneOf(beginnings), Arbitrary.arbitrary[String]) { (beginning, text) =>
      read(s"$beginning$text")
    }
    forAll(Arbitrary.arbitrary[Array[Byte]]) { bytes =>
      read(new String(bytes, StandardCharsets.UTF_8))
      read(new String(bytes, StandardCharsets.UTF_16))
    }
  }

  test("any tokens in any order are read or refused at a place in them", Longer) {
    val some = Gen.listOf(Gen.oneOf(words.split("\\s+").toSeq)).map(_.mkString(" "))
    forAll(Gen.oneOf(beginnings), some, minSuccessful(3000)) { (beginning, text) =>
      read(s"$beginning$text")
    }
  }

  test("a valid text with characters changed is read or refused at a place in it", Longer) {
    val change = Gen.zip(
      Gen.choose(0.0, 1.0),
      Gen.choose(0, 3),
      Gen
        .oneOf(Gen.oneOf("'\"`();,-+*/.:e0 9K\u0000\n".toSeq), Arbitrary.arbitrary[Char])
        .map(_.toString))
    forAll(texts, Gen.choose(1, 4).flatMap(Gen.listOfN(_, change)), minSuccessful(3000)) {
      (valid, changes) =>
        val text = changes.foldLeft(valid) { case (changed, (place, removed, added)) =>
          changed.patch((place * changed.length).toInt, added, removed)
        }
        read(text)
    }
  }

  test("no text is slow to read") {
    val signs = "( - 1+ (- 9 0.1* 1e30* 9/ ` `` \" ' x x, : . , ; é \ud83d\ude00 1/0+ 0.3/0.7/"
    for {
      piece <- pieces ++ signs.split(' ') :+ " "
      start <- beginnings
      length <- Seq(9990, 10000, 100000)
    } read((start + piece * (length / piece.length)).take(length))
  }

  test("no text needs a deep stack") {
    val deep = for {
      piece <- Seq("(", "-", "(-", "1+") ++ pieces
      start <- beginnings
      times <- Seq(30, 32, 5000, 100000)
    } yield () => s"$start${piece * times}"
    // Interpreted code needs several times the stack of compiled code.
    SmallStack(kilobytes = 1024)(deep.foreach(text => dialect.parse(text(), scope)))
  }
}
