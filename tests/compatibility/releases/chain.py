"""Queries that one version of Spark after another goes on with, in one checkpoint each.

usage: chain.py FOLDER STEP

Runs the last step and compares what all versions have written with what this one writes alone.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from winops import configure, keep

_SCHEMA = "seq long, symbol string, price double, size long, ts timestamp"
_STORES = "org.apache.spark.sql.execution.streaming.state"
_STATE_STORE = "spark.sql.streaming.stateStore.providerClass"
_FORMAT = "spark.sql.streaming.stateStore.checkpointFormatVersion"
_SETTINGS = {
    "files": {_STATE_STORE: f"{_STORES}.HDFSBackedStateStoreProvider"},
    "rocksdb": {_STATE_STORE: f"{_STORES}.RocksDBStateStoreProvider"},
    "rocksdb-2": {
        _STATE_STORE: f"{_STORES}.RocksDBStateStoreProvider",
        "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
        _FORMAT: "2",
    },
}
_DEFAULTS = {
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "false",
    _FORMAT: "1",
}


def go_on(spark: SparkSession, folder: Path, step: int) -> int:
    """Give each query the rows of a step, and return the number of its changes so far."""
    return sum(_run(spark, folder, name, step).count() for name in _SETTINGS)


def alone(spark: SparkSession, folder: Path, steps: int) -> None:
    """Check that the queries have written what one version writes."""
    with TemporaryDirectory() as other:
        for name in _SETTINGS:
            for step in range(steps):
                _run(spark, Path(other), name, step)
            # Rows that one version generates differently would be no fault of winops.
            _same(spark, folder / name / "source", Path(other) / name / "source")
            written = _same(spark, folder / name / "changes", Path(other) / name / "changes")
            assert written > steps * _ROWS


_ROWS = 40


def _rows(spark: SparkSession, step: int) -> DataFrame:
    seq = F.col("id")
    # The order of additions matters to the last bit.
    price = F.pow(F.lit(10.0), seq % 7) / (seq + 3)
    return spark.range(step * _ROWS, (step + 1) * _ROWS, 1, 1).select(
        seq.alias("seq"),
        F.concat(F.lit("S"), (seq % 3).cast("string")).alias("symbol"),
        price.alias("price"),
        (seq * 37 % 101).alias("size"),
        F.timestamp_seconds(seq * 2).alias("ts"),
    )


def _run(spark: SparkSession, folder: Path, name: str, step: int) -> DataFrame:
    source, changes = str(folder / name / "source"), str(folder / name / "changes")
    for setting, value in {**_DEFAULTS, **_SETTINGS[name]}.items():
        spark.conf.set(setting, value)
    _rows(spark, step).write.mode("append").parquet(source)
    stream = spark.readStream.schema(_SCHEMA).parquet(source).withWatermark("ts", "3 seconds")
    kept = keep(stream, "KEEP 30 SECONDS PER (symbol)", time="ts", order_by="seq")
    # The median is of integers because Spark 4.3 rounds that of two doubles differently.
    values = kept.agg(F.sum("price").alias("s"), F.stddev("price").alias("d"), F.median("size"))
    writer = values.writeStream.format("parquet").trigger(availableNow=True)
    location = str(folder / name / "checkpoint")
    writer.option("checkpointLocation", location).start(changes).awaitTermination()
    return spark.read.parquet(changes)


def _same(spark: SparkSession, chained: Path, alone: Path) -> int:
    """Check that two folders have the same rows to the bit, and return their number."""
    rows, others = _lines(spark, chained), _lines(spark, alone)
    differing = sorted(((rows - others) + (others - rows)).elements())
    assert not differing, f"{chained}: {len(differing)} rows differ, such as {differing[:2]}"
    return rows.total()


def _lines(spark: SparkSession, folder: Path) -> Counter[str]:
    return Counter(str(row) for row in spark.read.parquet(str(folder)).collect())


if __name__ == "__main__":
    session = configure(SparkSession.builder.master("local[2]"))
    session = session.config("spark.ui.enabled", "false")
    spark = session.config("spark.sql.shuffle.partitions", "2").getOrCreate()
    last, chain = int(sys.argv[2]), Path(sys.argv[1]).absolute()
    total = go_on(spark, chain, last)
    alone(spark, chain, last + 1)
    print(f"Spark {spark.version}: the same {total} changes as without other versions")
    spark.stop()
