package org.apache.spark.sql.winops.state

import java.io.File

import org.apache.spark.sql.execution.streaming.state.StateStoreConf
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.winops.testing.TaskTest

import winops.spark.testing.KeepStreamTest

/** Tests of the bytes that micro-batches write to and read from stores of RocksDB's with
  * changelogs.
  */
trait StateBytesTest extends KeepStreamTest with TaskTest {
  private val changelog =
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled"

  private val settings = Seq(
    KeepStreamTest.rocksDb,
    changelog -> "true",
    SQLConf.STATE_STORE_COORDINATOR_REPORT_SNAPSHOT_UPLOAD_LAG.key -> "false")

  /** Runs a test in a task, with a folder for its stores. */
  protected def withStores(test: (File, StoredState.Confs) => Unit): Unit =
    withSQLConf(settings: _*) {
      withTempDir { dir =>
        val snapshots = spark.sessionState.conf.clone()
        snapshots.setConfString(changelog, "false")
        val confs =
          StoredState.Confs(StateStoreConf(spark.sessionState.conf), StateStoreConf(snapshots))
        val folder = dir.getPath
        inTask(_ => test(new File(folder), confs))
      }
    }
}
