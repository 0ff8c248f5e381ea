package winops.spark.over

import java.io.File
import java.nio.file.{Files, Paths, StandardCopyOption}

import scala.collection.mutable
import scala.jdk.CollectionConverters._
import scala.util.Try

import org.apache.spark.sql.{AnalysisException, DataFrame, Row}
import org.apache.spark.sql.catalyst.analysis.FunctionRegistry
import org.apache.spark.sql.catalyst.expressions.{AggregateWindowFunction, RuntimeReplaceableAggregate}
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, AggregateFunction}
import org.apache.spark.sql.functions.expr
import org.apache.spark.sql.streaming.Trigger

import winops.spark.aggregates.AggregateProperties
import winops.spark.testing.{CompiledCode, KeepStreamTest, OneTask, SameBits}
import winops.testing.Longer

/** Every aggregate function of the running Spark, stored after each micro-batch, restored and
  * continued, gives the values of a table. A function that no call is listed for fails by name.
  */
class EveryAggregateSuite extends KeepStreamTest with OneTask with CompiledCode {
  import EveryAggregateSuite._

  private lazy val registered: Seq[String] = FunctionRegistry.expressions.toSeq.collect {
    case (name, (info, _)) if isAggregate(info.getClassName, info.getGroup) => name
  }.sorted

  private def isAggregate(className: String, group: String): Boolean = {
    def is(ancestor: Class[_]) =
      Try(ancestor.isAssignableFrom(Class.forName(className))).getOrElse(false)
    val isFunction = is(classOf[AggregateFunction]) || is(classOf[RuntimeReplaceableAggregate])
    (group == "agg_funcs" || isFunction) && !is(classOf[AggregateWindowFunction])
  }

  private lazy val calls: Seq[(String, String)] =
    registered.diff(NotOverRows).flatMap(name => Calls.getOrElse(name, Nil).map(name -> _))

  /** The rows in a folder for each micro-batch. */
  private def withRows(test: DataFrame => Unit): Unit = {
    val sketches = Sketches.collect {
      case (column, function, call) if FunctionRegistry.expressions.contains(function) =>
        s"$call AS $column"
    }
    spark
      .sql(s"""SELECT id, ${sketches.mkString(", ")}
        FROM (SELECT id, explode(sequence(id, id + 3)) AS v FROM range($Rows)) GROUP BY id""")
      .createOrReplaceTempView("sketches")
    test(spark.sql(s"SELECT $Columns, sketches.* EXCEPT (id) FROM sketches").cache())
  }

  private def batchesOf(rows: DataFrame, dir: File): Seq[File] =
    Batches.zipWithIndex.map { case ((from, until), i) =>
      val part = new File(dir, s"part$i")
      rows.where(s"seq >= $from AND seq < $until").coalesce(1).write.parquet(part.getPath)
      part.listFiles.find(_.getName.endsWith(".parquet")).get
    }

  /** The output of a query over a stream that restarts after each micro-batch. */
  private def streamed(rows: DataFrame)(query: DataFrame => DataFrame): Seq[Row] = {
    val written = new Written
    withTempDir { dir =>
      val source = new File(dir, "source")
      source.mkdir()
      val batches = batchesOf(rows, dir)
      batches.zipWithIndex.foreach { case (file, i) =>
        Files.copy(
          file.toPath,
          new File(source, s"$i.parquet").toPath,
          StandardCopyOption.REPLACE_EXISTING)
        val stream = spark.readStream.schema(rows.schema).parquet(source.getPath)
        val atEnd = if (i == batches.size - 1) "flush" else "wait"
        withSQLConf(OverSettings.AtEnd -> atEnd) {
          val running = query(stream.withWatermark("ts", "0 seconds")).writeStream
            .option("checkpointLocation", new File(dir, "checkpoint").getPath)
            .trigger(Trigger.AvailableNow())
            .foreachBatch((batch: DataFrame, id: Long) => written.add(id, batch.collect().toSeq))
            .start()
          try running.awaitTermination()
          finally running.stop()
        }
      }
    }
    written.rows
  }

  private def ofView(df: DataFrame)(sql: String): DataFrame = {
    df.createOrReplaceTempView("input_of_keep")
    spark.sql(sql)
  }

