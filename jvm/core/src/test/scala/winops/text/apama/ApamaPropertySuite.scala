package winops.text.apama

import org.scalacheck.Gen
import winops.policy._
import winops.terms.{Origin, RowExpression}
import winops.testing.AnyText
import winops.text.dialect.Dialect

class ApamaPropertySuite extends AnyText {
  override protected val dialect: Dialect = Apama

  private val columns =
    Seq("symbol", "Symbol", "_x1", "trade id", "a`b", "\"", "", "retain", "größe", "item")

  private val rows = Gen.oneOf(Gen.choose(1L, 9L), Gen.choose(1L, 1000000000000L))
  private val micros = Gen.oneOf(
    Gen.choose(1L, 100L),
    Gen.choose(1L, 8640L).map(_ * 1000000),
    Gen.choose(1L, 8640000000000000L))

  private val bounded: Gen[Content] = Gen.oneOf(
    Gen.zip(rows, Gen.option(rows)).map((Content.Retain.apply _).tupled),
    Gen.zip(micros, Gen.option(micros), Gen.option(rows)).map((Content.Within.apply _).tupled))

  private val queries: Gen[Query] = {
    val key = Gen.oneOf(columns).map(RowExpression.Column(_)(0))
    val keys = for {
      chosen <- Gen.someOf(columns)
      seed <- Gen.long
    } yield new scala.util.Random(seed).shuffle(chosen.toSeq).map(RowExpression.Column(_)(0))
    val shown = Gen.oneOf[Shown](Shown.Changes, Shown.Inserts, Shown.Deletes)
    Gen.frequency(
      9 -> Gen.zip(keys, bounded, Gen.option(key), shown).map((Query.apply _).tupled),
      1 -> Gen
        .oneOf[Shown](Shown.Changes, Shown.Inserts)
        .map(Query(Seq.empty, Content.All, None, _)))
  }

  private val origins: Gen[Origin] =
    Gen.oneOf(Gen.const(Origin.FirstRow), Gen.long.map(Origin.At(_)), Gen.const(Origin.epoch))

  override protected val scope: Scope = Scope(
    Map(
      "N" -> Parameter.Whole(3),
      "F" -> Parameter.Fraction(BigDecimal("1.5")),
      "T" -> Parameter.Text("x")),
    columns)

  override protected val texts: Gen[String] = queries.map(_.policy(Origin.epoch).text)

  override protected val words: String =
    """from v in all values ( ) . partition by symbol , item within 1.5 every 2.0 retain 3 with
      |unique select rstream v ; + - * / ( ) 0 1 1e9 1e999 ' " ` : [ { < ! # N F T `a``b` where
      |9999999999999 9223372036854775807""".stripMargin

  override protected val beginnings: Seq[String] = Seq(
    "",
    "within ",
    "within 1.0 every ",
    "retain ",
    "partition by ",
    "partition by v.symbol retain 3 with unique ",
    "from v in values retain 3 select ",
    "from v in ")

  override protected val pieces: Seq[String] =
    Seq("1.0+", "N*", "v.", "v.symbol,", "retain ", "within 1.0 ", "select ", "with unique ")

  /** The same query in another layout. */
  private def restyled(text: String, style: Int): String = style match {
    case 0 => text.replace(" ", "\n \t")
    case 1 => s" $text ; "
    case 2 =>
      val prefixed = text
        .replaceAll("(?<=partition by |unique )(?=[a-zA-Z_`])", "item.")
        .replaceAll(", ", ",item . ")
      if (text.startsWith("from")) prefixed else s"from item in all some.Rows() $prefixed"
  }

  test("a policy's text, read again, gives an equal policy") {
    forAll(queries) { query =>
      val policy = query.policy(Origin.epoch)
      assert(read(policy.text) == Right(policy))
    }
  }

  test("policies with equal texts are equal, and so are those with equal groups and windows") {
    forAll(queries, origins, queries, origins) { (query, origin, other, otherOrigin) =>
      val (one, two) = (query.policy(origin), other.policy(otherOrigin))
      if (one.text == two.text) assert(one == two)
      val moved = query.policy(otherOrigin)
      assert((one.text == moved.text) == (one == moved))
      val regrouped = query.copy(partition = other.partition).policy(origin)
      assert(one.window == regrouped.window)
      assert((one == regrouped) == (one.group == regrouped.group))
    }
  }

  test("the origin at the end of a text is for people, the rest is read as before") {
    forAll(queries, origins) { (query, origin) =>
      val policy = query.policy(origin)
      val withoutOrigin =
        policy.text.replaceFirst(" origin (first row|-?[0-9]+ milliseconds?)$", "")
      assert(Apama.parse(withoutOrigin, scope.copy(origin = Some(origin))) == Right(policy))
    }
  }

  test("layout, and the name of the item, do not matter") {
    def isPlain(column: RowExpression.Column) = column.name.matches("[a-zA-Z_0-9]+")
    val plain = queries.map { query =>
      query.copy(
        partition = query.partition.filter(isPlain),
        unique = query.unique.filter(isPlain))
    }
    forAll(plain, Gen.choose(0, 2)) { (query, style) =>
      val policy = query.policy(Origin.epoch)
      assert(read(restyled(policy.text, style)) == Right(policy))
    }
  }
}
