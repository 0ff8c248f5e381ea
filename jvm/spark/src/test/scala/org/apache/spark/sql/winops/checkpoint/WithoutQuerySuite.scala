package org.apache.spark.sql.winops.checkpoint

import java.io.File

import org.apache.spark.sql.execution.streaming.state.StateStoreCoordinatorRef
import org.apache.spark.util.RpcUtils

import winops.spark.testing.{KeepStreamTest, Tick}

/** Checkpoints are read and moved in sessions that have not run a query. */
class WithoutQuerySuite extends KeepStreamTest {
  test("nobody coordinates the stores") {
    withTempDir { dir =>
      val (checkpoint, target) = (new File(dir, "checkpoint"), new File(dir, "moved"))
      val stream = ticks()
      stream.addData((0 until 10).map(i => Tick(s"group ${i % 3}", 1, i)))
      runAll(keep(stream.toDF(), "PARTITION BY (k), 'KEEP 2 ROWS'"), checkpoint.getPath)
      withoutCoordinator {
        def held(folder: File) =
          spark.sql(s"SELECT * FROM winops_state('$folder')").drop("_partition")
        assert(held(checkpoint).count() == 6)
        val moved = spark.sql(s"SELECT * FROM winops_repartition('$checkpoint', '$target', 3)")
        assert(moved.collect().map(_.getLong(3)).toSeq == Seq(6L))
        assert(held(target).exceptAll(held(checkpoint)).isEmpty)
      }
    }
  }

  /** Runs `body` without a state store coordinator, as in a session before its first query. */
  private def withoutCoordinator(body: => Unit): Unit = {
    val environment = spark.sparkContext.env
    environment.rpcEnv.stop(
      RpcUtils.makeDriverRef("StateStoreCoordinator", environment.conf, environment.rpcEnv))
    try body
    finally {
      val _ = StateStoreCoordinatorRef.forDriver(environment, spark.sessionState.conf)
    }
  }
}
