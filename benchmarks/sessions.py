"""The session that everything is measured in."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from pyspark.sql import SparkSession

from peers import SPARK_JAR
from winops import configure

# On a local disk, and without Hadoop's native library, Spark's default starts ten
# processes for each commit of a state store, to ask for links and to set permissions; on
# HDFS or an object store it starts none. With it W1 takes 0.1 s more of each batch.
CHECKPOINT_FILES = (
    "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
)
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


def session(partitions: int, others: Mapping[str, str] | None = None) -> SparkSession:
    """Spark on two cores, RocksDB with changelog checkpointing.

    Parameters
    ----------
    partitions
        Shuffle partitions.
    others
        Further settings, by their names. They take the place of those that are made here.
    """
    settings = {
        "spark.driver.memory": "4g",
        # A query that has run for long has touched all of its heap.
        "spark.driver.extraJavaOptions": "-Xms4g -XX:+AlwaysPreTouch",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": str(partitions),
        # The operator's query is planned without it anyway.
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.streaming.checkpointFileManagerClass": CHECKPOINT_FILES,
        "spark.sql.streaming.stateStore.providerClass": ROCKSDB,
        "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
        # Counting the entries takes a read before each write.
        "spark.sql.streaming.stateStore.rocksdb.trackTotalNumberOfRows": "false",
        # The query that waits for its turn looks at its directory less often.
        "spark.sql.streaming.pollingDelay": "200ms",
    }
    if SPARK_JAR.exists():
        settings["spark.jars"] = str(SPARK_JAR)
    # Of another interpreter's workers pandas may be missing.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("winops benchmarks").master("local[2]")
    spark = configure(builder.config(map=settings | dict(others or {}))).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark
