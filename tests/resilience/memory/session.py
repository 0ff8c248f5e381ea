"""Sessions with small heaps, streams over files, and the heap after a collection."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from winops import configure

HEAP = "512m"
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


def session(work: Path, heap: str = HEAP, **settings: str) -> SparkSession:
    """Start Spark on two cores, with two partitions and a driver of `heap` bytes."""
    given = {
        "spark.driver.memory": heap,
        "spark.local.dir": str(work / "local"),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.streaming.stateStore.providerClass": ROCKSDB,
        "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
        **settings,
    }
    builder = SparkSession.builder.appName("winops memory").master("local[2]")
    spark = configure(builder.config(map=given)).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def run_to_end(
    output: DataFrame,
    checkpoint: Path,
    write: Callable[[DataFrame, int], None] | None = None,
) -> Counter[str]:
    """Run a stream over all input; return the sums of its operator's metrics, and their last.

    The last value of a metric that tells what is held has the key `last:` and its name. With
    `write`, it gets each micro-batch as in foreachBatch.
    """
    writer = output.writeStream.option("checkpointLocation", str(checkpoint))
    writer = writer.trigger(availableNow=True)
    writer = writer.foreachBatch(write) if write else writer.format("noop")
    query = writer.start()
    query.awaitTermination()
    found: Counter[str] = Counter()
    for batch in query.recentProgress:
        for name, value in batch["stateOperators"][0]["customMetrics"].items():
            found[name] += value
            found[f"last:{name}"] = value
    return found


def heap_in_mb(spark: SparkSession) -> int:
    """Return the used heap after a collection, in MB."""
    jvm = spark._jvm
    assert jvm is not None
    jvm.java.lang.System.gc()
    runtime = jvm.java.lang.Runtime.getRuntime()
    return int(runtime.totalMemory() - runtime.freeMemory()) >> 20
