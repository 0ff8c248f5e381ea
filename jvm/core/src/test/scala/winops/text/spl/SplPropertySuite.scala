package winops.text.spl

import org.scalacheck.Gen
import winops.policy._
import winops.terms.{Distance, Origin, RowExpression}
import winops.testing.AnyText
import winops.text.dialect.{Decimals, Dialect, Intervals}

class SplPropertySuite extends AnyText {
  override protected val dialect: Dialect = Spl

  private val wholes = Seq("n", "trade id", "a`b", "", "count")
  private val reals = Seq("price", "größe", "time")
  private val timestamps = Seq("when", "\"")
  private val columns = wholes ++ reals ++ timestamps ++ Seq("symbol", "partitionBy")

  override protected val scope: Scope = Scope(
    Map(
      "N" -> Parameter.Whole(3),
      "F" -> Parameter.Fraction(BigDecimal("1.5")),
      "T" -> Parameter.Text("x")),
    columns,
    kinds = Map("symbol" -> (ColumnKind.Other: ColumnKind)) ++
      wholes.map(_ -> ColumnKind.WholeNumber) ++
      reals.map(_ -> ColumnKind.RealNumber) ++
      timestamps.map(_ -> ColumnKind.Timestamp),
    isGrouped = true)

  private def column(name: String): RowExpression.Column = RowExpression.Column(name)(0)

  private val count = Gen.oneOf(Gen.choose(1L, 9L), Gen.choose(1L, 1000000000000L))
  private val micros = Gen.oneOf(
    Gen.choose(1L, 100L),
    Gen.choose(1L, 8640L).map(_ * 1000000),
    Gen.choose(1L, 8640000000000000L))

  private val deltas: Gen[Delta] = {
    val whole = Gen.zip(Gen.oneOf(wholes), Gen.oneOf(count, Gen.choose(0L, Long.MaxValue))).map {
      case (name, size) => Delta(column(name), Distance.Whole(size), size.toString)
    }
    val digits = Gen.zip(Gen.oneOf(count, Gen.const(0L)), Gen.choose(-40, 50))
    val real = Gen.zip(Gen.oneOf(reals), digits).map { case (name, (digits, scale)) =>
      val size = BigDecimal(BigInt(digits), scale)
      Delta(column(name), Distance.Real(size.toDouble), Decimals.fractional(size))
    }
    val time = Gen.zip(Gen.oneOf(timestamps), Gen.oneOf(micros, Gen.const(0L))).map {
      case (name, micros) =>
        Delta(column(name), Distance.Whole(micros), Decimals.plain(Intervals.seconds(micros)))
    }
    Gen.oneOf(whole, real, time)
  }

  private val extents: Gen[Extent[Delta]] = Gen.oneOf(
    count.map(Extent.Count(_)),
    micros.map(Extent.Time(_)),
    deltas.map(Extent.Attribute(_)))

  private val shapes: Gen[Shape[Delta]] = Gen.oneOf(
    extents.map(Shape.Tumbling(_)),
    Gen.const(Shape.Punctuated),
    Gen.zip(extents, extents).map((Shape.Sliding.apply[Delta] _).tupled),
    extents.map(Shape.Sliding(_, Extent.EachTuple)))

  private val keys = for {
    chosen <- Gen.someOf(columns)
    seed <- Gen.long
  } yield new scala.util.Random(seed).shuffle(chosen.toSeq).map(column)

  private val evictions: Gen[PartitionEviction] = Gen.oneOf(
    micros.map(PartitionEviction.Age(_)),
    count.map(PartitionEviction.Partitions(_)),
    count.map(PartitionEviction.Tuples(_)))

  private val clauses: Gen[WindowClause] =
    Gen.zip(shapes, keys, Gen.option(evictions)).map((WindowClause.apply _).tupled)

  private val origins: Gen[Origin] =
    Gen.oneOf(Gen.const(Origin.FirstRow), Gen.long.map(Origin.At(_)), Gen.const(Origin.epoch))

  override protected val texts: Gen[String] = clauses.map(_.policy(Origin.FirstRow).text)

  override protected val words: String =
    """window p : tumbling , sliding , count ( 3 ) time ( 1.5 ) delta ( n , 5 ) price when symbol
      |punct ( ) partitioned partitionAge partitionCount tupleCount ; param partitionBy : p . n
      |+ - * / 0 1 1e9 1e999 ' " ` # N F T `a``b` timeInterval 9999999999999
      |9223372036854775807""".stripMargin

  override protected val beginnings: Seq[String] = Seq(
    "",
    "window p : ",
    "tumbling, ",
    "tumbling, count(",
    "sliding, time(1.5), ",
    "sliding, delta(",
    "sliding, delta(n, ",
    "sliding, count(3), partitioned, ",
    "sliding, count(3), partitioned; param partitionBy : ")

  override protected val pieces: Seq[String] =
    Seq("1.0+", "N*", "p.", "p.n,", "count(3),", "partitioned,", "sliding,", "p:")

  /** The same clause in another layout. */
  private def restyled(text: String, style: Int): String = style match {
    case 0 => text.replace(" ", "\n \t")
    case 1 => text.replaceAll("(?<=[,;:]) | (?=:)", "")
    case 2 => s"window p : ${text.replaceAll(";$", "")};"
    case 3 => s"p:$text".replace("; param", " param").replace("delta(", "delta ( p . ")
  }

  test("a policy's text, read again, gives an equal policy") {
    forAll(clauses) { clause =>
      val policy = clause.policy(Origin.FirstRow)
      assert(read(policy.text) == Right(policy))
    }
  }

  test("policies with equal texts are equal, and so are those with equal groups and windows") {
    forAll(clauses, origins, clauses, origins) { (clause, origin, other, otherOrigin) =>
      val (one, two) = (clause.policy(origin), other.policy(otherOrigin))
      if (one.text == two.text) assert(one == two)
      val moved = clause.policy(otherOrigin)
      assert((one.text == moved.text) == (one == moved))
      val regrouped = clause.copy(keys = other.keys).policy(origin)
      assert(one.window == regrouped.window)
      assert((one == regrouped) == (one.group == regrouped.group))
    }
  }

  test("the origin at the end of a text is for people, the rest is read as before") {
    forAll(clauses, origins) { (clause, origin) =>
      val policy = clause.policy(origin)
      val withoutOrigin = policy.text.replaceFirst(" origin -?[0-9]+ milliseconds?$", "")
      assert(Spl.parse(withoutOrigin, scope.copy(origin = Some(origin))) == Right(policy))
    }
  }

  test("layout, and the name of the port, do not matter") {
    val plain = clauses
      .map(clause => clause.copy(keys = clause.keys.filter(_.name.matches("[a-zA-Z]+"))))
      .map(_.policy(Origin.FirstRow))
      .suchThat(!_.text.contains("`"))
    forAll(plain, Gen.choose(0, 3)) { (policy, style) =>
      assert(read(restyled(policy.text, style)) == Right(policy))
    }
  }
}
