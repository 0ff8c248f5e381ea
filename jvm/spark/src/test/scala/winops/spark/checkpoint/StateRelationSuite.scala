package winops.spark.checkpoint

import java.io.File
import java.sql.Timestamp

import org.apache.commons.io.FileUtils

import org.apache.spark.SparkException
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.execution.SimpleMode
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.StructType

import winops.spark.testing.{KeepStreamTest, ManyKeeps, Tick}
import winops.testing.TableTests

/** The rows that `winops_state` reads from a checkpoint are those that the query's changes imply.
  */
class StateRelationSuite extends ManyKeeps with TableTests {
  import KeepStreamTest._
  import ManyKeeps._
  import testImplicits._

  private def held(checkpoint: String, more: String): DataFrame =
    spark.sql(s"SELECT * FROM winops_state('$checkpoint'$more)")

  /** Runs a query batch by batch, and reads the rows held after the batches with these numbers.
    */
  private def check(calls: Seq[Call], after: Int*)(more: String => Unit): Unit = withTempDir {
    dir =>
      val checkpoint = dir.getCanonicalPath
      val stream = ticks()
      val written = new Written
      val query = start(manyKeeps(stream, calls), checkpoint, written)
      val ends = batches.map { batch =>
        stream.addData(batch)
        query.processAllAvailable()
        written.batchCount.toLong - 1
      }
      query.stop()
      after.foreach { end =>
        compare(checkpoint, calls, written, ends(end), batches.take(end + 1).flatten)
      }
      more(checkpoint)
  }

  private def compare(
      checkpoint: String,
      calls: Seq[Call],
      written: Written,
      batch: Long,
      come: Seq[Tick]): Unit = {
    val emitted = (0L to batch).flatMap(written.batch)
    calls.zipWithIndex.foreach { case (call, number) =>
      val changes = emitted.filter(_.getAs[Int]("keep") == number)
      val (waiting, inside) = held(checkpoint, s", batch => $batch, operator => $number")
        .select($"_window".as("window"), $"n", $"_waits")
        .collect()
        .toSeq
        .partition(_.getBoolean(2))
      val entered = changes.filter(_.getAs[String]("kind") == "insert").map(_.getAs[Int]("n"))
      val outside = come.map(_.n).toSet -- entered
      assert(inside.map(placed).distinct.size == inside.size)
      if (call.waitsInside) {
        assert((inside ++ waiting).map(_.getAs[Int]("n")).toSet == outside, call)
      } else {
        assert(inside.map(placed).toSet == content(changes), call)
        assert(waiting.map(_.getAs[Int]("n")).toSet == outside, call)
      }
    }
  }

  test("every kind of window") {
    check(all, 1) { checkpoint =>
      val many = (0 until all.size).map(n => held(checkpoint, s", operator => $n"))
      assert(many.head.select("_group").distinct().count() > 200)
      assert(many.head.where("_group.k IS NULL").count() > 0)
      assert(many.last.where("to_json(_group) LIKE '%:\"NaN\"%'").count() == 115)
      val rows =
        many(8).where("NOT _waits").orderBy("_row").select("_row", "_partition").collect().toSeq
      assert(rows.map(_.getLong(0)) == (rows.head.getLong(0) until rows.head.getLong(0) + 700))
    }
  }

  testEach("after the last batch and the one before", short = 1)(
    "RocksDB with changelog" -> Seq(rocksDb, changelog),
    "RocksDB" -> Seq(rocksDb)) { case (_, settings) =>
    withSQLConf(settings: _*)(check(few, 0, 1)(_ => ()))
  }

