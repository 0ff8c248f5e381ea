"""Spark settings that tests change temporarily."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import NamedTuple, TypeVar

from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

STATE_STORE = "spark.sql.streaming.stateStore.providerClass"
CHANGELOG = "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled"
CHECKPOINT_FORMAT = "spark.sql.streaming.stateStore.checkpointFormatVersion"
# From Spark 4.2 on.
OFFSET_LOG_FORMAT = "spark.sql.streaming.offsetLog.formatVersion"
ROW_CHECKSUM = "spark.sql.streaming.stateStore.rowChecksum.enabled"
STORE_PARTITIONS = "spark.sql.streaming.internal.stateStore.partitions"
CODEC = "spark.sql.streaming.stateStore.compression.codec"
PARTITIONS = "spark.sql.shuffle.partitions"
# The number of tasks that read a few small files, up to the number of files.
READ_TASKS = "spark.sql.files.minPartitionNum"

_STATE = "org.apache.spark.sql.execution.streaming.state"
ROCKSDB = f"{_STATE}.RocksDBStateStoreProvider"
HDFS = f"{_STATE}.HDFSBackedStateStoreProvider"

# Settings for queries with many expressions to compile and few rows.
INTERPRETED = {
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.codegen.wholeStage": "false",
}

_File = TypeVar("_File")


class StreamSetup(NamedTuple):
    """The configuration of a stream; `restarts` is `none`, `one` or `each`, of its runs."""

    provider: str
    changelog: bool
    format_version: int
    partitions: int
    restarts: str

    @property
    def name(self) -> str:
        return "-".join(map(str, (self.provider.rsplit(".", 1)[-1], *self[1:])))

    @property
    def configuration(self) -> dict[str, str]:
        return {
            STATE_STORE: self.provider,
            CHANGELOG: str(self.changelog).lower(),
            CHECKPOINT_FORMAT: str(self.format_version),
            PARTITIONS: str(self.partitions),
        }

    def runs(self, files: Sequence[_File]) -> list[Sequence[_File]]:
        """Divide files among the runs that take them."""
        return {
            "none": [files],
            "one": [files[:2], files[2:]],
            "each": [[file] for file in files],
        }[self.restarts]


@contextmanager
def settings(spark: SparkSession, values: Mapping[str, str]) -> Iterator[None]:
    """Set configuration values until the end of the block."""
    before = {name: spark.conf.get(name, None) for name in values}
    for name, value in values.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, value)


@contextmanager
def settings_restored(spark: SparkSession) -> Iterator[None]:
    """Undo at the end of the block what it changes in the configuration."""
    before = spark.conf.getAll
    try:
        yield
    finally:
        after = spark.conf.getAll
        for name in (name for name in after if before.get(name) != after[name]):
            # A builder on a page also records settings that no session can change. Spark does not
            # know those of RocksDB before they are used, so its answer would be no.
            with suppress(AnalysisException):
                if name in before:
                    spark.conf.set(name, before[name])
                else:
                    spark.conf.unset(name)
