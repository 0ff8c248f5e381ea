package winops.spark.execution

import java.io.File

import scala.util.Random

import org.apache.spark.SparkEnv
import org.apache.spark.scheduler.{SparkListener, SparkListenerTaskEnd}
import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.types.{DataType, LongType}
import org.apache.spark.sql.winops.testing.ListenerBus

import winops.spark.testing.{CompiledCode, KeepStreamTest, Tick}
import winops.storage.btree.PageMemory
import winops.storage.bytes.{HeapSegments, Segments}
import winops.testing.TableTests

/** Groups of tables that do not fit into memory. */
class SpillSuite extends KeepStreamTest with CompiledCode with TableTests {
  import testImplicits._

  private val policies = Seq(
    "PARTITION BY (k), esper => '#sort(2000, n)'",
    "PARTITION BY (k), 'KEEP 2000 ROWS'",
    "PARTITION BY (k), esper => '#length_batch(2000)'",
    "PARTITION BY (k), spl => 'sliding, count(400), partitioned, partitionCount(9)'")

  test("a table gives the same rows when its groups spill, and leaves no file") {
    val rows = (0 until 9000).map(n => Tick(s"${n * 7919 % 3}", n.toLong, n * 4801 % 9000))
    policies.foreach { arguments =>
      def run(): Seq[Row] =
        keep(withTime(rows.toDF()), arguments).collect().toSeq.sortBy(_.toString)
      val (expected, none) = diskBytes(run())
      assert(none == 0L)
      val (spilled, bytes) = diskBytes(spilling(run()))
      assert(spilled == expected, arguments)
      assert(bytes > 0, arguments)
      assert(temporaryFiles.isEmpty)
    }
  }

  testEach("the state of a group with many pages is read", short = 1)(
    "esper => '#time(1 day)#sort(2000, n)'",
    "esper => '#time_order(ts, 1 day)'",
    "esper => '#sort(2000, n)'") { policy =>
    val rows = (0 until 3000).map(n => Tick(s"${n % 2}", n.toLong, n * 1601 % 3000))
    withTempDir { dir =>
      val stream = ticks()
      stream.addData(rows)
      val checkpoint = dir.getCanonicalPath
      val call = s"PARTITION BY (k), $policy, time => 'ts', idle => '2 days'"
      runAll(keep(timed(stream), call), checkpoint)
      def held(): Seq[Row] =
        spark.sql(s"SELECT * FROM winops_state('$checkpoint')").collect().toSeq
      val expected = held()
      assert(expected.size >= 3000 && expected.exists(_.getAs[Any]("_leaves") != null))
      assert(spilling(held()) == expected)
    }
  }

  for ((provider, short) <- Seq(KeepStreamTest.rocksDb -> 1, KeepStreamTest.hdfs -> 0)) {
    testEach(
      s"a stream gives the same rows when its pages are unloaded, in ${provider._2.split('.').last}",
      short)(policies: _*) { arguments =>
      val rows = (0 until 9000).map(n => Tick(s"${n % 2}", n.toLong, n * 4801 % 9000))
      withSQLConf(provider) {
        def run(): Seq[String] = {
          val emitted = Seq.newBuilder[String]
          withTempDir { dir =>
            val stream = ticks()
            rows.grouped(5000).foreach { batch =>
              stream.addData(batch)
              val written = runAll(keep(timed(stream), arguments), dir.getCanonicalPath)
              emitted ++= written.rows.map(withoutTime).sorted
            }
          }
          emitted.result()
        }
        assert(spilling(run()) == run())
      }
    }
  }

  test("a task that fails leaves no file") {
    val rows = (0 until 3000).map(n => Tick("a", n.toLong, n))
    val kept = keep(rows.toDF(), "PARTITION BY (k), 'KEEP 2000 ROWS'")
    val failing = kept.selectExpr("raise_error(cast(_change_seq AS string)) AS e").where("e = 0")
    spilling(intercept[Exception](failing.collect()))
    assert(temporaryFiles.isEmpty)
  }