  test("rows leave when they are said to, if no other comes") {
    withTempDir { dir =>
      val checkpoint = dir.getCanonicalPath
      val calls = all.filter(_.arguments.contains("SECONDS")) ++ all.filter(_.waitsInside)
      val stream = ticks()
      // After the heartbeat, only its own row waits.
      stream.addData(batches.flatten ++ heartbeat(118))
      runAll(manyKeeps(stream, calls), checkpoint)
      val said = calls.indices.map { number =>
        held(checkpoint, s", operator => $number")
          .where("n >= 0 AND _leaves IS NOT NULL")
          .select($"_window".as("window"), $"n", $"_leaves")
          .collect()
          .map(row => placed(row) -> row.getTimestamp(2))
          .toMap
      }
      stream.addData(heartbeat(100000))
      val emitted = runAll(manyKeeps(stream, calls), checkpoint).rows
        .filter(row => row.getAs[String]("kind") == "delete" && row.getAs[Int]("n") >= 0)
      calls.zipWithIndex.foreach { case (call, number) =>
        val left = emitted
          .filter(_.getAs[Int]("keep") == number)
          .map(row => placed(row) -> row.getAs[Timestamp]("time"))
          .toMap
        // Rows that a batch window has emitted are not its contents any more, but are still to be
        // deleted.
        val listed =
          if (call.waitsInside) left.filter(row => said(number).contains(row._1)) else left
        assert(said(number).nonEmpty && said(number) == listed, call)
      }
    }
  }

  test("a row leaves after more reports than rows") {
    withTempDir { dir =>
      val stream = ticks()
      stream.addData(Tick("a", 100, 1))
      stream.addData(Tick("b", 200, 2))
      val spl = "spl => 'sliding, time(3600), time(1)'"
      runAll(keep(timed(stream), s"PARTITION BY (k), $spl, time => 'ts'"), dir.getCanonicalPath)
      val left = held(dir.getCanonicalPath, "").where("NOT _waits AND _leaves IS NOT NULL")
      assert(left.selectExpr("unix_seconds(_leaves)").as[Long].collect().toSeq == Seq(3700L))
    }
  }

  testEach("predicates on the group leave the rows that Spark's filter leaves", short = 1)(
    "groups, one group, and keys that are numbers" -> Seq(1, 8, 10),
    "several windows, and groups that depend on each other" -> Seq(5, 9)) { case (_, numbers) =>
    val calls = numbers.map(all)
    check(calls) { checkpoint =>
      calls.indices.foreach { number =>
        val rows = held(checkpoint, s", operator => $number")
        val copied = rows.coalesce(1).localCheckpoint()
        predicatesOf(rows).foreach { predicate =>
          def texts(read: DataFrame) =
            read.where(predicate).selectExpr("to_json(struct(*))").as[String].collect().sorted
          assert(texts(rows).toSeq == texts(copied).toSeq, (number, predicate))
        }
      }
    }
  }

  /** Predicates on the key of a relation, for keys that it has and for others. */
  private def predicatesOf(rows: DataFrame): Seq[String] = {
    def always = Seq("_partition = 1", "_group IS NULL", "_group IS NOT NULL AND n > 50")
    rows.schema("_group").dataType.asInstanceOf[StructType].fields.map(_.name).toSeq match {
      case Seq("k") =>
        Seq(
          "_group.k = 'group 7'",
          "'group 7' <=> _group.k",
          "_group.k = 'group 7' AND n > 50",
          "_group.k = 'group 7' OR n > 50",
          "_group.k IS NULL",
          "_group.k <=> NULL",
          "_group.k = 'none'",
          "_group.k IN ('group 7', 'group 8', NULL, 'none')",
          s"_group.k IN (${(0 to 20).map(i => s"'group $i'").mkString(", ")})",
          "_group.k IN ('group 7', 'group 8') AND _group.k > 'group 7'",
          "_group.k = 'group 7' AND _group.k = 'group 8'",
          "_group.k LIKE 'group 1%' AND length(_group.k) = 8",
          "_group.k LIKE 'group 1%' AND rand() < 2",
          "_group = named_struct('k', 'group 7')",
          "_group.k = (SELECT 'group 7')",
          "_group.k = 'group 7' AND assert_true(_group.k = 'group 7') IS NULL") ++ always
      case Seq(number) =>
        val key = s"_group.`$number`"
        Seq(
          s"$key = 0D",
          s"$key = -0D",
          s"$key = 'NaN'",
          s"$key IN (0, 3)",
          s"$key = 3") ++ always
      case _ => always
    }
  }

