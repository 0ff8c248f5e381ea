"""Gives the same few rows to every peer that is built, and prints the output of each.

    python benchmarks/agree.py
    python benchmarks/agree.py Esper --jobs rows time

It prints a line of JSON for each peer and job: the inserts and deletes of each micro-batch.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from peers import PEER_HEAP, PEERS, SPARK_JAR, Job, ProcessPeer, SparkPeer

BATCHES, ROWS, KEYS = 5, 2_000, 10
FIRST_MICROS = 1_357_000_000_000_000
# One row per millisecond, so that the resolution of every clock suffices.
JOBS = {job.kind: job for job in (Job("rows", 20), Job("time", 1_000), Job("aggregates", 20))}
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"

Counts = list[tuple[int, int]]


def micro_batches(folder: Path) -> list[Path]:
    """Write the input."""
    rng = np.random.default_rng(1)
    paths = []
    for number in range(BATCHES):
        seq = np.arange(number * ROWS, (number + 1) * ROWS)
        batch = pa.table(
            {
                "key": rng.integers(0, KEYS, ROWS),
                "seq": seq,
                "price": np.round(rng.uniform(1, 500, ROWS), 2),
                "qty": rng.integers(1, 1_000, ROWS),
                "ts": pa.array(FIRST_MICROS + seq * 1_000, pa.timestamp("us", tz="UTC")),
            }
        )
        paths.append(folder / f"{number}.parquet")
        pq.write_table(batch, paths[-1], row_group_size=ROWS // 8)
    return paths


def session() -> SparkSession:
    """Start Spark with the peers' JAR, if it is built."""
    # The path may lead Spark to another Python, which does not have pandas.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = (
        SparkSession.builder.master("local[2]")
        .appName("peers")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.streaming.stateStore.providerClass", ROCKSDB)
    )
    if SPARK_JAR.exists():
        builder = builder.config("spark.jars", str(SPARK_JAR))
    return builder.getOrCreate()


def of_query(spark: SparkSession, peer: SparkPeer, job: Job, paths: list[Path]) -> Counts:
    """Return the output counts of a Spark query."""
    with tempfile.TemporaryDirectory(prefix="winops-peers-") as work:
        source = Path(work, "source")
        source.mkdir()
        schema = spark.read.parquet(str(paths[0])).schema
        out = peer.query(spark.readStream.schema(schema).parquet(str(source)), job)
        query = (
            out.writeStream.format("memory")
            .queryName("answers")
            .option("checkpointLocation", str(Path(work, "checkpoint")))
            .start()
        )
        totals = [(0, 0)]
        for path in paths:
            (source / path.name).hardlink_to(path)
            query.processAllAvailable()
            answers = spark.table("answers")
            deleted = answers.where("kind = 'delete'").count() if "kind" in out.columns else 0
            totals.append((answers.count() - deleted, deleted))
        query.stop()
    return [(after[0] - before[0], after[1] - before[1]) for before, after in pairwise(totals)]


def of_process(peer: ProcessPeer, job: Job, paths: list[Path]) -> Counts:
    """Return the output counts of a process."""
    lines = "".join(f"{path}\n" for path in paths)
    done = subprocess.run(
        peer.command(job, PEER_HEAP), input=lines, capture_output=True, text=True, check=True
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    return [(answer["inserted"], answer["deleted"]) for answer in answers]


def counted(names: list[str], kinds: list[str], paths: list[Path]) -> Iterator[dict[str, object]]:
    """Run the peers whose name contains one of `names`."""
    for peer in PEERS:
        if peer.is_built and any(name in peer.name for name in names):
            for job in (JOBS[kind] for kind in kinds if kind in peer.jobs):
                if isinstance(peer, SparkPeer):
                    counts = of_query(session(), peer, job, paths)
                else:
                    counts = of_process(peer, job, paths)
                yield {"peer": peer.name, "job": job.kind, "counts": counts}


def main() -> None:
    """Run the selected peers."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", default=[""], help="parts of names")
    parser.add_argument("--jobs", nargs="*", default=[*JOBS], choices=[*JOBS])
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="winops-peers-") as folder:
        for line in counted(args.names, args.jobs, micro_batches(Path(folder))):
            print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
