package winops.spark.source

import java.io.File

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.catalyst.expressions.IsNotNull
import org.apache.spark.sql.catalyst.plans.logical.{Filter, Project}
import org.apache.spark.sql.execution.columnar.InMemoryRelation
import org.apache.spark.sql.execution.datasources.LogicalRelation
import org.apache.spark.sql.functions.{array, explode, expr, lit, timestamp_seconds, when}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.kafka010.{KafkaLikeRelation, KafkaLikeTable}
import org.apache.spark.sql.streaming.StreamingQueryException

import winops.spark.internal.WinopsAnalysisException
import winops.spark.testing.{KeepStreamTest, Tick}
import winops.testing.TableTests

/** The order of rows without `order_by` is the source's order, however Spark cuts it into tasks.
  */
class SourceOrderSuite extends KeepStreamTest with TableTests {
  import testImplicits._

  private val fileRows = Seq(7, 60, 1, 33, 90, 12)
  private val total = fileRows.sum

  /** Spark settings that cut files into tasks: minimum number of partitions, maximum bytes of a
    * partition, and bytes added for each file.
    */
  private val cuts = Seq(("1", "128m", "4m"), ("5", "300b", "0"), ("7", "64b", "8"))

  private def cutFiles[T](cut: (String, String, String))(body: => T): T = {
    val (tasks, bytes, openCost) = cut
    withSQLConf(
      SQLConf.FILES_MIN_PARTITION_NUM.key -> tasks,
      SQLConf.FILES_MAX_PARTITION_BYTES.key -> bytes,
      SQLConf.FILES_OPEN_COST_IN_BYTES.key -> openCost)(body)
  }

  /** Writes rows numbered in the order of the files' names, with small files between large ones.
    */
  private def writeFiles(folder: File, format: String): Unit = {
    val starts = fileRows.scanLeft(0)(_ + _).init
    val file = starts.map(start => when($"id" >= start, 1).otherwise(0)).reduce(_ + _)
    val columns =
      if (format == "text") Seq($"id".cast("string").as("value"))
      else Seq($"id".as("n"), expr("repeat('x', CAST(id % 5 AS INT))").as("filler"))
    spark
      .range(0, total, 1, 1)
      .select(columns :+ file.as("file"): _*)
      .write
      .format(format)
      .partitionBy("file")
      // With small row groups and stripes, Spark can also read columnar files in parts.
      .option("parquet.block.size", 128)
      .option("parquet.page.row.count.limit", 5)
      .option("orc.stripe.row.count", 5)
      .save(new File(folder, format).getPath)
  }

  private def filesOf(folder: File, format: String): DataFrame =
    spark.read
      .format(format)
      .schema(if (format == "text") "value STRING" else "n LONG, filler STRING")
      .load(new File(folder, format).getPath)

  private def numbers(df: DataFrame): DataFrame =
    if (df.columns.contains("value")) df.select($"value".cast("long").as("n"))
    else df.select($"n")

  /** The numbers of each source's rows, in the order of their application. */
  private def applied(sources: Map[String, DataFrame]): Map[String, Seq[Long]] = {
    sources.foreach { case (name, df) => df.createOrReplaceTempView(s"source_$name") }
    val kept = sources.keys.toSeq.map { name =>
      s"SELECT '$name', _change_seq, n FROM keep(TABLE(source_$name), 'KEEP ALL')"
    }
    spark
      .sql(kept.mkString(" UNION ALL "))
      .as[(String, Long, Long)]
      .collect()
      .toSeq
      .groupBy(_._1)
      .map { case (name, rows) => name -> rows.sortBy(_._2).map(_._3) }
  }

