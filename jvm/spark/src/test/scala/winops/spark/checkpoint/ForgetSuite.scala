package winops.spark.checkpoint

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, File}
import java.nio.charset.StandardCharsets.ISO_8859_1
import java.nio.file.Files
import java.util.zip.ZipInputStream

import scala.jdk.CollectionConverters._
import scala.util.Random

import org.apache.commons.io.FileUtils

import org.apache.spark.sql.{AnalysisException, DataFrame, Row}
import org.apache.spark.sql.execution.streaming.runtime.MemoryStream
import org.apache.spark.sql.functions.{col, lit, struct, to_json}
import org.apache.spark.sql.internal.SQLConf

import winops.spark.testing.{KeepStreamTest, ManyKeeps, Tick}
import winops.testing.TableTests

/** A query whose groups are removed from its checkpoint goes on as if their rows had not arrived.
  */
class ForgetSuite extends ManyKeeps with TableTests {
  import ForgetSuite._
  import KeepStreamTest._
  import ManyKeeps._

  private def forget(from: File, to: File, where: String, operator: String = ""): Seq[Row] = {
    val paths = Map("from" -> from.getPath, "to" -> to.getPath, "where" -> where)
    spark
      .sql(s"SELECT * FROM winops_forget(:from, :to, :where$operator)", paths)
      .collect()
      .toSeq
  }

  private def state(checkpoint: File, operator: Int): DataFrame =
    spark.sql(s"SELECT * FROM winops_state('$checkpoint', operator => $operator)")

  private def texts(rows: Seq[Row]): Seq[String] = rows.map(_.toString).sorted

  /** Compares a query that forgets groups after its first rows with one that has never had their
    * rows.
    *
    * @param query
    *   creates a query of so many operators, all grouped by `k`
    */
  private def check(operators: Int, keys: Set[String])(
      query: MemoryStream[Tick] => DataFrame): Unit = withTempDir { dir =>
    val names = (keys - null).map(key => s"'$key'").mkString(", ")
    val where = s"k IN ($names)" + (if (keys(null)) " OR k IS NULL" else "")
    val (first, later) = (batches.head, Seq(batches(1), heartbeat(100000)))
    // The watermark is the same without the rows.
    assert(first.filterNot(row => keys(row.k)).map(_.sec).max == first.map(_.sec).max)
    def run(checkpoint: File, goesOnWith: File)(rows: Seq[Tick])(between: => Unit): Seq[Row] = {
      val stream = ticks()
      stream.addData(rows)
      runAll(query(stream), checkpoint.getPath)
      between
      runEach(query(stream), stream, later, goesOnWith.getPath).rows
    }
    val (from, to, never) = (new File(dir, "from"), new File(dir, "to"), new File(dir, "never"))

    /** The numbers of groups and rows of each operator. */
    def sizes(checkpoint: File): Seq[(Long, Long)] =
      forget(checkpoint, new File(dir, s"${checkpoint.getName} copied"), "k = 'nobody'").map {
        result =>
          assert(result.toSeq.slice(1, 3) == Seq(0L, 0L))
          (result.getLong(3), result.getLong(4))
      }
    var ofOthers = Seq.empty[(Long, Long)]
    val without = run(never, never)(first.filterNot(row => keys(row.k))) {
      ofOthers = sizes(never)
    }
    val results = run(from, to)(first) {
      val ofAll = sizes(from)
      val forgotten = forget(from, to, where)
      assert(forgotten.map(_.getLong(0)) == (0 until operators).map(_.toLong))
      assert(forgotten.map(result => (result.getLong(3), result.getLong(4))) == ofOthers)
      forgotten.lazyZip(ofAll).foreach { case (result, (groups, rows)) =>
        assert(result.getLong(1) + result.getLong(3) == groups)
        assert(result.getLong(2) + result.getLong(4) == rows)
        assert(result.getLong(1) > 0)
      }
      (0 until operators).foreach { number =>
        def held(checkpoint: File) = texts(state(checkpoint, number).collect().toSeq)
        def isForgotten(row: Row): Boolean = keys(row.getAs[Row]("_group").getString(0))
        val expected = state(from, number).collect().toSeq.filterNot(isForgotten)
        assert(held(to) == texts(expected))
      }
    }
    assert(texts(results) == texts(without))
  }

