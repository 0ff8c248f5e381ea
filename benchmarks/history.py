"""Measures a stream that starts with a table, beside a batch query and a stream of all rows.

    .venv/bin/python benchmarks/history.py --rows 20000000 --keys 100000

Each round runs a batch query over the table, a stream that starts with it, and a stream that
reads the same files one after the other, in one session with two cores. Both streams then read
the same later files, with as many rows each. A ratio is that of one round.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from winops import configure, keep, with_history

_ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
_SCHEMA = "seq long, k long, price double"
# The first later file is in a stream's first micro-batch, beside the table.
_LATER_FILES = 41
_LATER_BATCHES = _LATER_FILES - 1
# In these of the later micro-batches, many groups are changed for the first time since the table.
_SOON_BATCHES = 10
_ROWS_OF_FILE = 50_000


@dataclass(frozen=True)
class Stream:
    """Micro-batches of a stream.

    Attributes:
        first: the seconds of those with the rows of the table.
        soon: the median of the seconds of the next ones, which change most groups once.
        later: the median of the seconds of those after these.
        megabytes: the size of RocksDB's files after those with the rows of the table.
        last_megabytes: that at the end.
        rows: the number of rows in the windows at the end.
    """

    first: float
    soon: float
    later: float
    megabytes: float
    last_megabytes: float
    rows: int


def _kept(rows: DataFrame) -> DataFrame:
    return keep(rows, "KEEP 100 ROWS PER (k)", order_by="seq").changes()


def _batch(spark: SparkSession, folder: Path) -> float:
    started = time.perf_counter()
    _kept(spark.read.parquet(f"{folder}/table")).write.format("noop").mode("overwrite").save()
    return time.perf_counter() - started


def _run(rows: DataFrame, checkpoint: Path) -> Stream:
    shutil.rmtree(checkpoint, ignore_errors=True)
    writer = _kept(rows).writeStream.format("noop").trigger(availableNow=True)
    query = writer.option("checkpointLocation", str(checkpoint)).start()
    query.awaitTermination()
    batches = query.recentProgress
    seconds = [batch["durationMs"]["triggerExecution"] / 1e3 for batch in batches]
    metrics = [batch["stateOperators"][0]["customMetrics"] for batch in batches]
    megabytes = [metric["rocksdbSstFileSize"] / 1e6 for metric in metrics]
    later = seconds[-_LATER_BATCHES:]
    return Stream(
        sum(seconds[:-_LATER_BATCHES]),
        statistics.median(later[:_SOON_BATCHES]),
        statistics.median(later[_SOON_BATCHES:]),
        megabytes[-_LATER_BATCHES - 1],
        megabytes[-1],
        metrics[-1]["rowsHeld"],
    )


def _with_table(spark: SparkSession, folder: Path) -> Stream:
    later = spark.readStream.schema(_SCHEMA).option("maxFilesPerTrigger", 1)
    table = spark.read.parquet(f"{folder}/table")
    return _run(with_history(later.parquet(f"{folder}/later"), table), folder / "with-table")


def _replay(spark: SparkSession, folder: Path) -> Stream:
    files = spark.readStream.schema(_SCHEMA).option("maxFilesPerTrigger", 1)
    return _run(files.parquet(f"{folder}/{{table,later}}"), folder / "replay")


def _write(spark: SparkSession, folder: Path, rows: int, keys: int) -> None:
    end = rows + _LATER_FILES * _ROWS_OF_FILE
    all_rows = spark.range(end).selectExpr(
        "id AS seq", f"pmod(xxhash64(id), {keys}) AS k", "id * 0.25D AS price"
    )
    for name, start, stop in (
        ("table", 0, rows),
        ("later", rows, end),
    ):
        for first in range(start, stop, _ROWS_OF_FILE):
            to = min(first + _ROWS_OF_FILE, stop)
            some = all_rows.where(f"seq >= {first} AND seq < {to}")
            some.coalesce(1).write.mode("append").parquet(f"{folder}/{name}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--keys", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--heap", default="4g", help="Spark's heap (default: 4g)")
    given = parser.parse_args()
    builder = (
        SparkSession.builder.master("local[2]")
        .appName("history")
        .config(
            map={
                "spark.sql.shuffle.partitions": "2",
                "spark.driver.memory": given.heap,
                "spark.ui.enabled": "false",
                "spark.sql.streaming.numRecentProgressUpdates": "10000",
                "spark.sql.streaming.stateStore.providerClass": _ROCKSDB,
            }
        )
    )
    spark = configure(builder).getOrCreate()
    folder = Path(tempfile.mkdtemp())
    try:
        _write(spark, folder, given.rows, given.keys)
        for number in range(given.rounds):
            batch = _batch(spark, folder)
            # The streams take turns in being the first.
            sides = [_with_table, _replay] if number % 2 == 0 else [_replay, _with_table]
            streams = {side: side(spark, folder) for side in sides}
            started, replayed = streams[_with_table], streams[_replay]
            print(
                f"round {number}: batch {batch:.1f} s, first micro-batch {started.first:.1f} s, "
                f"ratio {started.first / batch:.2f}; replay {replayed.first:.1f} s; "
                f"the next micro-batches {started.soon:.2f} s, "
                f"after a replay {replayed.soon:.2f} s, "
                f"ratio {started.soon / replayed.soon:.2f}; "
                f"later ones {started.later:.2f} s, after a replay {replayed.later:.2f} s, "
                f"ratio {started.later / replayed.later:.2f}; "
                f"files {started.megabytes:.1f} and {started.last_megabytes:.1f} MB, "
                f"of the replay {replayed.megabytes:.1f} and {replayed.last_megabytes:.1f} MB; "
                f"rows {started.rows:,} and {replayed.rows:,}",
                flush=True,
            )
    finally:
        spark.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