  private def check(
      some: Seq[(String, String)],
      got: Seq[Row],
      expected: Seq[Row],
      isSame: (Any, Any) => Boolean): Unit = {
    assert(got.size == Rows && expected.size == Rows)
    val (left, right) = (got.sortBy(_.getInt(0)), expected.sortBy(_.getInt(0)))
    val different = some.indices.flatMap { i =>
      left
        .zip(right)
        .find { case (a, b) => !isSame(shown(a.get(i + 1)), shown(b.get(i + 1))) }
        .map { case (a, b) =>
          s"${some(i)._2}, row ${a.get(0)}: ${shown(a.get(i + 1))}, on a table ${shown(b.get(i + 1))}"
        }
    }
    assert(different.isEmpty, different.mkString("\n", "\n", ""))
  }

  /** Compares values that are equal up to the rounding of sums in another order. */
  private def isClose(a: Any, b: Any): Boolean = (a, b) match {
    case (a: Double, b: Double) =>
      SameBits.same(a, b) || Math.abs(a - b) <= 1e-9 * Math.max(1.0, Math.abs(b))
    case _ => SameBits.same(a, b)
  }

  private def shown(value: Any): Any = value match {
    case bytes: Array[Byte] => bytes.toSeq
    case row: Row => Row.fromSeq(row.toSeq.map(shown))
    case other => other
  }

  test("every aggregate: each registered function has a call here") {
    val unknown = registered.diff(Calls.keys.toSeq ++ NotOverRows)
    assert(
      unknown.isEmpty,
      "add a call with arguments to Calls, as docs/contributing/adding-an-aggregate.md says")
    assert(registered.size > 70)
  }

  private val optimized = mutable.Map.empty[String, Seq[AggregateFunction]]

  /** The functions that the optimizer makes of a call. */
  private def functionsOf(rows: DataFrame, call: String): Seq[AggregateFunction] =
    optimized.getOrElseUpdate(
      call, {
        val plan = ofView(rows)(s"SELECT $call FROM input_of_keep").queryExecution.optimizedPlan
        val functions = plan
          .flatMap(_.expressions)
          .flatMap(_.collect { case AggregateExpression(function, _, _, _, _) => function })
        // A constant condition leaves no function.
        assert(functions.nonEmpty, call)
        functions
      })

  test("every aggregate: the list for versions of Spark without these tests has all calls") {
    val list = Files.readAllLines(Paths.get("tests/data/aggregate-functions.txt"))
    assert(list.asScala.toSeq.sorted == (Calls.keys ++ NotOverRows).toSeq.sorted)
  }

  test("every aggregate: the properties of each function are known") {
    withRows { rows =>
      val unknown = calls.flatMap { case (name, call) =>
        functionsOf(rows, call)
          .filter(AggregateProperties.ofSpark(_).isEmpty)
          .map(name -> _.getClass.getName)
      }
      assert(
        unknown.distinct.isEmpty,
        "add a line to AggregateProperties.ofSpark, as docs/contributing/adding-an-aggregate.md says")
    }
  }

  test("every aggregate: a function that ignores the order has one value in any order") {
    withRows { rows =>
      val some = calls.filter { case (_, call) =>
        !Sketching.exists(call.startsWith) && functionsOf(rows, call).forall { function =>
          AggregateProperties.of(function).order.isWithin(AggregateProperties.OfSet)
        }
      }
      val exact = some.map { case (_, call) =>
        functionsOf(rows, call).forall(
          AggregateProperties.of(_).order == AggregateProperties.AnyOrder)
      }
      val columns = some.zipWithIndex.map { case ((_, call), i) =>
        s"${valueOf(call, call)} AS c$i"
      }
      def inOrder(order: String): Seq[Row] = withSQLConf(CompiledCode.Interpreted: _*) {
        val ordered = rows.repartition(1).sortWithinPartitions(expr(order))
        ofView(ordered)(
          s"SELECT ${columns.mkString(", ")} FROM input_of_keep GROUP BY k ORDER BY k")
          .collect()
          .toSeq
      }
      val first = inOrder("seq")
      val others = Seq("seq DESC", "hash(seq)").map(inOrder)
      assert(first.size == 2)
      val different = for {
        i <- some.indices
        other <- others
        isSame = if (exact(i)) SameBits.same _ else isClose _
        if !first.zip(other).forall { case (a, b) => isSame(asSet(a.get(i)), asSet(b.get(i))) }
      } yield some(i)._2
      assert(different.isEmpty, "its order in AggregateProperties.ofSpark is wrong")
    }
  }

  /** A value with the elements of an array in an order of their own. */
  private def asSet(value: Any): Any = shown(value) match {
    case elements: Seq[_] => elements.sortBy(_.toString)
    case other => other
  }

