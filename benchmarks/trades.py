"""Trades over any number of keys: even, skewed, or with keys that fall silent."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from data import Source

SEED = 20130101
FIRST_MICROS = 1_357_000_000_000_000
MICROS_PER_ROW = 100

Numbers = npt.NDArray[np.int64]
# Returns keys, from 0 on, for rows with these numbers.
Keys = Callable[[np.random.Generator, Numbers, int], Numbers]


def _even(rng: np.random.Generator, seq: Numbers, keys: int) -> Numbers:
    return rng.integers(0, keys, len(seq), dtype="int64")


def _skewed(rng: np.random.Generator, seq: Numbers, keys: int) -> Numbers:
    return (keys * rng.uniform(0, 1, len(seq)) ** 1.5).astype("int64")


def _coming_and_going(rng: np.random.Generator, seq: Numbers, keys: int) -> Numbers:
    """Half of twice as many keys are silent at a time; a new key awakes every 1,000 rows."""
    awake = seq // 1_000 + rng.integers(0, keys, len(seq), dtype="int64")
    return awake % (2 * keys)


def _each_then_any(rng: np.random.Generator, seq: Numbers, keys: int) -> Numbers:
    """Each key has one of the first rows; of the other rows, one in ten has a new key."""
    any_key = rng.integers(0, keys, len(seq), dtype="int64")
    return np.where((seq < keys) | (seq % 10 == 0), seq, any_key)


def _trades(name: str, choose: Keys) -> Source:
    def batches(sizes: Sequence[int], keys: int) -> Iterator[pa.Table]:
        first = 0
        for rows in sizes:
            rng = np.random.default_rng([SEED, first, rows])
            seq = np.arange(first, first + rows, dtype="int64")
            ts = FIRST_MICROS + seq * MICROS_PER_ROW
            yield pa.table(
                {
                    # Keys start at 1, because Spark then hashes two keys to two partitions.
                    "key": 1 + choose(rng, seq, keys),
                    "seq": seq,
                    "price": np.round(rng.uniform(1, 500, rows), 2),
                    "qty": rng.integers(1, 1_000, rows, dtype="int64"),
                    "ts": pa.array(ts, pa.timestamp("us", tz="UTC")),
                }
            )
            first += rows

    return Source(name, key="key", order=("seq",), batches=batches)


TRADES = _trades("trades", _even)
SKEWED_TRADES = _trades("skewed-trades", _skewed)
SILENT_TRADES = _trades("silent-trades", _coming_and_going)
FILLED_TRADES = _trades("filled-trades", _each_then_any)