  private val random = new Random(36)

  /** A third of the groups, and that of NULL. */
  private def someKeys(hasNull: Boolean): Set[String] = {
    val keys = batches.flatten.map(_.k).distinct
    random.shuffle(keys.filter(_ != null)).take(keys.size / 3).toSet ++ Option.when(hasNull)(null)
  }

  private val stores = Seq(
    "RocksDB with changelogs, in checkpoint format 2" -> Seq(rocksDb, changelog, formatTwo),
    "HDFS" -> Seq(hdfs),
    "RocksDB" -> Seq(rocksDb))

  private val grouped = all.filter { call =>
    call.arguments.contains("PARTITION BY (k)") && !call.arguments.contains("partitionCount")
  }

  testEach("windows of every kind go on without the groups", short = 1)(stores: _*) {
    case (_, settings) =>
      withSQLConf(settings: _*) {
        assert(grouped.size == 8)
        grouped.grouped(4).foreach { calls =>
          check(calls.size, someKeys(hasNull = true))(manyKeeps(_, calls))
        }
      }
  }

  test("the aggregates of the other groups go on to the bit") {
    def of(functions: String) =
      s"output => 'agg', aggregates => TABLE(SELECT $functions FROM input_of_keep)"
    val sums = "sum(n / 7) AS total, avg(n * 0.1D) AS mean, max(n) AS last, " +
      "approx_count_distinct(n) AS about, percentile_approx(n, 0.5) AS middle"
    val calls = Seq(
      s"PARTITION BY (k) ORDER BY (n), 'KEEP 290 ROWS', time => 'ts', apply => 'arrival', ${of(sums)}",
      s"PARTITION BY (k) ORDER BY (n), 'KEEP 5 SECONDS', time => 'ts', idle => '3 seconds', ${of(sums)}",
      s"PARTITION BY (k) ORDER BY (n), esper => '#sort(3, n desc)', time => 'ts', ${of(sums)}")
    check(calls.size, someKeys(hasNull = false)) { stream =>
      calls.zipWithIndex
        .map { case (call, number) =>
          keep(timed(stream), call).select(lit(number), to_json(struct(col("*"))))
        }
        .reduce(_.union(_))
    }
  }

  testEach("window functions go on without the groups", short = 1)(stores: _*) {
    case (_, settings) =>
      withSQLConf(settings: _*) {
        check(1, someKeys(hasNull = true)) { stream =>
          timed(stream).createOrReplaceTempView("ticks")
          spark.sql(
            s"SELECT k, n, sum(n / 7) OVER ($Over ROWS 3 PRECEDING) AS total, " +
              s"row_number() OVER ($Over) AS number, lead(n, 2) OVER ($Over) AS next, " +
              s"lag(n) OVER ($Over) AS previous, collect_list(n) OVER ($Over) AS all, " +
              "avg(n / 3) OVER (PARTITION BY k ORDER BY ts RANGE INTERVAL 4 SECONDS PRECEDING) " +
              "AS mean FROM ticks")
        }
      }
  }

  /** A checkpoint of `keep`s over four groups, after two micro-batches. */
  private def started(dir: File, calls: Seq[String]): File = {
    val checkpoint = new File(dir, "from")
    val stream = ticks()
    val kept = calls.map(keep(timed(stream), _).select("_change_type", "k", "n"))
    Seq(
      Seq(Tick("a", 1, 1), Tick("b", 2, 2), Tick(Secret, 3, 3)),
      Seq(Tick(Secret, 4, 4), Tick(null, 5, 5))).foreach { batch =>
      stream.addData(batch)
      runAll(kept.reduce(_.union(_)), checkpoint.getPath)
    }
    checkpoint
  }

  private val perGroup = "PARTITION BY (k) ORDER BY (n), 'KEEP 9 ROWS'"