  Frames.foreach { case (frame, isMerged) =>
    test(s"every aggregate: $frame", Longer.unless(isMerged): _*) {
      withRows { rows =>
        def over(call: String) = s"$call OVER (PARTITION BY k ORDER BY ts, seq $frame)"
        val (refused, some) = calls.partition { case (name, _) => NotInFrames.contains(name) }
        refused.foreach { case (_, call) =>
          withClue(s"$call: ") {
            intercept[AnalysisException] {
              ofView(rows)(s"SELECT ${over(call)} FROM input_of_keep")
            }
          }
        }
        val columns = some.zipWithIndex.map { case ((_, call), i) =>
          s"${if (isMerged) valueOf(call, over(call)) else over(call)} AS c$i"
        }
        val sql = s"SELECT seq, ${columns.mkString(", ")} FROM input_of_keep"
        val expected = ofView(rows)(sql).collect().toSeq
        val got = streamed(rows)(ofView(_)(sql))
        check(some, got, expected, if (isMerged) isClose else SameBits.same)
      }
    }
  }

  Windows.foreach { window =>
    test(s"every aggregate: keep, $window", Longer.unless(window.startsWith("esper")): _*) {
      withRows { rows =>
        val columns = calls.zipWithIndex.map { case ((_, call), i) => s"$call AS c$i" }
        val kept = calls.indices.map(i => s"c$i").mkString(", ")
        def sql(df: DataFrame) = s"""SELECT seq, $kept FROM keep(
          TABLE(input_of_keep) PARTITION BY (k) ORDER BY (seq), $window, output => 'withColumns',
          aggregates => TABLE(SELECT ${columns.mkString(", ")} FROM input_of_keep
            GROUP BY ${df.columns.mkString(", ")}))"""
        val some = calls.filter { case (name, _) => !NotInFrames.contains(name) }
        val values = some.map(one => valueOf(one._2, s"c${calls.indexOf(one)}"))
        val (table, shared) = ofView(rows)(sql(rows))
          .selectExpr("*" +: values: _*)
          .collect()
          .toSeq
          .map(_.toSeq.splitAt(1 + calls.size))
          .unzip
        check(
          calls,
          streamed(rows)(df => ofView(df)(sql(df))),
          table.map(Row.fromSeq),
          SameBits.same)
        val framed = some.zipWithIndex.map { case ((_, call), i) =>
          val over = "OVER (PARTITION BY k ORDER BY ts, seq ROWS 39 PRECEDING)"
          s"${valueOf(call, s"$call $over")} AS c$i"
        }
        val expected =
          ofView(rows)(s"SELECT seq, ${framed.mkString(", ")} FROM input_of_keep").collect().toSeq
        val got = table.zip(shared).map { case (row, parts) => Row.fromSeq(row.head +: parts) }
        check(some, got, expected, isClose)
      }
    }
  }

  /** The part of a value that a merged buffer shares with the buffer of all rows. */
  private def valueOf(call: String, value: String): String = SameValue
    .collectFirst { case (function, of) if call.startsWith(function) => of.replace("?", value) }
    .getOrElse(value)
}

private object EveryAggregateSuite {
  private val Rows = 120
  private val Batches = Seq(0 -> 3, 3 -> 54, 54 -> Rows)

  /** Frames, with true if buffers of parts of them are merged. */
  private val Frames = Seq(
    "" -> false,
    "ROWS UNBOUNDED PRECEDING" -> false,
    "ROWS BETWEEN UNBOUNDED PRECEDING AND 4 FOLLOWING" -> false,
    "ROWS BETWEEN 3 PRECEDING AND 2 FOLLOWING" -> false,
    "ROWS 49 PRECEDING" -> true)

  private val Windows = Seq("'KEEP 40 ROWS'", "esper => '#sort(40, seq desc)'")

