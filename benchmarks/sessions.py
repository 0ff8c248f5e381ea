"""The Spark session of all measurements."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from pyspark.sql import SparkSession

from peers import SPARK_JAR
from winops import configure

# On a local disk, and without Hadoop's native library, Spark's default starts ten processes for
# each commit of a state store, to check links and to set permissions. On HDFS or an object store
# it starts none. With the default, each batch of W1 takes 0.1 s longer.
CHECKPOINT_FILES = (
    "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
)
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


def session(partitions: int, others: Mapping[str, str] | None = None) -> SparkSession:
    """Start Spark on two cores, with RocksDB and changelog checkpointing.

    Parameters
    ----------
    partitions
        The number of shuffle partitions.
    others
        Further settings by name. They replace the settings of this function.
    """
    settings = {
        "spark.driver.memory": "4g",
        # Models a query that has run for a long time and has touched all of its heap.
        "spark.driver.extraJavaOptions": "-Xms4g -XX:+AlwaysPreTouch",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": str(partitions),
        # The operator's query is planned without adaptive execution anyway.
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.streaming.checkpointFileManagerClass": CHECKPOINT_FILES,
        "spark.sql.streaming.stateStore.providerClass": ROCKSDB,
        "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
        # Counting the entries would read each entry before its write.
        "spark.sql.streaming.stateStore.rocksdb.trackTotalNumberOfRows": "false",
        # A waiting query polls its directory less often.
        "spark.sql.streaming.pollingDelay": "200ms",
    }
    if SPARK_JAR.exists():
        settings["spark.jars"] = str(SPARK_JAR)
    # Workers of another interpreter may lack pandas.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("winops benchmarks").master("local[2]")
    spark = configure(builder.config(map=settings | dict(others or {}))).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark
