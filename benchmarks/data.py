"""The input: one Parquet file per micro-batch, written once and used by both sides."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

SEED = 20130101
STAMP = "seq"
KEY = "key"
# Row groups are what Spark can split a file by, so that both cores read.
ROW_GROUPS = 8
FIRST_MICROS = 1_357_000_000_000_000
MICROS_PER_ROW = 100


def batch(keys: int, rows: int, number: int) -> pa.Table:
    """Rows of micro-batch `number`: five columns, ``seq`` growing from batch to batch."""
    rng = np.random.default_rng([SEED, number])
    seq = np.arange(number * rows, (number + 1) * rows, dtype="int64")
    return pa.table(
        {
            KEY: rng.integers(0, keys, rows, dtype="int64"),
            STAMP: seq,
            "price": np.round(rng.uniform(1, 500, rows), 2),
            "qty": rng.integers(1, 1_000, rows, dtype="int64"),
            "ts": pa.array(FIRST_MICROS + seq * MICROS_PER_ROW, pa.timestamp("us", tz="UTC")),
        }
    )


def files(cache: Path, keys: int, rows: int, batches: int) -> list[Path]:
    """Write the micro-batches that `cache` does not have yet, and give them all, in order."""
    folder = cache / f"keys-{keys}-rows-{rows}"
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"batch-{number:04d}.parquet" for number in range(batches)]
    for number, path in enumerate(paths):
        if not path.exists():
            half = path.with_suffix(".part")
            group = max(1, rows // ROW_GROUPS)
            pq.write_table(batch(keys, rows, number), half, row_group_size=group)
            half.rename(path)
    return paths


def deliver(path: Path, source: Path) -> None:
    """Make a micro-batch appear, whole, in the directory of a file source."""
    try:
        (source / path.name).hardlink_to(path)
    except OSError:
        # Another file system. The source does not look at names that begin with a dot.
        hidden = source / f".{path.name}"
        shutil.copyfile(path, hidden)
        hidden.rename(source / path.name)