  test("a predicate on the group reads its partition and no entry of another group") {
    withTempDir { dir =>
      val checkpoint = dir.getCanonicalPath
      val stream = ticks()
      stream.addData(batches.flatten)
      withSQLConf(SQLConf.SHUFFLE_PARTITIONS.key -> "5") {
        runAll(manyKeeps(stream, few.take(1)), checkpoint)
      }
      def of(predicate: String) = held(checkpoint, "").where(predicate)
      val found = of("_group.k = 'group 7'")
      val partitions = held(checkpoint, "").rdd.getNumPartitions
      assert(partitions == 5 && found.rdd.getNumPartitions == 1)
      assert(of("_group.k IN ('group 7', 'group 8')").rdd.getNumPartitions <= 2)
      assert(of("_group.k > 'group 7'").rdd.getNumPartitions == partitions)
      val shown = found.queryExecution.explainString(SimpleMode)
      assert(shown.contains("GroupFilters: [(_group.`k` IS NOT NULL), (_group.`k` = 'group 7')]"))

      val rows = found.collect().toSeq
      assert(rows.nonEmpty)
      (0 until partitions).filterNot(Set(rows.head.getAs[Int]("_partition"))).foreach { other =>
        FileUtils.deleteDirectory(new File(dir, s"state/0/$other"))
      }
      assert(of("_group.k = 'group 7'").collect().toSeq == rows)
      val _ = intercept[SparkException](of("_group.k > 'group 7'").collect())
    }
  }

  test("the error says what cannot be read") {
    withTempDir { dir =>
      val checkpoint = dir.getCanonicalPath
      def refused(query: => Any): (String, String) = {
        val error = intercept[org.apache.spark.sql.AnalysisException](query)
        (error.getCondition, error.getMessage)
      }
      assert(refused(held(checkpoint, ""))._1 == "WINOPS_CHECKPOINT_NOT_FOUND")
      val stream = ticks()
      stream.addData(batches.head)
      runAll(manyKeeps(stream, few), checkpoint)
      val (several, operators) = refused(held(checkpoint, ""))
      assert(several == "WINOPS_CHECKPOINT_OPERATOR")
      assert(operators.contains("1 [KEEP 8 SECONDS], 2 [#sort(3, n desc)]"))
      assert(refused(held(checkpoint, ", operator => 9"))._1 == several)
      val (noBatch, batches_) = refused(held(checkpoint, ", batch => 77"))
      assert(noBatch == "WINOPS_CHECKPOINT_BATCH" && batches_.contains("0 to 1"))
      assert(refused(held(checkpoint, ", batch => -1"))._1 == "WINOPS_ARGUMENT.VALUE")
      assert(refused(held(checkpoint, ", of => 1"))._1 == "WINOPS_ARGUMENT.UNKNOWN")
      assert(refused(spark.sql("SELECT * FROM winops_state()"))._1 == "WINOPS_ARGUMENT.MISSING")
    }
    withTempDir { dir =>
      val stream = ticks()
      stream.addData(batches.head)
      val numbered =
        timed(stream).selectExpr("*", "row_number() OVER (PARTITION BY k ORDER BY ts, n) AS i")
      runAll(
        numbered.selectExpr("lag(i) OVER (PARTITION BY n ORDER BY ts, k)"),
        dir.getCanonicalPath)
      val error = intercept[org.apache.spark.sql.AnalysisException] {
        held(dir.getCanonicalPath, "")
      }
      assert(error.getMessage.contains("[OVER (PARTITION BY n ORDER BY ts, k ASC NULLS FIRST)]"))
    }
    withTempDir { dir =>
      val stream = ticks()
      stream.addData(batches.head)
      runAll(timed(stream).dropDuplicates("n"), dir.getCanonicalPath)
      val error = intercept[org.apache.spark.sql.AnalysisException] {
        held(dir.getCanonicalPath, "")
      }
      assert(error.getCondition == "WINOPS_CHECKPOINT_NO_KEEP")
    }
  }
}