  private val Columns = """
    CAST(id AS INT) AS seq,
    IF(id % 40 = 7, 'b', 'a') AS k,
    timestamp_seconds(100 + id) AS ts,
    IF(id % 11 = 5, NULL, CAST(id * 7919 % 101 AS INT)) AS n,
    IF(id % 13 = 5, NULL, id * 1000003 % 997 - 500) AS b,
    IF(id % 17 = 5, NULL, sin(id) * 1000) AS x,
    cos(id * 2) * 10 + id AS y,
    CAST(sin(id * 3) AS FLOAT) AS f,
    CAST(id * 7 % 31 - 12.25 AS DECIMAL(10, 2)) AS d,
    CAST(id * 31 % 47 - 20 AS DECIMAL(38, 2)) AS w,
    make_dt_interval(0, 0, CAST(id * 37 % 90 AS INT)) AS span,
    make_ym_interval(0, CAST(id * 37 % 90 AS INT)) AS months,
    IF(id % 9 = 4, NULL, concat('s', id * 7 % 23)) AS s,
    id % 3 = 0 AS p,
    unhex(lpad(hex(id * 2654435761 % 65536), 4, '0')) AS bits,
    array(CAST(id AS FLOAT), CAST(id % 7 AS FLOAT)) AS vector"""

  /** Columns with sketches: the name, the function and its call. KLL sketches hold more values
    * than they get, because Spark draws random numbers otherwise.
    */
  private val Sketches = Seq(
    ("small", "hll_sketch_agg", "hll_sketch_agg(v, 6)"),
    ("hll", "hll_sketch_agg", "hll_sketch_agg(v, 14)"),
    ("theta", "theta_sketch_agg", "theta_sketch_agg(v, 5)"),
    ("kb", "kll_sketch_agg_bigint", "kll_sketch_agg_bigint(v, 800)"),
    ("kf", "kll_sketch_agg_float", "kll_sketch_agg_float(CAST(v AS FLOAT), 800)"),
    ("kd", "kll_sketch_agg_double", "kll_sketch_agg_double(CAST(v AS DOUBLE), 800)"),
    ("top", "approx_top_k_accumulate", "approx_top_k_accumulate(v % 5, 100)"),
    ("td", "tuple_sketch_agg_double", "tuple_sketch_agg_double(v, CAST(v AS DOUBLE), 5)"),
    ("ti", "tuple_sketch_agg_integer", "tuple_sketch_agg_integer(v, CAST(v AS INT), 5)"))

  private def sums(function: String): Seq[String] =
    Seq("n", "b", "x", "f", "d", "w", "span", "months").map(column => s"$function($column)")

  private def ofColumn(functions: String, column: String): Seq[(String, Seq[String])] =
    functions.split(' ').toSeq.map(function => function -> Seq(s"$function($column)"))

  private def ofNumbers(functions: String): Seq[(String, Seq[String])] =
    functions.split(' ').toSeq.map(function => function -> Seq(s"$function(x, y)"))