  /** A row without the time of the change, which is that of the micro-batch. */
  private def withoutTime(row: Row): String =
    row.schema.fieldNames.filter(_ != "_change_time").map(row.getAs[Any](_)).mkString(",")

  /** Runs with at most three segments and few pages in memory. */
  private def spilling[A](run: => A): A = {
    val settings =
      Seq("winops.testing.maxSegments" -> "3", "winops.testing.pageBytes" -> "50000")
    settings.foreach { case (key, value) => SparkEnv.get.conf.set(key, value) }
    try run
    finally settings.foreach(setting => SparkEnv.get.conf.remove(setting._1))
  }

  /** Runs and returns the bytes that tasks have spilled to disk. */
  private def diskBytes[A](run: => A): (A, Long) = {
    var bytes = 0L
    val listener = new SparkListener {
      override def onTaskEnd(end: SparkListenerTaskEnd): Unit =
        if (end.taskMetrics != null) bytes += end.taskMetrics.diskBytesSpilled
    }
    spark.sparkContext.addSparkListener(listener)
    try {
      val result = run
      ListenerBus.drain(spark.sparkContext)
      (result, bytes)
    } finally spark.sparkContext.removeSparkListener(listener)
  }

  private def temporaryFiles: Seq[File] =
    SparkEnv.get.blockManager.diskBlockManager
      .getAllFiles()
      .filter(_.getName.startsWith("temp_local"))

  test("segments are the same on the heap, after a spill, and after they were cleared") {
    val limits = Seq(0L, 1000L, 100000L, Long.MaxValue)
    for { limit <- limits; seed <- 1 to 5 } {
      val random = new Random(seed)
      val spillable = new SpillableSegments(limit)
      (1 to 3).foreach { _ =>
        val model = new HeapSegments
        drive(random, spillable, model)
        spillable.clear()
        assert((0L until 300L).forall(spillable.get(_) == null))
      }
    }
  }

  testEach("groups and their records are the same on the heap and after a spill", short = 1)(
    1,
    2,
    3) { seed =>
    for (limit <- Seq(0L, 30000L, Long.MaxValue)) {
      val random = new Random(seed)
      val groups = new SpillableGroups(new PageMemory(20000L), limit)
      val windows, waiting = Seq.fill(20)(new HeapSegments)
      val values, records = Array.fill[Array[Byte]](20)(null)
      (0 until 60).foreach { _ =>
        val group = random.nextInt(20)
        val key = keyOf(group)
        val in = groups.open(key)
        assert((in == null) == (values(group) == null))
        if (in != null) assert(in.bytes.toSeq == values(group).toSeq)
        val record = groups.records.get(key.getBytes)
        assert(Option(record).map(_.toSeq) == Option(records(group)).map(_.toSeq))
        drive(random, groups.windowSegments, windows(group))
        drive(random, groups.waitingSegments, waiting(group))
        if (random.nextInt(5) == 0) {
          groups.remove()
          groups.records.remove(key.getBytes)
          values(group) = null
          records(group) = null
        } else {
          values(group) = bytes(random)
          records(group) = bytes(random)
          groups.save(out => values(group).foreach(b => out.byte(b.toInt)))
          groups.records.put(key.getBytes, records(group))
        }
      }
    }
  }

  private def keyOf(group: Int): UnsafeRow =
    UnsafeProjection.create(Array[DataType](LongType))(InternalRow(group.toLong)).copy()

  private def bytes(random: Random): Array[Byte] =
    random.nextBytes(random.nextInt(if (random.nextInt(20) == 0) 20000 else 400))

  private def drive(random: Random, segments: Segments, model: HeapSegments): Unit = {
    (0 until 200).foreach { _ =>
      val number = random.nextInt(300).toLong
      if (random.nextInt(3) == 0) {
        segments.remove(number)
        model.remove(number)
      } else {
        val put = bytes(random)
        segments.put(number, put)
        model.put(number, put)
      }
    }
    (0L until 300L).foreach { number =>
      assert(Option(segments.get(number)).map(_.toSeq) == Option(model.get(number)).map(_.toSeq))
    }
  }
}
