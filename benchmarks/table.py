"""Measures `keep` over a table against Spark's own window functions.

    python benchmarks/table.py
    python benchmarks/table.py --millions 1 --rounds 2

One query returns the last rows of each key, by ``row_number``. The other returns each row with
aggregates of the rows up to it, by ``ROWS BETWEEN``. Both sides read the same files and write to
the null sink, in turns.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from pyspark.sql import DataFrame

from data import files
from peers import Job
from peers.batch import aggregates, last_rows
from questions import MEAN_LOW_HIGH
from results import versions
from sessions import session
from trades import TRADES
from winops import Kept, keep

ROOT = Path(__file__).resolve().parents[1]
KEYS = 10_000
ROWS = 100
PARTITIONS = 16
MILLION = 1_000_000


def _kept(trades: DataFrame) -> Kept:
    return keep(trades, rows=ROWS, per="key", order_by="seq")


Query = Callable[[DataFrame], DataFrame]
# The queries of winops and of Spark, by name.
PAIRS: dict[str, tuple[Query, Query]] = {
    "last rows": (
        lambda trades: _kept(trades).rows(),
        lambda trades: last_rows(trades, Job("rows", ROWS)),
    ),
    "mean, low, high": (
        lambda trades: MEAN_LOW_HIGH.answer(_kept(trades)),
        lambda trades: aggregates(trades, Job("aggregates", ROWS)),
    ),
}


def _seconds(query: DataFrame) -> float:
    started = time.perf_counter()
    query.write.format("noop").mode("overwrite").save()
    return time.perf_counter() - started


def main() -> None:
    """Measure both queries."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--millions", type=float, default=50, help="of rows (default: 50)")
    parser.add_argument("--rounds", type=int, default=5, help="timed rounds (default: 5)")
    artifacts = ROOT / "artifacts" / "benchmarks"
    parser.add_argument("--data", type=Path, default=artifacts / "data", help="input files")
    parser.add_argument("--out", type=Path, default=artifacts, help="where the results go")
    args = parser.parse_args()

    spark = session(PARTITIONS)
    rows = int(args.millions * MILLION)
    of_files = [min(MILLION, rows - first) for first in range(0, rows, MILLION)]
    paths = files(args.data, TRADES, KEYS, of_files)
    trades = spark.read.parquet(*map(str, paths))
    ratios: dict[str, list[float]] = {}
    for asked, (winops, plain) in PAIRS.items():
        assert winops(trades).count() == plain(trades).count()
        ratios[asked] = []
        for number in range(args.rounds):
            sides = [winops, plain] if number % 2 == 0 else [plain, winops]
            taken = {side: _seconds(side(trades)) for side in sides}
            ratios[asked].append(taken[winops] / taken[plain])
            print(
                f"{asked} {number}: winops {taken[winops]:.1f} s, Spark {taken[plain]:.1f} s,"
                f" ratio {ratios[asked][-1]:.2f}",
                flush=True,
            )
    lines = [
        f"| asked of {args.millions:g} million rows | ratio to Spark's own | spread |",
        "|---|--:|--:|",
        *[
            f"| {asked} | **{median(each):.2f}** | {min(each):.2f} to {max(each):.2f} |"
            for asked, each in ratios.items()
        ],
    ]
    taken_with = versions(spark)
    lines += ["", ", ".join(f"{name} {version}" for name, version in taken_with.items()), ""]
    args.out.mkdir(parents=True, exist_ok=True)
    table = {"versions": taken_with, "rows": rows, "ratios": ratios}
    (args.out / "table.json").write_text(json.dumps(table, indent=2) + "\n")
    (args.out / "table.md").write_text("\n".join(lines))
    print("\n" + "\n".join(lines))
    spark.stop()


if __name__ == "__main__":
    main()