  /** The calls of each function, on each version of Spark that has the function. */
  private val Calls: Map[String, Seq[String]] = (
    ofColumn("sum avg mean try_sum try_avg", "x").map { case (name, _) => name -> sums(name) } ++
      ofColumn("std stddev stddev_pop stddev_samp var_pop var_samp variance", "x") ++
      ofColumn("skewness kurtosis median collect_list array_agg collect_set", "x") ++
      ofColumn("min max first first_value last last_value any_value", "s") ++
      ofColumn("bool_and every bool_or any some count_if", "p") ++
      ofColumn("bit_and bit_or bit_xor", "n") ++
      ofNumbers("corr covar_pop covar_samp regr_count regr_avgx regr_avgy regr_r2 regr_sxx") ++
      ofNumbers("regr_sxy regr_syy regr_slope regr_intercept") ++
      ofColumn("vector_sum vector_avg", "vector") ++
      ofColumn("tuple_union_agg_double tuple_intersection_agg_double", "td") ++
      ofColumn("tuple_union_agg_integer tuple_intersection_agg_integer", "ti") ++
      Seq(
        // Rows with equal sort keys.
        "max_by" -> Seq("max_by(x, y)", "max_by(seq, n % 3)"),
        "min_by" -> Seq("min_by(x, y)", "min_by(seq, n % 3)"),
        // Values that occur equally often, with hashes that collide.
        "mode" -> Seq("mode(s)", "mode(seq * 7 % 1009)"),
        "approx_count_distinct" -> Seq("approx_count_distinct(n)"),
        "approx_percentile" -> Seq(
          "approx_percentile(n, 0.5)",
          "approx_percentile(x, 0.5)",
          "approx_percentile(IF(seq % 7 = 3, CAST('NaN' AS DOUBLE), x), 0.8)"),
        "percentile_approx" -> Seq("percentile_approx(b, array(0.1, 0.9), 10)"),
        "approx_top_k" -> Seq("approx_top_k(n % 7, 3)"),
        "approx_top_k_accumulate" -> Seq("approx_top_k_accumulate(n % 7, 50)"),
        "approx_top_k_combine" -> Seq("approx_top_k_combine(top, 100)"),
        "approx_top_k_estimate" -> Nil,
        "bitmap_construct_agg" -> Seq("bitmap_construct_agg(bitmap_bit_position(seq))"),
        "bitmap_or_agg" -> Seq("bitmap_or_agg(bits)"),
        "bitmap_and_agg" -> Seq("bitmap_and_agg(bits)"),
        "collect_union" -> Seq("collect_union(array(x, y))"),
        "count" -> Seq("count(*)", "count(n)", "count(n, s)"),
        "count_min_sketch" -> Seq("count_min_sketch(s, 0.5D, 0.5D, 1)"),
        "histogram_numeric" -> Seq("histogram_numeric(x, 5)"),
        "hll_sketch_agg" -> Seq("hll_sketch_agg(n)", "hll_sketch_agg(s, 4)"),
        "hll_union_agg" -> Seq("hll_union_agg(hll)", "hll_union_agg(small, true)"),
        "kll_sketch_agg_bigint" -> Seq("kll_sketch_agg_bigint(n)"),
        "kll_sketch_agg_float" -> Seq("kll_sketch_agg_float(f)"),
        "kll_sketch_agg_double" -> Seq("kll_sketch_agg_double(x)"),
        "kll_merge_agg_bigint" -> Seq("kll_merge_agg_bigint(IF(seq > 40, kb, NULL))"),
        "kll_merge_agg_float" -> Seq("kll_merge_agg_float(kf)"),
        "kll_merge_agg_double" -> Seq("kll_merge_agg_double(kd, 900)"),
        "listagg" -> Seq("listagg(s, ',')"),
        "string_agg" -> Seq("string_agg(s, ',')"),
        "percentile" -> Seq("percentile(x, 0.3)"),
        "percentile_cont" -> Seq("percentile_cont(0.3) WITHIN GROUP (ORDER BY x)"),
        "percentile_disc" -> Seq("percentile_disc(0.3) WITHIN GROUP (ORDER BY x)"),
        "schema_of_variant_agg" -> Seq(
          "schema_of_variant_agg(parse_json(to_json(struct(s, n))))"),
        "theta_sketch_agg" -> Seq("theta_sketch_agg(n)", "theta_sketch_agg(s, 4)"),
        "theta_union_agg" -> Seq("theta_union_agg(theta)", "theta_union_agg(theta, 4)"),
        "theta_intersection_agg" -> Seq("theta_intersection_agg(theta)"),
        "tuple_sketch_agg_double" -> Seq("tuple_sketch_agg_double(n, x, 5)"),
        "tuple_sketch_agg_integer" -> Seq("tuple_sketch_agg_integer(n, n, 5)"))
  ).toMap

  /** Functions of GROUP BY and of metric views, which have no value over rows. */
  private val NotOverRows = Seq("grouping", "grouping_id", "measure")

  /** Functions that Spark refuses over a frame. */
  private val NotInFrames = Seq("median", "percentile_cont", "percentile_disc")

  /** Functions whose value is a sketch of the set of rows with bytes that depend on the order.
    *
    * The values of other approximate functions do not depend on the order of as few rows as
    * these: of `approx_percentile` up to 50,000 rows, of KLL sketches up to 200 rows, of HLL
    * sketches of 12 bits below 384 distinct values, of `approx_top_k` up to 10,000. Beyond that
    * they may, within their error.
    */
  private val Sketching = Seq("approx_top_k_accumulate")

  /** Functions of which merged buffers differ in their bytes, with a value that is the same. The
    * estimate of a small HLL sketch depends on the order of its values.
    */
  private val SameValue: Seq[(String, String)] = Seq(
    "hll_sketch_agg(s, 4)" -> "hll_sketch_estimate(?) BETWEEN 1 AND 70",
    "hll_sketch_agg" -> "hll_sketch_estimate(?)",
    "hll_union_agg(small" -> "hll_sketch_estimate(?) BETWEEN 1 AND 240",
    "hll_union_agg" -> "hll_sketch_estimate(?)") ++
    Seq("bigint", "float", "double").flatMap { number =>
      Seq("kll_sketch_agg", "kll_merge_agg").map { function =>
        val quantiles = s"kll_sketch_get_quantile_$number(?, array(0.0D, 0.3D, 0.9D))"
        s"${function}_$number" -> s"IF(kll_sketch_get_n_$number(?) > 0, $quantiles, NULL)"
      }
    }
}
