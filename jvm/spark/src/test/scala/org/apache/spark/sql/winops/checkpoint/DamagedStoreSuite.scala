package org.apache.spark.sql.winops.checkpoint

import java.io.File

import scala.jdk.CollectionConverters._

import org.apache.commons.io.FileUtils

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.execution.streaming.state.{ReadStateStore, StateStore}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{DataType, LongType, StringType}
import org.apache.spark.sql.winops.testing.{ChangedStores, TaskTest}
import org.apache.spark.unsafe.types.UTF8String

import winops.spark.state.StateGroupStore
import winops.spark.testing.{KeepStreamTest, Tick}
import winops.storage.buckets.Bucket
import winops.storage.bytes.{ByteReader, ByteWriter, CorruptStateException}
import winops.testing.Longer

/** State store entries with pointers outside of their rows. */
class DamagedStoreSuite extends KeepStreamTest with TaskTest {
  import ChangedStores._
  import DamagedStoreSuite._
  import KeepStreamTest._
  import testImplicits._

  private val withoutReports =
    SQLConf.STATE_STORE_COORDINATOR_REPORT_SNAPSHOT_UPLOAD_LAG.key -> "false"

  Seq("HDFS" -> hdfs, "RocksDB" -> rocksDb).foreach { case (name, provider) =>
    val tags = Longer.unless(provider == rocksDb)
    test(s"what points outside of an entry is not followed, in a store of $name's", tags: _*) {
      withSQLConf(provider, withoutReports) {
        withTempDir { dir =>
          val stores = storesIn(dir, Keys)
          inTask { _ =>
            damages.zipWithIndex.foreach { case ((what, isFound, damage), partition) =>
              stores.write(partition)(writeGroups)
              rewrite(stores, partition)(_.map(damage))
              stores.read(partition, 0, None) { store =>
                TaskTest.check(isRefused(isFound(store)), s"$what in $partition")
                Iterator.empty[Int]
              }
            }
          }
        }
      }
    }
  }

  test("damaged entries fail a query, which writes nothing and continues with whole ones") {
    // Spark stops the other tasks of a query that fails, which can leave files open.
    withSQLConf(SQLConf.SHUFFLE_PARTITIONS.key -> "1")(withTempDir { dir =>
      val (checkpoint, whole) = (new File(dir, "checkpoint"), new File(dir, "whole"))
      def restore(): Unit = {
        FileUtils.deleteDirectory(checkpoint)
        copyCheckpoint(whole, checkpoint)
      }
      val stream = ticks()
      val written = new Written
      stream.addData(Batches.head)
      runAll(kept(stream.toDF()), checkpoint.getPath, written)
      copyCheckpoint(checkpoint, whole)

      change(checkpoint, ofKey)
      assertRefused(checkpoint, new File(dir, "moved"))
      restore()
      change(checkpoint, ofContent)
      assertRefused(checkpoint, new File(dir, "moved again"))

      stream.addData(Batches(1))
      val failure = failureOf(kept(stream.toDF()), checkpoint.getPath)
      assert(conditionsOf(failure).contains(Refused))
      assert(!new File(checkpoint, "commits/1").exists)
      assert(!filesIn(checkpoint).keys.exists(_.getName.startsWith("2.delta")))

      restore()
      runAll(kept(stream.toDF()), checkpoint.getPath, written)
      assert(
        written.rows
          .map(emitted)
          .toSet == kept(Batches.flatten.toDF()).collect().map(emitted).toSet)
    })
  }

  private def kept(rows: DataFrame): DataFrame =
    keep(rows, "PARTITION BY (k) ORDER BY (n), 'KEEP 3 ROWS'")

  private def emitted(change: Row): (String, Long, Int) =
    (change.getAs("_change_type"), change.getAs("_change_seq"), change.getAs("n"))

  private def assertRefused(checkpoint: File, target: File): Unit = {
    val before = filesIn(checkpoint)
    Seq(
      s"winops_state('$checkpoint')",
      s"winops_repartition('$checkpoint', '$target', 3)",
      s"winops_forget('$checkpoint', '$target-forgotten', 'crc32(k) = 0')").foreach { call =>
      val failure = intercept[Exception](spark.sql(s"SELECT * FROM $call").collect())
      assert(conditionsOf(failure).contains(Refused), call)
    }
    assert(filesIn(checkpoint) == before)
  }

