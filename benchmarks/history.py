"""Measures the first micro-batch of a stream that starts with a table, beside a batch query.

    .venv/bin/python benchmarks/history.py --rows 20000000 --keys 100000

Each round runs both over the same Parquet files, one after the other, in one session with two
cores. A ratio is that of one round.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import tempfile
import time
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from winops import configure, keep, with_history

_ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
_SCHEMA = "seq long, k long, price double"


def _kept(rows: DataFrame) -> DataFrame:
    return keep(rows, "KEEP 100 ROWS PER (k)", order_by="seq").changes()


def _batch(spark: SparkSession, folder: Path) -> float:
    started = time.perf_counter()
    _kept(spark.read.parquet(f"{folder}/table")).write.format("noop").mode("overwrite").save()
    return time.perf_counter() - started


def _stream(spark: SparkSession, folder: Path) -> list[float]:
    """Return the seconds of each micro-batch."""
    stream = spark.readStream.schema(_SCHEMA).option("maxFilesPerTrigger", 1)
    table = spark.read.parquet(f"{folder}/table")
    rows = with_history(stream.parquet(f"{folder}/stream"), table)
    checkpoint = folder / "checkpoint"
    shutil.rmtree(checkpoint, ignore_errors=True)
    writer = _kept(rows).writeStream.format("noop").trigger(availableNow=True)
    query = writer.option("checkpointLocation", str(checkpoint)).start()
    query.awaitTermination()
    return [progress["durationMs"]["triggerExecution"] / 1e3 for progress in query.recentProgress]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--keys", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    builder = (
        SparkSession.builder.master("local[2]")
        .appName("history")
        .config(
            map={
                "spark.sql.shuffle.partitions": "2",
                "spark.driver.memory": "4g",
                "spark.ui.enabled": "false",
                "spark.sql.streaming.stateStore.providerClass": _ROCKSDB,
            }
        )
    )
    spark = configure(builder).getOrCreate()
    folder = Path(tempfile.mkdtemp())
    try:
        rows = spark.range(given.rows + 300_000).selectExpr(
            "id AS seq", f"xxhash64(id) % {given.keys} AS k", "id * 0.25D AS price"
        )
        rows.where(f"seq < {given.rows}").write.parquet(f"{folder}/table")
        for start in range(given.rows, given.rows + 300_000, 50_000):
            few = rows.where(f"seq >= {start} AND seq < {start + 50_000}").coalesce(1)
            few.write.mode("append").parquet(f"{folder}/stream")
        for number in range(given.rounds):
            batch = _batch(spark, folder)
            first, *others = _stream(spark, folder)
            later = statistics.median(others)
            print(
                f"round {number}: batch {batch:.1f} s, first micro-batch {first:.1f} s, "
                f"ratio {first / batch:.2f}; later micro-batches {later:.2f} s",
                flush=True,
            )
    finally:
        spark.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