  testEach(
    "rows of a file are applied in the order of the file, of several in that of their names",
    short = 1)(cuts.reverse: _*) { cut =>
    withTempDir { folder =>
      val formats = Seq("json", "csv", "text", "parquet", "orc")
      formats.foreach(writeFiles(folder, _))
      cutFiles(cut) {
        val files = formats.map(format => format -> numbers(filesOf(folder, format))).toMap
        val json = files("json")
        lazy val derived = Map(
          "filtered" -> json.where($"n" % 3 =!= 0),
          "both" -> files("csv").where($"n" < 40).union(json.where($"n" >= 40)),
          "exploded" -> json
            .select($"n", explode(array(lit(0), lit(1))).as("twice"))
            .select(($"n" * 2 + $"twice").as("n")),
          "mapped" -> json.as[Long].map(_ + 1).toDF("n"),
          "coalesced" -> files("parquet").coalesce(2),
          "version_2" -> withSQLConf(SQLConf.USE_V1_SOURCE_LIST.key -> "") {
            numbers(filesOf(folder, "orc"))
          })
        val sources = if (cut == cuts.last) files ++ derived else files
        applied(sources).foreach { case (name, found) =>
          val expected = name match {
            case "exploded" => 0L until 2L * total
            case "mapped" => 1L to total.toLong
            case "filtered" => (0L until total.toLong).filter(_ % 3 != 0)
            case _ => 0L until total.toLong
          }
          assert(found == expected, s"$name, cut $cut")
        }
      }
    }
  }

  testEach(
    "local rows and ranges are applied in their own order, in any number of tasks",
    short = 1)("7", "3", "1") { tasks =>
    // Descending numbers, because the order of their bytes is ascending.
    val numbersOfDriver = 49L to 0L by -1L
    withSQLConf(SQLConf.LEAF_NODE_DEFAULT_PARALLELISM.key -> tasks) {
      val range = spark.range(49, -1, -1, tasks.toInt).toDF("n")
      val cached = range.where($"n" >= 0).cache()
      cached.count()
      try {
        val found = applied(
          Map(
            "range" -> range,
            "range_function" -> spark.sql(s"SELECT id AS n FROM range(49, -1, -1, $tasks)"),
            "local" -> numbersOfDriver.toDF("n"),
            "parallelized" -> spark.sparkContext
              .parallelize(numbersOfDriver, tasks.toInt)
              .toDF("n"),
            "cached" -> range.where($"n" >= 0),
            "union" -> range
              .where($"n" >= 20)
              .union(numbersOfDriver.toDF("n").where($"n" < 20)),
            "coalesced" -> range.coalesce(2),
            "named" -> spark.sql(
              "WITH a AS (SELECT id AS n FROM range(49, -1, -1)) SELECT n FROM a WHERE n >= 9 " +
                "UNION ALL SELECT n FROM a WHERE n < 9")))
        found.foreach { case (name, order) =>
          assert(order == numbersOfDriver, name)
        }
      } finally cached.unpersist()
    }
  }

  test("without an order of the source, keep is refused unless it is given one") {
    withTempDir { folder =>
      writeFiles(folder, "json")
      val files =
        filesOf(folder, "json").drop("file").withColumn("ts", timestamp_seconds($"n" % 5))
      val cached = files.where($"n" > 1).cache()
      val rows = Map(
        "Sort" -> files.sortWithinPartitions("n"),
        "Repartition" -> files.repartition(2),
        "Aggregate" -> files.groupBy("n", "ts").count(),
        "Deduplicate" -> files.distinct(),
        "Join" -> files.join(files.select("n"), "n"),
        "GlobalLimit" -> files.limit(3),
        "Filter" -> files.where($"n".isin(1, 2) || expr("n IN (SELECT id FROM range(9))")),
        "MapPartitions" -> files
          .as[(Long, String, java.sql.Timestamp)]
          .mapPartitions(identity)
          .toDF("n", "filler", "ts"),
        "LogicalRDD" -> spark.createDataFrame(files.rdd, files.schema),
        "CTERelationRef" -> spark.sql(
          "WITH a AS (SELECT id AS n, rand() AS r, " +
            "timestamp_seconds(id % 5) AS ts FROM range(9)) SELECT * FROM a"))
      def refused(df: => DataFrame): String = intercept[WinopsAnalysisException](df).getMessage
      try {
        rows.foreach { case (operator, df) =>
          val policies =
            Seq(", 'KEEP 2 ROWS'", ", 'KEEP 2 ROWS', time => 'ts', apply => 'arrival'")
          policies.foreach { call =>
            val message = refused(keep(df, call))
            assert(message.contains("[WINOPS_ORDER_REQUIRED]") && message.contains(operator))
            assert(message.contains("order_by=") && message.contains("ORDER BY (column)"))
          }
          keep(df, "WITH SINGLE PARTITION ORDER BY (n), 'KEEP 2 ROWS'")
          keep(df, ", 'KEEP 2 ROWS', time => 'ts'")
        }
        // Spark replaces cached parts of a plan only when it plans the query.
        val late = keep(files.where($"n" > 1), ", 'KEEP 2 ROWS'")
        assert(refused { late.collect(); late }.contains("InMemoryRelation"))
        // By their time, cached files are kept in the order of their bytes.
        val timed = keep(files.where($"n" > 1), ", 'KEEP 2 ROWS', time => 'ts'")
        assert(timed.queryExecution.optimizedPlan.exists(_.isInstanceOf[InMemoryRelation]))
        assert(timed.collect().nonEmpty)
      } finally cached.unpersist()
    }
  }

