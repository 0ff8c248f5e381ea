package winops.spark.source

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{IsNotNull, UnsafeProjection}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LocalRelation, LogicalPlan, Project}
import org.apache.spark.sql.functions.expr
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.kafka010.KafkaLikeTable
import org.apache.spark.unsafe.types.UTF8String

import winops.spark.plan.Keep
import winops.spark.testing.{KeepStreamTest, Tick}
import winops.testing.{Longer, TableTests}

/** Rows with equal times and `order_by` from several partitions of a stream's source: the result
  * does not depend on the assignment of rows to micro-batches.
  */
class SourcePartitionsSuite extends KeepStreamTest with TableTests {
  import testImplicits._

  private val arguments = "PARTITION BY (k), 'KEEP 2 ROWS', time => 'ts'"

  /** The rows of two streams, all of the same time. Their bytes sort in another order. */
  private val first = (12 to 7 by -1).map(n => Tick(s"k${n % 2}", 5, n))
  private val second = (6 to 1 by -1).map(n => Tick(s"k${n % 2}", 5, n))
  private val last = Seq(Tick("z", 100, 0))

  /** The rows of each stream in each micro-batch. */
  private val cuts: Seq[Seq[(Seq[Tick], Seq[Tick])]] = Seq(
    Seq((first ++ last, second ++ last)),
    Seq((Nil, second), (first, Nil), (last, last)),
    Seq((first, Nil), (Nil, second), (last, last)),
    Seq(
      (first.take(2), second.take(5)),
      (Nil, second.drop(5)),
      (first.drop(2), Nil),
      (last, last)))

  private def described(rows: Seq[Row]): Seq[String] = rows
    .filter(_.getAs[String]("k") != "z")
    .map(row => Seq("_change_seq", "_change_type", "k", "n").map(row.getAs[Any](_)).mkString(" "))
    .sorted

  /** The output of a query over two streams that is started anew for each micro-batch. */
  private def runCut(cut: Seq[(Seq[Tick], Seq[Tick])])(
      query: (DataFrame, DataFrame) => DataFrame): Seq[Row] = {
    val (one, other) = (ticks(), ticks())
    val written = new Written
    withTempDir { checkpoint =>
      cut.foreach { case (ofOne, ofOther) =>
        one.addData(ofOne)
        other.addData(ofOther)
        val both = query(withTime(one.toDF()), withTime(other.toDF()))
        runAll(both, checkpoint.getCanonicalPath, written)
      }
    }
    written.rows
  }

  private def onTable(arguments: String): Seq[Row] =
    keep(withTime(first.toDF()).union(withTime(second.toDF())), arguments).collect().toSeq

  /** The changes of group k0, for the rows 12, 10, 8, 6, 4 and 2. */
  private val changesOfEven = Seq(
    "0 insert k0 12",
    "1 insert k0 10",
    "2 insert k0 8",
    "3 delete k0 12",
    "4 insert k0 6",
    "5 delete k0 10",
    "6 insert k0 4",
    "7 delete k0 8",
    "8 insert k0 2",
    "9 delete k0 6")

  private val unions = Map[String, (DataFrame, DataFrame) => DataFrame](
    "DataFrames" -> { (one, other) =>
      keep(one.union(other).withWatermark("ts", "0 seconds"), arguments)
    },
    "WITH clause" -> { (one, other) =>
      one.withWatermark("ts", "0 seconds").createOrReplaceTempView("first_stream")
      other.withWatermark("ts", "0 seconds").createOrReplaceTempView("second_stream")
      spark.sql(
        "WITH renamed AS (SELECT k, ts, n AS m FROM first_stream UNION ALL " +
          "SELECT k, ts, n FROM second_stream), both AS (SELECT k, ts, m AS n FROM renamed) " +
          s"SELECT * FROM keep(TABLE(both) $arguments)")
    },
    "view with a WITH clause" -> { (one, other) =>
      one.withWatermark("ts", "0 seconds").createOrReplaceTempView("first_stream")
      other.withWatermark("ts", "0 seconds").createOrReplaceTempView("second_stream")
      spark.sql(
        "CREATE OR REPLACE TEMPORARY VIEW both_streams AS WITH both AS (SELECT * FROM " +
          "first_stream UNION ALL SELECT * FROM second_stream) SELECT * FROM both")
      spark.sql(s"SELECT * FROM keep(TABLE(both_streams) $arguments)")
    })

  unions.foreach { case (name, union) =>
    val tags = Longer.unless(name != "WITH clause")
    test(s"streams of a union, in any micro-batches and after restarts: $name", tags: _*) {
      val expected = described(onTable(arguments))
      assert(expected.filter(_.contains("k0")) == changesOfEven)
      // For the other unions, one cut shows if the operator receives the partitions.
      val tried = if (name == "DataFrames") cuts else cuts.slice(1, 2)
      tried.foreach { cut =>
        val found = runCut(cut) { (one, other) =>
          val both = union(one, other)
          assert(both.columns.toSeq.takeRight(3) == Seq("k", "ts", "n"))
          both
        }
        assert(described(found) == expected, cut)
      }
    }
  }

  testEach("every output of a union's window, through operators that make new rows", short = 1)(
    "output => 'withColumns', aggregates => TABLE(SELECT collect_list(n) AS all_n FROM " +
      "input_of_keep GROUP BY k, ts, n)",
    "output => 'agg', aggregates => TABLE(SELECT collect_list(n) AS all_n FROM input_of_keep)",
    "output => 'snapshots'") { output =>
    def made(df: DataFrame): DataFrame =
      df.unpivot(Array($"k", $"ts"), Array($"n", ($"n" * 100).as("hundredfold")), "kind", "n")
    def texts(rows: Seq[Row]): Seq[String] = rows.map(_.toString).filter(!_.contains("z")).sorted
    val call = s"PARTITION BY (k), 'KEEP 3 ROWS', time => 'ts', $output"
    val expected =
      keep(made(withTime(first.toDF())).union(made(withTime(second.toDF()))), call)
    val found = runCut(cuts(1)) { (one, other) =>
      keep(made(one).union(made(other)).withWatermark("ts", "0 seconds"), call)
    }
    assert(texts(found) == texts(expected.collect().toSeq))
  }

