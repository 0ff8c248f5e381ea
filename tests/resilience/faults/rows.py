"""The input: rows of groups, some of which fall silent, in files of one batch each."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tests.resilience.faults.jobs import HEARTBEAT

FIRST_MICROS = 1_700_000_000_000_000
SECOND_MICROS = 1_000_000
GROUPS = 10
_SCHEMA = pa.schema(
    {
        "k": pa.string(),
        "seq": pa.int64(),
        "price": pa.int32(),
        "ts": pa.timestamp("us", tz="UTC"),
    }.items()
)


def write_files(folder: Path, files: int, rows: int, seed: int) -> None:
    """Write files of the given numbers of rows in time order, and one file that advances time."""
    rng = random.Random(seed)
    folder.mkdir(parents=True)
    seq, micros = 0, FIRST_MICROS
    for number in range(files):
        # A third of the groups is silent, and another third every ten files.
        awake = [g for g in range(GROUPS) if (g + number // 10) % 3]
        batch = []
        for _ in range(rows):
            micros += rng.randrange(SECOND_MICROS // 4)
            batch.append((f"group-{rng.choice(awake)}", seq, rng.randrange(40), micros))
            seq += 1
        _write(folder, number, batch)
    _write(folder, files, [(HEARTBEAT, seq, 0, micros + 3_600 * SECOND_MICROS)])


def _write(folder: Path, number: int, rows: list[tuple[str, int, int, int]]) -> None:
    columns = list(zip(*rows, strict=True))
    table = pa.table(
        [pa.array(c, f.type) for c, f in zip(columns, _SCHEMA, strict=True)], schema=_SCHEMA
    )
    path = folder / f"{number:05}.parquet"
    # Small row groups allow several tasks to read parts of one file.
    pq.write_table(table, path, row_group_size=10)
    # The source takes files in the order of their modification times.
    os.utime(path, (1_000_000 + number, 1_000_000 + number))