  test("rows without an order of the source are ordered by their bytes where nothing else does") {
    val rows = spark
      .range(0, 300, 1, 3)
      .select(
        ($"id" * 7919 % 300).as("n"),
        ($"id" % 4).as("k"),
        timestamp_seconds($"id" % 2).as("ts"))
    val calls = Seq(
      "PARTITION BY (k) ORDER BY (n % 3), 'KEEP 5 ROWS'",
      "PARTITION BY (k), 'KEEP 5 ROWS', time => 'ts'",
      "WITH SINGLE PARTITION ORDER BY (n % 3), 'KEEP 5 ROWS'",
      "WITH SINGLE PARTITION ORDER BY (n % 3), 'KEEP 5 ROWS', output => 'rows'")
    def kept(shuffled: DataFrame, call: String): DataFrame = keep(shuffled, call)
    calls.foreach { call =>
      val found = Seq(1, 5).map { tasks =>
        val shuffled = rows.orderBy(($"n" * tasks) % 11).repartition(tasks)
        val all = kept(shuffled, call).collect().toSeq
        // The columns that are read from the result do not break ties.
        val some = kept(shuffled, call).select("n").collect().map(_.getLong(0)).sorted.toSeq
        assert(some == all.map(_.getAs[Long]("n")).sorted)
        all.map(_.toString).sorted
      }
      assert(found.distinct.size == 1, call)
      assert(found.head.nonEmpty)
    }
  }

  test(
    "columns that are not read decide ties, also where the optimizer removes what hid the order") {
    val rows = spark.sql(
      "SELECT * FROM VALUES (TIMESTAMP'2020-01-01', 1, 'x'), (TIMESTAMP'2020-01-01', 2, 'w') " +
        "AS t(ts, a, b)")
    val kept = keep(rows.limit(10), ", 'KEEP 1 ROW', time => 'ts', output => 'rows'")
    assert(kept.select("b").collect().toSeq == kept.collect().toSeq.map(row => Row(row.get(2))))
  }

  testEach(
    "a batch that is done again in other tasks applies its rows in the same order",
    short = 1)("parquet", "json") { format =>
    withTempDir { folder =>
      writeFiles(folder, format)
      val results = cuts.map { cut =>
        val written = new Written
        withTempDir { checkpoint =>
          def stream = keep(
            spark.readStream
              .format(format)
              .schema("n LONG, filler STRING")
              .option("maxFilesPerTrigger", 4)
              .load(new File(folder, format).getPath),
            "PARTITION BY (n % 2), 'KEEP 3 ROWS'")
          val path = checkpoint.getCanonicalPath
          intercept[StreamingQueryException](cutFiles(cuts.head) {
            val query = start(stream, path, written, (_, _) => sys.error("before the commit"))
            try query.processAllAvailable()
            finally query.stop()
          })
          assert(written.batchCount == 0)
          cutFiles(cut)(runAll(stream, path, written))
        }
        written.rows
          .map(row => Seq("_change_seq", "_change_type", "n").map(row.getAs[Any](_).toString))
          .map(_.mkString(" "))
          .sorted
      }
      assert(results.distinct.size == 1)
      assert(results.head.size > total)
    }
  }

