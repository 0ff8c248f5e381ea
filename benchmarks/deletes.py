r"""Measures deletes in a window of many rows beside those in windows of few rows.

    python benchmarks/deletes.py
    python benchmarks/deletes.py --rows 100000 --batches 4

Rows with a primary key fill one window, and as many rows fill windows of 100 rows each. Then each
micro-batch deletes rows anywhere in the windows, the same keys in both. A ratio is that of the
times of one round, in which both queries run, each in one task.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import tempfile
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from results import versions
from sessions import session
from winops import keep

ROOT = Path(__file__).resolve().parents[1]
FEW = 100
# The first micro-batches after the fill move the rows of groups from one value into runs.
SETTLING = 2
SCHEMA = "id long, op string"


class Times(NamedTuple):
    """The medians of the micro-batches of a query."""

    milliseconds: float
    bytes_read: float
    bytes_written: float


def write(spark: SparkSession, folder: Path, rows: int, deletes: int, batches: int) -> None:
    """Write the inserts, and the deletes of each micro-batch, as files in their order."""
    keys = random.Random(7).sample(range(rows), deletes * batches)
    parts = [spark.range(rows).withColumn("op", F.lit("insert"))]
    for number in range(batches):
        some = keys[deletes * number : deletes * (number + 1)]
        parts.append(spark.createDataFrame([(key, "delete") for key in some], SCHEMA))
    folder.mkdir(parents=True)
    for number, part in enumerate(parts):
        made = folder.with_name(f"part-{number}")
        part.coalesce(1).write.parquet(str(made))
        [file] = made.glob("*.parquet")
        path = file.rename(folder / f"{number:03d}.parquet")
        # The file source takes files in the order of their modification times.
        os.utime(path, (1_400_000_000 + number, 1_400_000_000 + number))


def run(spark: SparkSession, rows: Path, length: int, checkpoint: Path) -> Times:
    """Run the query whose windows have `length` rows over all files, one in each micro-batch."""
    stream = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).parquet(str(rows))
    grouped = stream.withColumn("g", F.expr(f"id DIV {length}"))
    kept = keep(grouped, f"KEEP {length} ROWS PER (g)", key="id", op="op", order_by="id")
    writer = kept.changes().writeStream.format("noop").trigger(availableNow=True)
    query = writer.option("checkpointLocation", str(checkpoint)).start()
    query.awaitTermination()
    progress = [json.loads(each.json) for each in query.recentProgress]
    deleting = [each for each in progress if each["numInputRows"] > 0][1 + SETTLING :]
    metrics = [each["stateOperators"][0]["customMetrics"] for each in deleting]
    for each in metrics:
        if each["rowsRemoved"] != deleting[0]["numInputRows"]:
            raise RuntimeError(f"{each['rowsRemoved']} rows were deleted")
    return Times(
        median(each["durationMs"]["addBatch"] for each in deleting),
        median(each["stateBytesRead"] for each in metrics),
        median(each["stateBytesWritten"] for each in metrics),
    )


def main() -> None:
    """Run the rounds, and write their times."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows of the large window")
    parser.add_argument("--deletes", type=int, default=5_000, help="rows of a micro-batch")
    parser.add_argument("--batches", type=int, default=8, help="timed micro-batches")
    parser.add_argument("--rounds", type=int, default=3, help="timed rounds (default: 3)")
    artifacts = ROOT / "artifacts" / "benchmarks"
    parser.add_argument("--out", type=Path, default=artifacts, help="where the results go")
    args = parser.parse_args()

    spark = session(1)
    rounds: list[dict[str, Times]] = []
    with tempfile.TemporaryDirectory(prefix="winops-deletes-") as temporary:
        work = Path(temporary)
        write(spark, work / "rows", args.rows, args.deletes, args.batches + SETTLING)
        for number in range(args.rounds):
            taken = {
                str(length): run(spark, work / "rows", length, work / f"{length}-{number}")
                for length in (FEW, args.rows)
            }
            rounds.append(taken)
            print(f"round {number}: {taken}", flush=True)
    few, many = ([each[str(length)] for each in rounds] for length in (FEW, args.rows))
    ratios = [of.milliseconds / to.milliseconds for of, to in zip(many, few, strict=True)]
    measured: dict[str, Any] = {
        "versions": versions(spark),
        "rows": args.rows,
        "deletes": args.deletes,
        "rounds": [{name: each._asdict() for name, each in taken.items()} for taken in rounds],
        "ratio": median(ratios),
    }
    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / "deletes.json").write_text(json.dumps(measured, indent=2) + "\n")
    print(f"{args.deletes:,} deletes in a window of {args.rows:,} rows take {median(ratios):.2f}")
    print(f"times as long as in windows of {FEW} rows: {min(ratios):.2f} to {max(ratios):.2f}")
    spark.stop()


if __name__ == "__main__":
    main()
