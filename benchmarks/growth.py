r"""Measures the cost of state as it grows: bytes, heap, and the time of micro-batches.

    python benchmarks/growth.py
    python benchmarks/growth.py --millions 2 --keys 20000
    python benchmarks/growth.py --millions 120 --keys 1000000 --rows 10000000 \
        --probe-keys 1000000 --probe-rows 100000

A stream of trades fills windows of 100 rows, a million rows in each micro-batch. After each,
a few micro-batches touch only some of the keys, a hundred unless told. The duration of neither
may depend on the number of rows in the state."""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

from pyspark.sql import SparkSession

from data import Source, files
from results import versions
from sessions import session
from sides import QuerySide
from trades import TRADES
from workloads import CHANGES, MILLION, Workload, newest

ROOT = Path(__file__).resolve().parents[1]
WINDOW = 100
PROBES = 5
# Null bits and five columns of eight bytes: a row in Spark's memory format.
ROW_BYTES = 48
# The parts of an entry: Spark's version and the null bits of key and value; the key's hash, the
# key, its number, and the offset of a value.
KEY_BYTES = 1 + 4 * 8
VALUE_HEADER_BYTES = 1 + 2 * 8


def _heap_millions(spark: SparkSession) -> float:
    jvm: Any = spark.sparkContext._jvm
    jvm.java.lang.System.gc()
    runtime = jvm.java.lang.Runtime.getRuntime()
    return float(runtime.totalMemory() - runtime.freeMemory()) / MILLION


def _bytes_of_entries(spark: SparkSession, checkpoint: Path) -> int:
    """Add up the bytes in a state store: keys of four words, and values with their lengths."""
    state = spark.read.format("statestore").load(str(checkpoint))
    [row] = state.selectExpr(
        f"sum(octet_length(value.content) + {KEY_BYTES} + {VALUE_HEADER_BYTES}) AS bytes"
    ).collect()
    return int(row["bytes"])


def main() -> None:
    """Fill the windows, and probe after each million rows."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--millions", type=int, default=10, help="rows to retain (default: 10)")
    parser.add_argument("--keys", type=int, default=100_000, help="number of keys")
    parser.add_argument(
        "--rows", type=int, default=MILLION, help="rows of a filling batch (default: a million)"
    )
    parser.add_argument(
        "--probe-keys", type=int, default=100, help="keys of a small batch (default: 100)"
    )
    parser.add_argument(
        "--probe-rows", type=int, default=1_000, help="rows of a small batch (default: 1000)"
    )
    artifacts = ROOT / "artifacts" / "benchmarks"
    parser.add_argument("--data", type=Path, default=artifacts / "data", help="input files")
    parser.add_argument("--out", type=Path, default=artifacts, help="where the results go")
    args = parser.parse_args()

    spark = session(2)
    batches = args.millions * MILLION // args.rows
    fill = files(args.data, TRADES, args.keys, [args.rows] * batches)
    few = Source("touched-trades", TRADES.key, TRADES.order, TRADES.batches)
    probes = iter(files(args.data, few, args.probe_keys, [args.probe_rows] * PROBES * batches))
    workload = Workload("growth", TRADES, newest(WINDOW), CHANGES, args.keys, args.rows)
    points = []
    with tempfile.TemporaryDirectory(prefix="winops-growth-") as work:
        side = QuerySide("growth", spark, workload, Path(work))
        retained = 0
        for path in fill:
            times = side.take(path, args.rows)
            retained += times.counted["rowsInserted"] - times.counted["rowsDeleted"]
            taken = [side.take(next(probes), args.probe_rows) for _ in range(PROBES)]
            retained += sum(
                one.counted["rowsInserted"] - one.counted["rowsDeleted"] for one in taken
            )
            points.append(
                {
                    "retained": retained,
                    "table bytes": side.state_metric("rocksdbSstFileSize"),
                    "memory bytes": side.state_metric("memoryUsedBytes"),
                    "heap, MB": _heap_millions(spark),
                    "batch, ms": times.add_batch,
                    "probe, ms": median(one.add_batch for one in taken),
                    "probe, bytes per row": median(one.changelog_bytes for one in taken)
                    / args.probe_rows,
                }
            )
            print(points[-1], flush=True)
        per_row = _bytes_of_entries(spark, side.checkpoint) / retained
        side.stop()
    first = points[0]
    lines = [
        "| rows retained | files of the tables, MB | memory of the tables, MB"
        f" | heap in use, MB | batch of {args.rows:,} rows, to the first"
        f" | batch of {args.probe_rows:,} rows over {args.probe_keys:,} keys, to the first"
        " | changelog bytes of such a row |",
        "|--:|--:|--:|--:|--:|--:|--:|",
        *[
            f"| {each['retained']:,} | {each['table bytes'] / MILLION:.0f}"
            f" | {each['memory bytes'] / MILLION:.0f} | {each['heap, MB']:.0f}"
            f" | {each['batch, ms'] / first['batch, ms']:.2f}"
            f" | {each['probe, ms'] / first['probe, ms']:.2f}"
            f" | {each['probe, bytes per row']:.0f} |"
            for each in points
        ],
        "",
        f"A row of {ROW_BYTES} bytes takes {per_row:.1f}, entries and their keys included:"
        f" {per_row / ROW_BYTES:.2f} of its size. 100 million rows would take"
        f" {per_row / 10:.1f} GB. Files hold what has been overwritten too, until they are"
        " compacted.",
        "",
        ", ".join(f"{name} {version}" for name, version in versions(spark).items()),
        "",
    ]
    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / "growth.json").write_text(json.dumps(points, indent=2) + "\n")
    (args.out / "growth.md").write_text("\n".join(lines))
    print("\n" + "\n".join(lines))
    spark.stop()


if __name__ == "__main__":
    main()