  test("a window over a union is joined with itself and kept again") {
    val (one, other) = (ticks(), ticks())
    val both = withTime(one.toDF()).union(withTime(other.toDF())).withWatermark("ts", "0 seconds")
    val kept = keep(both, arguments).where("_change_type = 'insert'")
    val renamed = kept.select($"_change_time".as("at"), $"k".as("key"), $"n".as("m"))
    val joined = kept.join(renamed, expr("k = key AND _change_time = at AND n = m"))
    val again = keep(
      kept.select($"_change_time".as("ts"), $"k", $"n"),
      "PARTITION BY (k) ORDER BY (n), 'KEEP 1 ROW', time => 'ts'")
    Seq(joined, again).foreach { df =>
      one.addData(first)
      other.addData(second ++ last)
      one.addData(last)
      val written = new Written
      withTempDir(dir => runAll(df.select("k", "n"), dir.getCanonicalPath, written))
      val found = written.rows.filter(_.getString(0) != "z").map(_.getInt(1)).toSet
      assert(found == (first ++ second).map(_.n).toSet)
    }
  }

  test("a definition whose plan a window takes in is not read a second time") {
    val (one, other) = (ticks(), ticks())
    val kept = unions("WITH clause")(withTime(one.toDF()), withTime(other.toDF()))
    assert(kept.queryExecution.analyzed.collectLeaves().count(_.isStreaming) == 2)
  }

  test("a definition of a stream that nothing uses is not read") {
    timed(ticks()).createOrReplaceTempView("first_stream")
    timed(ticks()).createOrReplaceTempView("second_stream")
    val kept = spark.sql(
      "WITH unused AS (SELECT * FROM first_stream), " +
        "both AS (SELECT * FROM first_stream UNION ALL SELECT * FROM second_stream) " +
        s"SELECT * FROM keep(TABLE(both) $arguments)")
    assert(kept.queryExecution.analyzed.collectLeaves().count(_.isStreaming) == 2)
  }

  test("without a way for the partition, ties are ordered by the bytes of the rows") {
    val (one, other) = (ticks(), ticks())
    val mapped = one.toDS().union(other.toDS()).map(identity).toDF()
    val call = keep(withTime(mapped).withWatermark("ts", "0 seconds"), arguments)
    val keeps = call.queryExecution.analyzed.collect { case keep: Keep => keep }
    assert(keeps.map(keep => (keep.followsSource, keep.sourcePartition)) == Seq((false, None)))
  }

  test("waiting rows of a union are read from the state, and moved to other partitions") {
    withTempDir { folder =>
      val (one, other) = (ticks(), ticks())
      val written = new Written
      val query = () => unions("DataFrames")(withTime(one.toDF()), withTime(other.toDF()))
      other.addData(second)
      runAll(query(), s"$folder/before", written)
      val held = spark.sql(s"SELECT * FROM winops_state('$folder/before')")
      val waiting = held.where("_waits").orderBy("n").select("k", "n").as[(String, Int)].collect()
      assert(waiting.toSeq == second.reverse.map(row => (row.k, row.n)))
      assert(held.columns.toSeq.takeRight(4) == Seq("_waits", "k", "ts", "n"))
      spark
        .sql(s"SELECT * FROM winops_repartition('$folder/before', '$folder/after', 5)")
        .collect()
      one.addData(first ++ last)
      other.addData(last)
      withSQLConf(SQLConf.SHUFFLE_PARTITIONS.key -> "5") {
        runAll(query(), s"$folder/after", written)
      }
      assert(described(written.rows) == described(onTable(arguments)))
    }
  }

  test("partitions of Kafka are ordered by topic, then by number") {
    val source = records("subscribePattern")
    val value = Project(source.output.filter(_.name == "value"), source)
    val (plan, partition) =
      SourcePartitions.of(Filter(IsNotNull(value.output.head), value), Map.empty).toOption.get.get
    assert(plan.output.map(_.name) == Seq("value", partition.name))
    val partitions =
      for (topic <- Seq("a", "a.b", "ab"); number <- Seq(0, 1, 255, 256, 70000))
        yield (topic, number)
    def bytesOf(topic: String, number: Int): Array[Byte] = {
      val row = InternalRow.fromSeq(source.output.map {
        case column if column.name == "topic" => UTF8String.fromString(topic)
        case column if column.name == "partition" => number
        case _ => null
      })
      val computed = plan.collectFirst {
        case Project(columns, leaf) if leaf == source => columns.last
      }.get
      UnsafeProjection.create(Seq(computed), source.output)(row).getBinary(0)
    }
    val bytes = partitions.map { case (topic, number) => bytesOf(topic, number) }
    bytes.zip(bytes.tail).foreach { case (one, next) =>
      assert(java.util.Arrays.compareUnsigned(one, next) < 0)
    }
  }

  test("a source with one partition has no column for it") {
    def columnOf(plan: LogicalPlan) = SourcePartitions.of(plan, Map.empty).toOption.get
    assert(columnOf(LocalRelation(records("subscribe").output)).isEmpty)
    assert(columnOf(ticks().toDF().queryExecution.analyzed).isEmpty)
    assert(columnOf(records("subscribe")).nonEmpty)
  }

  private def records(option: String): LogicalPlan = KafkaLikeTable.relation(option -> "a")
}