  /** A checkpoint that no test changes. */
  private lazy val unchanged: File = {
    val folder = Files.createTempDirectory("forget").toFile
    val checkpoint = started(folder, Seq(perGroup))
    FileUtils.forceDeleteOnExit(folder)
    checkpoint
  }

  testEach("no file of the new checkpoint has the key of a group", short = 2)(stores: _*) {
    case (_, settings) =>
      withSQLConf(settings: _*) {
        withTempDir { dir =>
          val from = started(dir, Seq(perGroup))
          assert(contents(from).exists(_.contains(Secret)))
          val to = new File(dir, "to")
          assert(forget(from, to, s"k = '$Secret'") == Seq(Row(0L, 1L, 2L, 3L, 3L)))
          assert(!contents(to).exists(_.contains(Secret)))
          // Only the state after the last micro-batch is in the new checkpoint.
          val earlier = new File(from, "commits").list().count(_.forall(_.isDigit)) - 2
          assert(earlier >= 0)
          def stateOf(folder: File) =
            spark.sql(s"SELECT * FROM winops_state('$folder', batch => $earlier)").collect()
          assert(stateOf(from).nonEmpty)
          val error = intercept[AnalysisException](stateOf(to))
          assert(error.getCondition == "WINOPS_CHECKPOINT_BATCH")
        }
      }
  }

  test("one operator can lose groups alone, and a condition can name the fields of _group") {
    withTempDir { dir =>
      val byParity = "PARTITION BY (n % 2) ORDER BY (n), 'KEEP 9 ROWS'"
      val from = started(dir, Seq(perGroup, byParity))
      def removed(where: String, operator: String = ""): Seq[Seq[Long]] = {
        val to = Files.createTempDirectory(dir.toPath, "to").toFile
        forget(from, to, where, operator).map(_.toSeq.map(_.asInstanceOf[Long]))
      }
      val byKey = state(from, 0).columns.exists(_ == "_group") &&
        state(from, 0).select("_group.*").columns.toSeq == Seq("k")
      val (ofKeys, ofParity) = if (byKey) (0L, 1L) else (1L, 0L)
      def of(operator: Long, results: Seq[Seq[Long]]): Seq[Long] =
        results.find(_.head == operator).get.tail
      val keys = removed("_group.k IN ('a', 'b')", s", operator => $ofKeys")
      assert(of(ofKeys, keys) == Seq(2L, 2L, 2L, 3L))
      assert(of(ofParity, keys) == Seq(0L, 0L, 2L, 5L))
      // NULL removes nothing.
      assert(of(ofKeys, removed("k > 'a'", s", operator => $ofKeys")) == Seq(2L, 3L, 2L, 2L))
      assert(of(ofKeys, removed("k IS NULL", s", operator => $ofKeys")) == Seq(1L, 1L, 3L, 4L))
      assert(of(ofKeys, removed("k = 'z'", s", operator => $ofKeys")) == Seq(0L, 0L, 4L, 5L))
      val parity = removed("`(n % 2)` = 0", s", operator => $ofParity")
      assert(of(ofParity, parity) == Seq(1L, 2L, 1L, 3L))
      val refused = intercept[AnalysisException](removed("k = 'a'"))
      assert(refused.getCondition == "WINOPS_FORGET_CONDITION")
      assert(
        intercept[AnalysisException](removed("k = 'a'", ", operator => 7")).getCondition ==
          "WINOPS_CHECKPOINT_OPERATOR")
    }
  }

  /** Runs a query over rows whose keys differ in their case.
    *
    * @param check
    *   gets a function that returns the numbers of groups and rows that a condition removes
    */
  private def afterMixedCase(query: DataFrame => DataFrame)(
      check: (String => (Long, Long)) => Unit): Unit = withTempDir { dir =>
    val from = new File(dir, "from")
    val stream = ticks()
    stream.addData(Tick("Bob", 1, 1), Tick("anna", 2, 2), Tick("bob", 3, 3), Tick(null, 4, 4))
    val _ = runAll(query(timed(stream)), from.getPath)
    check { where =>
      val to = Files.createTempDirectory(dir.toPath, "to").toFile
      val result = forget(from, to, where).head
      (result.getLong(1), result.getLong(2))
    }
  }

