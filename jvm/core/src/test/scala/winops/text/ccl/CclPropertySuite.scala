package winops.text.ccl

import org.scalacheck.Gen
import winops.policy._
import winops.terms.{Origin, RowExpression}
import winops.testing.AnyText
import winops.text.dialect.Dialect

class CclPropertySuite extends AnyText {
  override protected val dialect: Dialect = Ccl

  private val columns =
    Seq("symbol", "Symbol", "_x1", "trade id", "a`b", "\"", "", "ROWS", "größe", "a,b)")

  private val count = Gen.oneOf(Gen.choose(1L, 9L), Gen.choose(1L, 1000000000000L))
  private val micros = Gen.oneOf(Gen.choose(1L, 100L), Gen.choose(1L, 8640000000000000L))
  private val per = for {
    chosen <- Gen.someOf(columns)
    seed <- Gen.long
  } yield new scala.util.Random(seed).shuffle(chosen.toSeq).map(RowExpression.Column(_)(0))

  private val keeps: Gen[KeepClause] = Gen.oneOf(
    Gen.const(KeepClause.All),
    Gen.zip(count, count, per).map((KeepClause.Rows.apply _).tupled),
    Gen.zip(count, Gen.const(1L), per).map((KeepClause.Rows.apply _).tupled),
    Gen.zip(count, per).map((KeepClause.EveryRows.apply _).tupled),
    Gen.zip(micros, per).map((KeepClause.Interval.apply _).tupled),
    Gen.zip(micros, per).map((KeepClause.EveryInterval.apply _).tupled))

  private val origins: Gen[Origin] =
    Gen.oneOf(Gen.const(Origin.FirstRow), Gen.long.map(Origin.At(_)), Gen.const(Origin.epoch))

  override protected val scope: Scope =
    Scope(Map("N" -> Parameter.Whole(3), "W" -> Parameter.Text("0:00:05")), columns)

  override protected val texts: Gen[String] = keeps.map(_.policy(Origin.epoch).text)

  override protected val words: String =
    """KEEP EVERY ALL ROW ROWS SLACK PER ( ) ( ) , ; + - * / 1 0 2.5 1e9 1e999 ' " ` : . N W x
      |symbol SECONDS MIN DAYS INTERVAL '5 SECONDS' 00:10:00 '3 DAYS 02:30' `a``b` 9999999999999
      |9223372036854775807""".stripMargin

  override protected val beginnings: Seq[String] =
    Seq("", "KEEP ", "KEEP EVERY 1 ROW PER (", "KEEP '", "KEEP 1 MINUTE ", "KEEP 3 ROWS SLACK ")

  override protected val pieces: Seq[String] = Seq(
    "1 SECOND ",
    "1 SECOND,",
    "1 SEC ",
    "1:",
    "1:00 ",
    "N*",
    "W ",
    "symbol,",
    "KEEP ",
    "ROWS ",
    "PER(")

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
}
