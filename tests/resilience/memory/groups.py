"""Processes all groups of a stream at once, in a small heap.

    python tests/resilience/memory/groups.py jump --groups 3000000

Every case stores one row in each group, then starts the query again so that each group has to be
processed in one micro-batch:

- `jump`: the watermark passes all rows, which expire.
- `interval`: the window is longer than before.
- `idle`: silent groups are removed.
- `function`: the query has another window function.
- `flush`: the input ends, and rows that wait are applied.
- `twice`: foreachBatch runs the micro-batch of `jump` twice.

Exit status: 0 if all groups were processed, 1 if not.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F
from session import HEAP, heap_in_mb, run_to_end, session

from winops import keep

START = 1_700_000_000_000
HOUR = 3_600_000


class Groups:
    """A stream with one row in each of many groups, and the checkpoint of its query."""

    def __init__(self, spark: SparkSession, count: int, work: Path) -> None:
        self.spark = spark
        self.count = count
        self.work = work
        self._write(0, count, START)
        # The watermark of the next micro-batch is that of this row.
        self._write(-1, 0, START + HOUR // 6)

    def _write(self, first: int, end: int, at: int) -> None:
        rows = self.spark.range(first, end, numPartitions=2)
        times = f"timestamp_millis({at} + id % 1000) AS ts"
        rows.selectExpr("id AS k", times).write.mode("append").parquet(f"{self.work}/source")

    def row_at(self, at: int) -> None:
        """Add a row of another group."""
        self._write(-2, -1, at)

    def stream(self) -> DataFrame:
        rows = self.spark.readStream.schema("k long, ts timestamp")
        return rows.parquet(f"{self.work}/source").withWatermark("ts", "1 minute")

    def kept(self, policy: str, **arguments: str) -> DataFrame:
        return keep(self.stream(), policy, order_by="k", time="ts", **arguments).changes()

    def run(self, output: DataFrame) -> Counter[str]:
        return run_to_end(output, self.work / "checkpoint")

    def wrote_all(self, found: Counter[str]) -> bool:
        """Return true if all groups are there, and were written again with 10 bytes or more."""
        wrote = found["stateBytesWritten"]
        return found["last:groups"] >= self.count and wrote >= 10 * self.count

    def run_twice(self, output: DataFrame) -> Counter[str]:
        """Run a stream whose foreachBatch reads each micro-batch twice."""

        def read_twice(rows: DataFrame, _: int) -> None:
            for _ in range(2):
                rows.write.format("noop").mode("overwrite").save()

        return run_to_end(output, self.work / "checkpoint", read_twice)


def jump(groups: Groups) -> bool:
    policy = "KEEP 1 HOUR PER (k)"
    groups.run(groups.kept(policy))
    groups.row_at(START + 10 * HOUR)
    return groups.run(groups.kept(policy))["rowsDeleted"] >= groups.count


def twice(groups: Groups) -> bool:
    policy = "KEEP 1 HOUR PER (k)"
    entered = groups.run_twice(groups.kept(policy))
    groups.row_at(START + 10 * HOUR)
    left = groups.run_twice(groups.kept(policy))
    held = (entered["last:rowsHeld"], left["last:rowsHeld"])
    print("rows held", held, "rows deleted", left["rowsDeleted"])
    # The last row waits for the watermark.
    return held == (groups.count + 1, 1) and left["rowsDeleted"] == groups.count + 1


def interval(groups: Groups) -> bool:
    groups.run(groups.kept("KEEP 1 HOUR PER (k)"))
    groups.row_at(START + HOUR // 5)
    return groups.wrote_all(groups.run(groups.kept("KEEP 10 HOURS PER (k)")))


def idle(groups: Groups) -> bool:
    groups.run(groups.kept("KEEP 1 HOUR PER (k)"))
    groups.row_at(START + HOUR // 5)
    return groups.run(groups.kept("KEEP 1 HOUR PER (k)", idle="1 minute"))["last:groups"] <= 2


def function(groups: Groups) -> bool:
    window = Window.partitionBy("k").orderBy("ts")
    before = groups.stream().withColumn("lag1", F.lag("ts", 1).over(window))
    groups.run(before)
    groups.row_at(START + HOUR // 5)
    after = before.withColumn("newer", F.max("ts").over(window.rowsBetween(-1, 0)))
    return groups.wrote_all(groups.run(after))


def flush(groups: Groups) -> bool:
    kept = groups.kept("KEEP 1 HOUR PER (k)", at_end="flush")
    return groups.run(kept)["rowsInserted"] >= groups.count


CASES = {case.__name__: case for case in (jump, interval, idle, function, flush, twice)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("case", choices=CASES)
    parser.add_argument("--groups", type=int, default=3_000_000)
    parser.add_argument("--heap", default=HEAP)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        spark = session(work, arguments.heap)
        passed = CASES[arguments.case](Groups(spark, arguments.groups, work))
        print(
            f"{arguments.case}: {'passed' if passed else 'FAILED'}, heap {heap_in_mb(spark)} MB"
        )
        spark.stop()
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