  private def ignoringCase(df: DataFrame): DataFrame =
    df.withColumn("k", col("k").cast("string collate UTF8_LCASE"))

  private val collated = for {
    ansi <- Seq("true", "false")
    (name, query) <- Seq[(String, DataFrame => DataFrame)](
      "keep" -> (df => keep(ignoringCase(df), perGroup)),
      "OVER" -> { df =>
        ignoringCase(df).createOrReplaceTempView("ticks")
        spark.sql(s"SELECT k, n, sum(n) OVER ($Over ROWS 3 PRECEDING) AS total FROM ticks")
      })
  } yield (s"$name, ANSI $ansi", ansi, query)

  testEach("a collated key is compared with strings by its collation", short = 1)(collated: _*) {
    case (_, ansi, query) =>
      withSQLConf(SQLConf.ANSI_ENABLED.key -> ansi) {
        val ofBob = Seq(
          "k = 'Bob'",
          "'BOB' = k",
          "k <=> 'bob'",
          "k IN ('bOb', 'nobody')",
          "_group.k = 'Bob'",
          "k > 'Anna'",
          "k >= 'b' AND k < 'C'",
          "k = upper('bob')",
          "k = 'boB' COLLATE UTF8_LCASE")
        val ofOthers = Seq("k <> 'Bob'", "k IS NULL", "k = 'nobody'", "k IN ('bob', 'ANNA')")
        afterMixedCase(query) { removed =>
          val both = ofBob.map(removed)
          assert(both.map(_._1) == ofBob.map(_ => 1L))
          assert(ofOthers.map(removed(_)._1) == Seq(1L, 1L, 0L, 2L))
          assert(both.head._2 == 2)
        }
      }
  }

  test("a computed key of a collation is compared with the bytes of its collation key") {
    val key = "`collate(k, UTF8_LCASE)`"
    val query =
      keep(_: DataFrame, "PARTITION BY (k COLLATE UTF8_LCASE) ORDER BY (n), 'KEEP 9 ROWS'")
    afterMixedCase(query) { removed =>
      val both =
        Seq(s"$key = X'626F62'", s"_group.$key IN (X'626F62', X'00')", s"$key IS NOT NULL").map(
          removed)
      assert(both == Seq((1L, 2L), (1L, 2L), (2L, 3L)))
      Seq(
        s"$key = 'bob'",
        s"$key IN ('bob' COLLATE UTF8_LCASE)",
        s"lower($key) = 'bob'",
        s"_group.$key = 'bob'").foreach { where =>
        val error = intercept[AnalysisException](removed(where))
        assert(error.getCondition == "WINOPS_FORGET_CONDITION", where)
        assert(error.getMessageParameters.get("reason").contains("X'626F62'"), where)
      }
    }
  }

  test("functions of a collated key are refused by name") {
    afterMixedCase(df => keep(ignoringCase(df), perGroup)) { removed =>
      Seq(
        "lower(k) = 'bob'",
        "k LIKE 'B%'",
        "k || 'x' = 'bobx'",
        "_group = named_struct('k', 'bob')").foreach { where =>
        val error = intercept[AnalysisException](removed(where))
        assert(error.getCondition == "WINOPS_FORGET_CONDITION", where)
        assert(error.getMessageParameters.get("reason").contains("collation key"), where)
      }
    }
  }

  test("a BINARY column is compared with strings as elsewhere in SQL") {
    def query(df: DataFrame): DataFrame = keep(
      df.withColumn("b", col("k").cast("binary")),
      "PARTITION BY (b) ORDER BY (n), 'KEEP 9 ROWS'")
    afterMixedCase(query) { removed =>
      val each = Seq("b = 'Bob'", "b = X'626f62'", "startswith(b, 'B')").map(removed)
      assert(each == Seq((1L, 1L), (1L, 1L), (1L, 1L)))
    }
  }

