"""A local Spark session with winops."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import SparkSession

from winops import configure

PROVIDERS = {
    "rocksdb": "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
    "hdfs": "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider",
}
# For checkpoints on a local disk that are not used again. Without Hadoop's native library,
# Spark's default starts processes for every file to make renames safe.
SCRATCH = {
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing"
        ".FileSystemBasedCheckpointFileManager"
    )
}


def session(
    name: str,
    provider: str = "rocksdb",
    settings: Mapping[str, str] | None = None,
    *,
    real_time: bool = False,
) -> SparkSession:
    """Start Spark on two cores, with winops' JAR and the named state store provider.

    `settings` come last. With `real_time`, queries can run in Spark's real-time mode.
    """
    builder = (
        SparkSession.builder.appName(name)
        .master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.streaming.stateStore.providerClass", PROVIDERS[provider])
        .config("spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled", "true")
        # Keep the progress of all batches of a run, for the report.
        .config("spark.sql.streaming.numRecentProgressUpdates", "10000")
        .config(map=dict(settings or {}))
    )
    spark = configure(builder, real_time=real_time).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark
