"""Runs two hours of micro-batches at full speed and measures the resources left in Spark.

    python tests/resilience/load/load.py
    python tests/resilience/load/load.py --batches 600 --rows 200000 --runs 2

Every batch represents five seconds. Rows arrive for two thirds of the time, and the window is one
third long. The state grows to `--rows` held rows, stays at that size while inserts and deletes
balance, and shrinks to nothing. The query is stopped and restarted several times. Heap, other
memory, RocksDB's snapshots, file handles, threads, files and the session's registrations are read
throughout. Each reading must return to its former value: at the end without a query, before that
with open, empty stores, and in each run of the query while the number of held rows is constant.

Exit status: 0 if all readings do, 1 if not or if rows were lost.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from instruments import Instruments
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery
from report import Report, Sample
from shape import BATCH_SECONDS, START, Wave
from sums import ProgressSums

from winops import configure, keep

ROOT = Path(__file__).resolve().parents[3]
POLL_SECONDS = 0.2
WARM_UP_BATCHES = 45
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
CHECKPOINT_FILES = (
    "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
)


def session(heap: str, retained: int, local: Path) -> SparkSession:
    """Start Spark on two cores, with history limits that a warm-up reaches."""
    settings = {
        "spark.driver.memory": heap,
        # Resident memory then grows by off-heap memory only.
        "spark.driver.extraJavaOptions": f"-Xms{heap} -XX:+AlwaysPreTouch",
        "spark.local.dir": str(local),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        # Spark keeps these histories even without the UI.
        "spark.ui.retainedJobs": "20",
        "spark.ui.retainedStages": "20",
        "spark.ui.retainedTasks": "100",
        "spark.sql.ui.retainedExecutions": "10",
        "spark.sql.streaming.ui.retainedQueries": "2",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.streaming.minBatchesToRetain": str(retained),
        "spark.sql.streaming.numRecentProgressUpdates": "100",
        "spark.sql.streaming.checkpointFileManagerClass": CHECKPOINT_FILES,
        "spark.sql.streaming.stateStore.maintenanceInterval": "5s",
        "spark.sql.streaming.stateStore.providerClass": ROCKSDB,
        "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    }
    builder = SparkSession.builder.appName("winops load").master("local[2]")
    spark = configure(builder.config(map=settings)).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def versions(spark: SparkSession, heap: str) -> dict[str, str]:
    """Return the versions of the measured software."""
    [row] = spark.sql(
        "SELECT winops_version() AS winops, version() AS spark,"
        " java_method('java.lang.System', 'getProperty', 'java.version') AS java"
    ).collect()
    return {
        "winops": row["winops"],
        "Spark": row["spark"].split()[0],
        "Java": row["java"],
        "cores": str(os.cpu_count()),
        "heap of the driver": heap,
    }


@contextmanager
def started(
    spark: SparkSession, wave: Wave, keys: int, checkpoint: Path
) -> Iterator[StreamingQuery]:
    """Start the query from the end of its checkpoint, and stop it at the end of the block."""
    stream = (
        spark.readStream.format("rate-micro-batch")
        .option("rowsPerBatch", wave.rows_per_batch)
        .option("numPartitions", 1)
        .option("startTimestamp", int(START.timestamp() * 1000))
        .option("advanceMillisPerBatch", BATCH_SECONDS * 1000)
        .load()
        .withWatermark("timestamp", "0 seconds")
        # Time advances after the last row: Spark leaves a condition on the time above the
        # watermark.
        .where(F.col("timestamp") < F.lit(wave.end_of_rows))
        .withColumn("key", F.col("value") % keys)
    )
    kept = keep(
        stream,
        f"KEEP {wave.window_seconds} SECONDS PER (key)",
        time="timestamp",
        order_by="value",
        idle=f"{wave.idle_seconds} seconds",
    )
    query = (
        kept.changes()
        .writeStream.format("noop")
        .option("checkpointLocation", str(checkpoint))
        .start()
    )
    try:
        yield query
    finally:
        query.stop()


def run(
    spark: SparkSession,
    wave: Wave,
    keys: int,
    runs: int,
    checkpoint: Path,
    instruments: Instruments,
    readings: int,
) -> tuple[ProgressSums, list[Sample]]:
    """Run all batches in the given number of runs, and read the instruments at intervals."""
    sums, samples = ProgressSums(), []
    begun = time.monotonic()
    for number in range(1, runs + 1):
        until = wave.batches * number // runs
        with started(spark, wave, keys, checkpoint) as query:
            while sums.batches < until:
                if query.exception() is not None or not query.isActive:
                    raise RuntimeError(f"the query ended: {query.exception()}")
                time.sleep(POLL_SECONDS)
                sums.add(query.recentProgress)
                if sums.batches * readings >= wave.batches * (len(samples) + 1):
                    sample = Sample(
                        number,
                        sums.batches,
                        time.monotonic() - begun,
                        sums.held,
                        sums.groups,
                        instruments.read(),
                    )
                    samples.append(sample)
                    print(sample, flush=True)
        instruments.run_has_ended(query.runId)
    return sums, samples


def main() -> int:
    """Run the program and return the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--batches", type=int, default=1_500, help="(default: 1500)")
    parser.add_argument("--rows", type=int, default=20_000_000, help="held (default: 20 million)")
    parser.add_argument("--keys", type=int, default=200, help="groups (default: 200)")
    parser.add_argument("--runs", type=int, default=4, help="of the query (default: 4)")
    parser.add_argument("--readings", type=int, default=36, help="on the way (default: 36)")
    parser.add_argument("--heap", default="3g", help="of the driver (default: 3g)")
    parser.add_argument("--work", type=Path, help="a directory for state (default: temporary)")
    parser.add_argument("--out", type=Path, default=ROOT / "artifacts" / "load")
    args = parser.parse_args()
    retained = min(100, args.batches // 20)
    wave = Wave(args.batches, args.rows, tail=2 * retained)
    with tempfile.TemporaryDirectory(prefix="winops-load-", dir=args.work) as temporary:
        work = Path(temporary)
        spark = session(args.heap, retained, work / "local")
        instruments = Instruments(spark, work / "checkpoints", work / "local")
        warm_up = Wave(WARM_UP_BATCHES, args.keys * 10, tail=1)
        _, [*_, emptied] = run(
            spark, warm_up, args.keys, 2, work / "checkpoints" / "warm-up", instruments, 1
        )
        before = instruments.read_at_rest()
        sums, samples = run(
            spark,
            wave,
            args.keys,
            args.runs,
            work / "checkpoints" / "load",
            instruments,
            args.readings,
        )
        after = instruments.read_at_rest()
        taken_with = versions(spark, args.heap)
        spark.stop()
    report = Report(wave, args.keys, args.runs, taken_with, emptied, before, after, samples, sums)
    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / "load.json").write_text(report.json())
    (args.out / "load.md").write_text(report.markdown())
    print(report.markdown())
    return int(not report.passed)


if __name__ == "__main__":
    sys.exit(main())