  /** Asserts that a call fails and writes nothing, and returns its error. */
  private def refusal(from: File, where: String): AnalysisException = {
    val to = new File(from.getParentFile, "refused")
    val error = intercept[AnalysisException](forget(from, to, where))
    assert(!to.exists)
    error
  }

  testEach("a condition that does not select groups is refused by name")(
    "n = 1" -> "n",
    "K = 'a'" -> "K",
    "rand() < 0.5" -> "deterministic",
    "now() > timestamp'2020-01-01'" -> "deterministic",
    "k IN (SELECT 'a')" -> "SELECT",
    "EXISTS (SELECT 1 FROM range(2))" -> "subquery",
    "max(k) = 'a'" -> "aggregate",
    "true" -> "a column",
    "k" -> "STRING",
    "k =" -> "expression",
    "" -> "expression") { case (where, reason) =>
    val error = refusal(unchanged, where)
    assert(error.getCondition == "WINOPS_FORGET_CONDITION")
    assert(error.getMessageParameters.get("columns") == "k")
    assert(error.getMessageParameters.get("reason").contains(reason))
  }

  test("a condition that fails for a group writes nothing") {
    withTempDir { dir =>
      val to = new File(dir, "to")
      val error = intercept[Exception](forget(unchanged, to, "CAST(k AS INT) = 1"))
      assert(conditionsOf(error).contains("CAST_INVALID_INPUT"))
      assert(!to.exists)
    }
  }

  testEach("windows whose groups cannot be told apart are refused")(
    "WITH SINGLE PARTITION ORDER BY (n), 'KEEP 9 ROWS'" -> "no group key",
    "PARTITION BY (k) ORDER BY (n), spl => 'sliding, count(3), partitioned, partitionCount(2)'" ->
      "depend on each other") { case (call, reason) =>
    withTempDir { dir =>
      val error = refusal(started(dir, Seq(call)), "k = 'a'")
      assert(error.getCondition == "WINOPS_FORGET_WINDOW")
      assert(error.getMessageParameters.get("reason").contains(reason))
    }
  }

  test("the checkpoint of a running query is neither changed nor copied") {
    withTempDir { dir =>
      val from = new File(dir, "from")
      val stream = ticks()
      stream.addData(Tick("a", 1, 1))
      val query = start(keep(timed(stream), perGroup), from.getPath, new Written)
      try {
        query.processAllAvailable()
        val error = refusal(from, "k = 'a'")
        assert(error.getCondition == "WINOPS_CHECKPOINT_RUNNING")
        assert(error.getMessage.contains(query.id.toString))
        val moving = intercept[AnalysisException] {
          spark.sql(s"SELECT * FROM winops_repartition('$from', '$dir/to', 3)").collect()
        }
        assert(moving.getCondition == "WINOPS_CHECKPOINT_RUNNING")
      } finally query.stop()
      assert(forget(from, new File(dir, "to"), "k = 'a'") == Seq(Row(0L, 1L, 1L, 0L, 0L)))
    }
  }
}

private object ForgetSuite {
  private val Secret = "erin-7f3a-9c41"

  private val Over = "PARTITION BY k ORDER BY ts, n"

  /** The bytes of the files of a folder, and of those in ZIP files, as characters. */
  private def contents(folder: File): Seq[String] =
    FileUtils.listFiles(folder, null, true).asScala.toSeq.flatMap { file =>
      val bytes = Files.readAllBytes(file.toPath)
      val inside = if (file.getName.endsWith(".zip")) unzipped(bytes) else Nil
      (bytes +: inside).map(new String(_, ISO_8859_1))
    }

  private def unzipped(bytes: Array[Byte]): Seq[Array[Byte]] = {
    val zip = new ZipInputStream(new ByteArrayInputStream(bytes))
    Iterator
      .continually(zip.getNextEntry)
      .takeWhile(_ != null)
      .map { _ =>
        val out = new ByteArrayOutputStream
        zip.transferTo(out)
        out.toByteArray
      }
      .toSeq
  }
}
