package winops.spark.aggregates

import org.apache.spark.sql.{AnalysisException, DataFrame, Row}
import org.apache.spark.sql.functions.max

import winops.spark.testing.{CompiledCode, KeepStreamTest}
import winops.testing.TableTests

/** Values that are equal with different bytes, in every comparison within a window: as keys of
  * `groupBy`, in DISTINCT, in conditions, and across groups. Spark's own GROUP BY and DISTINCT
  * are the reference.
  */
class EqualValuesSuite extends KeepStreamTest with CompiledCode with TableTests {
  import EqualValuesSuite._

  private val columnNames = (Numbers ++ Texts).map(_._1)

  override def beforeAll(): Unit = {
    super.beforeAll()
    val doubles = Seq("0D", "-0D", "double('NaN')", OtherNaN, "NULL", "1D")
    val texts = Seq("'a'", "'A'", "'B '", "NULL", "'b'", "'á'")
    // Every pair of values occurs within four rows.
    val rows = (0 until Rows).map { n =>
      s"($n, ${doubles((n * 5 + n / 6) % 6)}, ${texts((n * 7 + n / 5) % 6)})"
    }
    val columns = (Numbers ++ Texts).map { case (name, value) => s"$value AS $name" }
    spark
      .sql(
        s"SELECT n, ${columns.mkString(", ")} FROM VALUES ${rows.mkString(", ")} AS t(n, x, s)")
      .createOrReplaceTempView("equal_values")
  }

  /** For each column and each row in the order of `n`, a number shared by equal values; None for
    * NULL.
    */
  private lazy val ranks: Map[String, Seq[Option[Int]]] =
    withSQLConf(CompiledCode.Interpreted: _*) {
      val names = columnNames
      val select =
        names.map(name => s"IF($name IS NULL, NULL, dense_rank() OVER (ORDER BY $name))")
      val rows =
        spark.sql(s"SELECT ${select.mkString(", ")}, n FROM equal_values ORDER BY n").collect()
      names.zipWithIndex.map { case (name, i) =>
        name -> rows.toSeq.map(row => Option.when(!row.isNullAt(i))(row.getInt(i)))
      }.toMap
    }

  private def aggregates(
      policy: String,
      select: Seq[String],
      by: Seq[String] = Nil): DataFrame = {
    val group = if (by.isEmpty) "" else s" GROUP BY ${by.mkString(", ")}"
    spark.sql(
      s"SELECT * FROM keep(TABLE(equal_values) WITH SINGLE PARTITION ORDER BY (n), $policy, " +
        s"output => 'agg', aggregates => TABLE(SELECT ${select.mkString(", ")} " +
        s"FROM equal_values$group))")
  }

  test("DISTINCT of a window counts values as GROUP BY does, of numbers and texts, also nested") {
    val select = columnNames.flatMap { name =>
      Seq(
        s"count(DISTINCT $name) AS counted_$name",
        s"size(collect_list(DISTINCT $name)) AS listed_$name")
    } ++ Seq("x", "asx", "s", "sast").flatMap { name =>
      Seq(
        s"count(DISTINCT $name, n % 2) AS pairs_$name",
        s"count(DISTINCT $name) FILTER (WHERE n % 3 > 0) AS filtered_$name")
    }
    val got = aggregates("'KEEP 4 ROWS'", "max(n) AS n" +: select).collect()
    assert(got.length == Rows)
    val wrong = for {
      row <- got.toSeq
      newest = row.getAs[Int]("n")
      numbers = Math.max(0, newest - 3) to newest
      text <- select.map(_.split(" AS ").last)
      kind = text.takeWhile(_ != '_')
      name = text.drop(kind.length + 1)
      values = numbers.flatMap(n => ranks(name)(n).map(_ -> n))
      right = (kind match {
        case "pairs" => values.map { case (rank, n) => (rank, n % 2) }
        case "filtered" => values.filter(_._2 % 3 > 0).map(_._1)
        case _ => values.map(_._1)
      }).distinct.size
      value = row.getAs[Number](text).longValue
      if value != right
    } yield s"$text at row $newest: $value and not $right"
    assert(wrong.sorted.take(12).isEmpty)
  }

  testEach("a condition on DISTINCT values counts them as GROUP BY does", 2)(
    "sax",
    "sast",
    "x",
    "s",
    "sr",
    "si") { name =>
    val kept = spark.sql(
      "SELECT n FROM keep(TABLE(equal_values) WITH SINGLE PARTITION ORDER BY (n), " +
        s"esper => '#expr(count(distinct $name) <= 1)') " +
        "WHERE _change_type = 'delete' ORDER BY _change_seq")
    var head = 0
    val left = (0 until Rows).flatMap { newest =>
      val from = head
      while ((head to newest).flatMap(ranks(name)).distinct.size > 1) head += 1
      from until head
    }
    assert(kept.collect().map(_.getInt(0)).toSeq == left)
  }

  test("DISTINCT of a function with an order compares the values, not the order") {
    val text = "CAST(n % 3 AS STRING)"
    val listed = s"listagg(DISTINCT $text, ',') WITHIN GROUP (ORDER BY $text DESC) AS listed"
    val rows = aggregates("'KEEP ALL'", Seq("max(n) AS n", listed)).orderBy("n").collect()
    assert(rows.take(4).map(_.getAs[String]("listed")).toSeq == Seq("0", "1,0", "2,1,0", "2,1,0"))
  }

  testEach("groupBy within a window has the groups of GROUP BY", 2)(
    "sax",
    "f",
    "x",
    "sx",
    "ax",
    "asx") { name =>
    val select = Seq(s"$name AS key", "count(*) AS rows", "max(n) AS newest")
    val ours = aggregates("'KEEP ALL'", select, Seq(name))
    assert(lastOfEach(ours) == groups(name))
  }

