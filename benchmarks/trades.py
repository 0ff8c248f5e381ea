"""Trades that are spread evenly, at random, over any number of keys."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import numpy as np
import pyarrow as pa

from data import Source

SEED = 20130101
FIRST_MICROS = 1_357_000_000_000_000
MICROS_PER_ROW = 100


def _batches(rows: int, keys: int) -> Iterator[pa.Table]:
    for number in count():
        rng = np.random.default_rng([SEED, number])
        seq = np.arange(number * rows, (number + 1) * rows, dtype="int64")
        ts = FIRST_MICROS + seq * MICROS_PER_ROW
        yield pa.table(
            {
                # From 1 on: of two keys, Spark's hash brings each into a partition of its own.
                "key": 1 + rng.integers(0, keys, rows, dtype="int64"),
                "seq": seq,
                "price": np.round(rng.uniform(1, 500, rows), 2),
                "qty": rng.integers(1, 1_000, rows, dtype="int64"),
                "ts": pa.array(ts, pa.timestamp("us", tz="UTC")),
            }
        )


TRADES = Source("trades", key="key", order=("seq",), batches=_batches)