  testEach("a stream applies the rows of older files first, in any micro-batches", short = 1)(
    "PARTITION BY (n % 2), 'KEEP 3 ROWS'",
    "PARTITION BY (n % 2), 'KEEP 3 ROWS', time => 'ts'") { policy =>
    withTempDir { folder =>
      val input = new File(folder, "in")
      val names = Seq("d", "b", "e", "a", "c", "f")
      spark
        .createDataset(names.zipWithIndex.flatMap { case (name, age) =>
          (0 until 20).map(i => (name, 20 * age + i, if (name == "f") 100 else 5))
        })
        .toDF("name", "n", "sec")
        .repartition(1)
        .write
        .partitionBy("name")
        .json(input.getPath)
      names.zipWithIndex.foreach { case (name, age) =>
        val files = new File(input, s"name=$name").listFiles.filter(_.getName.endsWith(".json"))
        // Files with the same modification time are read in the order of their names.
        files.foreach(_.setLastModified(1000000L + 5000 * Math.max(age, 1)))
      }
      val results = Seq(1, 4, 6).map { files =>
        def stream = keep(
          spark.readStream
            .schema("n INT, sec LONG")
            .option("maxFilesPerTrigger", files)
            .json(s"$input/name=*")
            .select($"n", timestamp_seconds($"sec").as("ts"))
            .withWatermark("ts", "0 seconds"),
          policy)
        val written = new Written
        withTempDir(checkpoint => runAll(stream, checkpoint.getCanonicalPath, written))
        written.rows
          .filter(row => row.getAs[Int]("n") < 100)
          .filter(_.getAs[String]("_change_type") == "insert")
          .sortBy(_.getAs[Long]("_change_seq"))
          .map(_.getAs[Int]("n"))
      }
      results.foreach { applied =>
        val (even, odd) = applied.partition(_ % 2 == 0)
        val expected = (20 until 40) ++ (0 until 20) ++ (40 until 100)
        assert(even == expected.filter(_ % 2 == 0) && odd == expected.filter(_ % 2 == 1))
      }
    }
  }

  test("rows of the rate sources are applied in the order of their values") {
    val rate = spark.readStream
      .format("rate-micro-batch")
      .option("rowsPerBatch", 30)
      .option("numPartitions", 4)
      .load()
    val kept = keep(rate.select(($"value" * 10).as("tenfold")), ", 'KEEP ALL'")
    withTempDir { checkpoint =>
      val written = new Written
      val query = start(kept, checkpoint.getCanonicalPath, written)
      try eventually(timeout(streamingTimeout))(assert(written.batchCount >= 2))
      finally query.stop()
      val found = written.rows.sortBy(_.getAs[Long]("_change_seq")).map(_.getAs[Long]("tenfold"))
      assert(found == found.indices.map(_ * 10L))
    }
  }

  test("records of Kafka are ordered by topic, partition and offset, also behind other columns") {
    def order(options: (String, String)*): SourceOrder = {
      val records = KafkaLikeTable.relation(options: _*)
      val value = Project(records.output.filter(_.name == "value"), records)
      SourceOrder.of(Filter(IsNotNull(value.output.head), value)).toOption.get
    }
    def positions(options: (String, String)*): Seq[String] =
      order(options: _*).positioned.positions.map(_.name)
    assert(positions("subscribe" -> "a,b") == Seq("topic", "partition", "offset"))
    assert(positions("subscribePattern" -> "a.*") == Seq("topic", "partition", "offset"))
    assert(positions("subscribe" -> "a") == Seq("partition", "offset"))
    val Positioned(plan, _, isUnique, partitions) = order("subscribe" -> "a").positioned
    assert(plan.output.map(_.name) == Seq("value", "partition", "offset") && isUnique)
    assert(partitions.map(_.name) == Seq("topic", "partition"))
    val table = LogicalRelation(new KafkaLikeRelation(spark.sqlContext))
    val ofTable = SourceOrder.of(table).toOption.get.positioned.positions
    assert(ofTable.map(_.name) == Seq("topic", "partition", "offset"))
  }

  testEach(
    "rows that wait are applied in the same order for every cut, without one of their source",
    short = 1)(Seq(11, 41), Seq(3, 41)) { sizes =>
    val rows = (1 to 40).map(i => Tick("a", i / 8L, i * 7 % 40)) :+ Tick("z", 100, 0)
    val results = sizes.map { size =>
      val stream = ticks()
      val kept =
        keep(timed(stream).repartition(2), "PARTITION BY (k), 'KEEP 2 ROWS', time => 'ts'")
      val written = runBatches(kept, stream)(rows.grouped(size).toSeq: _*)
      written.rows.filter(_.getAs[String]("k") == "a").map(_.toString).sorted
    }
    assert(results.distinct.size == 1 && results.head.size == 78)
  }
}