  /** Changes all entries of groups in their state after the first batch. */
  private def change(folder: File, damage: Entry => Entry): Unit = {
    val checkpoint = new Checkpoint(spark, folder.getPath)
    val keep = checkpoint.keep(0, None)
    val stores = checkpoint.stores(keep, 0)
    val partitions = keep.stateStoreInfo.head.numPartitions
    inTask { _ =>
      (0 until partitions).foreach { partition =>
        rewrite(stores, partition)(_.map(entry => if (isOfGroup(entry)) damage(entry) else entry))
      }
    }
  }
}

private object DamagedStoreSuite {
  import ChangedStores._

  val Refused = "WINOPS_STATE_FORMAT"

  val Batches: Seq[Seq[Tick]] = Seq(0 until 40, 40 until 60).map { numbers =>
    numbers.map(i => Tick(s"group ${i % 9}", 1, i))
  }

  val ofKey: Entry => Entry = { case (key, value) =>
    (key, pointingInside(value, columns = 1, column = 0, Outside.head))
  }
  val ofContent: Entry => Entry = { case (key, value) => (key, pointing(value, 0, Outside.head)) }

  def isOfGroup(entry: Entry): Boolean = entry._1.getLong(entry._1.numFields - 1) >= 0

  /** The files below a folder, with their modification times. */
  def filesIn(folder: File): Map[File, Long] = FileUtils
    .listFiles(folder, null, true)
    .asScala
    .map(file => file -> file.lastModified)
    .toMap

  /** The group key: a number and a name. */
  val Keys: Seq[Attribute] =
    Seq(AttributeReference("number", LongType)(), AttributeReference("name", StringType)())

  private val Group: UnsafeRow = UnsafeProjection
    .create(Keys.map(_.dataType).toArray[DataType])
    .apply(InternalRow(7L, UTF8String.fromString("the group")))

  /** Writes one group with a segment. */
  def writeGroups(store: StateStore): Unit = {
    val groups = new StateGroupStore(store, Keys)
    groups.open(Group)
    groups.save(_.byte(1))
    groups.windowSegments.put(0, Array(2))
    groups.finish()
  }

  /** The location of the invalid pointer, the read that meets it, and the change that creates it.
    */
  def damages: Seq[(String, ReadStateStore => Any, Entry => Entry)] = Outside.flatMap { place =>
    Seq[(String, ReadStateStore => Any, Entry => Entry)](
      (
        "the content of a bucket",
        store => reading(store).open(Group),
        { case (key, value) => (key, if (isBucket(key)) pointing(value, 0, place) else value) }),
      (
        "the name in a bucket",
        store => reading(store).each.foreach(_.getUTF8String(1).toString),
        { case (key, value) =>
          (key, if (isBucket(key)) pointingInside(value, Keys.size, 1, place) else value)
        }),
      (
        "the name of a segment's group",
        store => reading(store).pieces.foreach(_.group(Keys.size).getUTF8String(1).toString),
        { case (key, value) => (if (isSegment(key)) pointing(key, 2, place) else key, value) }))
  }

  def isRefused(read: => Any): Boolean =
    try {
      read
      false
    } catch { case _: CorruptStateException => true }

  private def reading(store: ReadStateStore): StateGroupStore = {
    val groups = StateGroupStore.readOnly(store, Keys)
    // Spark itself checks the first entry that it reads, so that entry is valid.
    val _ = groups.numberOfBuckets
    groups
  }

  private def isBucket(key: UnsafeRow): Boolean = key.getLong(key.numFields - 1) == 0
  private def isSegment(key: UnsafeRow): Boolean = key.getLong(key.numFields - 1) > 0

  /** A bucket in which the name of each group points to another offset. */
  private def pointingInside(
      bucket: UnsafeRow,
      columns: Int,
      column: Int,
      place: Long): UnsafeRow = {
    val changed = new Bucket
    val whole = new Bucket
    whole.restore(new ByteReader(bucket.getBinary(0)))
    whole.foreach { (key, value) =>
      val row = new UnsafeRow(columns)
      row.pointTo(key, key.length)
      val _ = changed.put(pointing(row, column, place).getBytes, value)
    }
    val out = new ByteWriter
    changed.save(out)
    UnsafeProjection.create(StateGroupStore.valueSchema).apply(InternalRow(out.toArray))
  }
}
