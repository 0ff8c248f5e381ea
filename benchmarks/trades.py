"""Trades over any number of keys: even, skewed, silent, delayed, or as in a feed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from data import Source

SEED = 20130101
FIRST_MICROS = 1_357_000_000_000_000
MICROS_PER_ROW = 100
HOUR_MICROS = 3_600_000_000
MICROS_PER_DELAYED_ROW = 500

Numbers = npt.NDArray[np.int64]
# Returns keys, from 0 on, for rows with these numbers.
Keys = Callable[[np.random.Generator, Numbers, int], Numbers]


def _even(rng: np.random.Generator, seq: Numbers, keys: int) -> Numbers:
    return rng.integers(0, keys, len(seq), dtype="int64")


def _in_turns(_rng: np.random.Generator, seq: Numbers, keys: int) -> Numbers:
    return seq % keys


def _skewed(rng: np.random.Generator, seq: Numbers, keys: int) -> Numbers:
    return (keys * rng.uniform(0, 1, len(seq)) ** 1.5).astype("int64")


def _coming_and_going(rng: np.random.Generator, seq: Numbers, keys: int) -> Numbers:
    """Half of twice as many keys are silent at a time; a new key awakes every 1,000 rows."""
    awake = seq // 1_000 + rng.integers(0, keys, len(seq), dtype="int64")
    return awake % (2 * keys)


# Returns the times of rows with these numbers, in microseconds.
Times = Callable[[np.random.Generator, Numbers], Numbers]


def _in_order(_rng: np.random.Generator, seq: Numbers) -> Numbers:
    return FIRST_MICROS + seq * MICROS_PER_ROW


def _delayed(rng: np.random.Generator, seq: Numbers) -> Numbers:
    """A row every half a millisecond, each delayed by up to an hour."""
    delay: Numbers = rng.integers(0, HOUR_MICROS, len(seq), dtype="int64")
    return FIRST_MICROS + HOUR_MICROS + seq * MICROS_PER_DELAYED_ROW - delay


def _each_then_any(rng: np.random.Generator, seq: Numbers, keys: int) -> Numbers:
    """Each key has one of the first rows; of the other rows, one in ten has a new key."""
    any_key = rng.integers(0, keys, len(seq), dtype="int64")
    return np.where((seq < keys) | (seq % 10 == 0), seq, any_key)


def _trades(name: str, choose: Keys, times: Times = _in_order) -> Source:
    def batches(sizes: Sequence[int], keys: int) -> Iterator[pa.Table]:
        first = 0
        for rows in sizes:
            rng = np.random.default_rng([SEED, first, rows])
            seq = np.arange(first, first + rows, dtype="int64")
            yield pa.table(
                {
                    # Keys start at 1, because Spark then hashes two keys to two partitions.
                    "key": 1 + choose(rng, seq, keys),
                    "seq": seq,
                    "price": np.round(rng.uniform(1, 500, rows), 2),
                    "qty": rng.integers(1, 1_000, rows, dtype="int64"),
                    "ts": pa.array(times(rng, seq), pa.timestamp("us", tz="UTC")),
                }
            )
            first += rows

    return Source(name, key="key", order=("seq",), batches=batches)


def _feed(sizes: Sequence[int], keys: int) -> Iterator[pa.Table]:
    """Yield rows with symbols of different lengths, of which a few have most of the rows."""
    first = 0
    for rows in sizes:
        rng = np.random.default_rng([SEED, first, rows])
        seq = np.arange(first, first + rows, dtype="int64")
        numbers = (keys * rng.uniform(0, 1, rows) ** 3).astype("int64")
        symbols = pa.array([f"S{number:x}.N" for number in range(keys)])
        yield pa.table(
            {
                "key": symbols.take(pa.array(numbers)),
                "seq": seq,
                "price": np.round(rng.uniform(1, 500, rows), 2),
                "qty": rng.integers(1, 1_000, rows, dtype="int64"),
                "ts": pa.array(_in_order(rng, seq), pa.timestamp("us", tz="UTC")),
            }
        )
        first += rows


TRADES = _trades("trades", _even)
SKEWED_TRADES = _trades("skewed-trades", _skewed)
SILENT_TRADES = _trades("silent-trades", _coming_and_going)
DELAYED_TRADES = _trades("delayed-trades", _even, _delayed)
FEED = Source("feed", key="key", order=("seq",), batches=_feed)
TRADES_IN_TURNS = _trades("trades-in-turns", _in_turns)
FILLED_TRADES = _trades("filled-trades", _each_then_any)