  testEach(
    "group by of Esper's, of one window and over all groups, has the groups of GROUP BY",
    1)("asx", "x", "sx") { name =>
    Seq("#keepall", "#groupwin(n % 3)#keepall").foreach { window =>
      val ours = spark.sql(
        "SELECT * FROM keep(TABLE(equal_values) WITH SINGLE PARTITION ORDER BY (n), " +
          s"esper => 'select $name as key, count(*) as rows, max(n) as newest from S$window " +
          s"group by $name', output => 'agg')")
      assert(lastOfEach(ours) == groups(name), s"$name of $window")
    }
  }

  testEach("a window for each key, and a row for each, are those of GROUP BY", 2)(
    "sax",
    "f",
    "x") { name =>
    val count = spark.sql(s"SELECT $name FROM equal_values GROUP BY $name").count()
    val order = "WITH SINGLE PARTITION ORDER BY (n)"
    Seq(
      s"PARTITION BY ($name) ORDER BY (n), 'KEEP 1 ROW'",
      s"$order, esper => '#unique($name)'",
      s"$order, esper => '#firstunique($name)'",
      s"$order, esper => '#rank($name, 100, n)'",
      s"$order, esper => '#unique($name)#length(1000)'",
      s"$order, apama => 'retain 1000 with unique $name'").foreach { arguments =>
      if (!arguments.contains("apama") || name == "x" || name == "f") {
        val kept =
          spark.sql(s"SELECT * FROM keep(TABLE(equal_values) $arguments, output => 'rows')")
        assert(kept.count() == count, arguments)
      }
    }
  }

  testEach(
    "strings of a collation have the groups of GROUP BY, in a window, by Esper and as groups",
    2)("si", "sast", "s", "sr", "st", "ast") { name =>
    val expected = spark
      .sql(s"SELECT count(*) AS rows, max(n) AS newest FROM equal_values GROUP BY $name")
      .collect()
      .toSet
    val select = s"$name AS key, count(*) AS rows, max(n) AS newest"
    val ofParts = aggregates("'KEEP ALL'", Seq(select), Seq(name))
    val ofList = spark.sql(
      "SELECT * FROM keep(TABLE(equal_values) WITH SINGLE PARTITION ORDER BY (n), " +
        s"esper => 'select $name as key, count(*) as rows, max(n) as newest from S#keepall " +
        s"group by $name', output => 'agg')")
    val ofGroups = spark.sql(
      s"SELECT *, $name AS key FROM keep(TABLE(equal_values) PARTITION BY ($name) ORDER BY (n), " +
        "'KEEP ALL', output => 'agg', aggregates => " +
        "TABLE(SELECT count(*) AS rows, max(n) AS newest FROM equal_values))")
    Seq(ofParts, ofList, ofGroups).foreach { ours =>
      val last = ours.groupBy("key").agg(max("rows").as("rows"), max("newest").as("newest"))
      assert(last.select("rows", "newest").collect().toSet == expected, name)
    }
  }

  testEach("groups within a window that cannot be compared are refused")(
    "map('a', n)",
    "array(map('a', n))") { key =>
    val error = intercept[AnalysisException] {
      aggregates("'KEEP 4 ROWS'", Seq("count(*) AS rows"), Seq(key))
    }
    assert(error.getCondition == "WINOPS_GROUP_TYPE")
  }

  testEach("DISTINCT of values that cannot be compared is refused")(
    "map('a', n)",
    "array(map(n, 'a'))",
    "parse_json('1')") { value =>
    val error = intercept[AnalysisException] {
      aggregates("'KEEP 4 ROWS'", Seq(s"count(DISTINCT $value) AS values"))
    }
    assert(error.getCondition == "WINOPS_AGGREGATES")
    assert(error.getMessage.contains("DISTINCT"))
  }

  /** The latest count and newest row of each key. */
  private def lastOfEach(df: DataFrame): Map[String, Row] = df
    .selectExpr("to_json(struct(key)) AS key", "rows", "newest", "_change_seq")
    .where("rows > 0")
    .collect()
    .sortBy(_.getAs[Long]("_change_seq"))
    .map(row => row.getString(0) -> Row(row(1), row(2)))
    .toMap

  private def groups(name: String): Map[String, Row] = spark
    .sql(
      s"SELECT $name AS key, count(*) AS rows, max(n) AS newest FROM equal_values GROUP BY $name")
    .selectExpr("to_json(struct(key)) AS key", "rows", "newest")
    .collect()
    .map(row => row.getString(0) -> Row(row(1), row(2)))
    .toMap
}

private object EqualValuesSuite {
  val Rows = 48

  /** A NaN with other bits than Java's. */
  val OtherNaN = "-double('NaN')"

  /** Columns of floating-point numbers, computed from `x`. */
  val Numbers: Seq[(String, String)] = Seq(
    "x" -> "x",
    "f" -> "float(x)",
    "sx" -> "named_struct('x', x, 'y', 1)",
    "ax" -> "array(x, 1D)",
    "asx" -> "array(named_struct('x', float(x)))",
    "sax" -> "named_struct('a', array(array(x), NULL))")

  /** Columns of strings with collations, computed from `s`. */
  val Texts: Seq[(String, String)] = Seq(
    "s" -> "s COLLATE UTF8_LCASE",
    "sr" -> "s COLLATE UTF8_BINARY_RTRIM",
    "si" -> "s COLLATE UNICODE_CI_AI",
    "st" -> "named_struct('s', s COLLATE UTF8_LCASE, 'n', 1)",
    "ast" -> "array(s COLLATE UNICODE_CI, 'c')",
    "sast" -> "array(named_struct('s', s COLLATE UTF8_LCASE, 'x', 0D))")
}
