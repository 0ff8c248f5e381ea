"""The windows over pandas frames: a key's held rows, and its newly arrived rows.

Frames have the columns `HELD`; time is in microseconds. Each function returns the output of the
step, in order, and the rows held after it.
"""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

HELD = ["seq", "price", "qty", "micros"]

Step = tuple[pd.DataFrame, pd.DataFrame]


def in_order(arrived: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """Combine a key's rows of a micro-batch, in order."""
    return pd.concat(arrived, ignore_index=True)[HELD].sort_values("seq", ignore_index=True)


def last_rows(held: pd.DataFrame, arrived: pd.DataFrame, rows: int) -> Step:
    """Return the changes of the last `rows` rows."""
    every = pd.concat([held, arrived], ignore_index=True)
    inserts = every.iloc[len(held) :].assign(kind="insert")
    deletes = every.iloc[: max(0, len(every) - rows)].assign(kind="delete")
    # Each delete follows the insert that evicts the row.
    deletes.index += rows
    return pd.concat([inserts, deletes]).sort_index(kind="stable"), every.iloc[-rows:]


def last_millis(held: pd.DataFrame, arrived: pd.DataFrame, millis: int) -> Step:
    """Return the changes of the rows of the last `millis` milliseconds, up to the newest row."""
    every = pd.concat([held, arrived], ignore_index=True)
    deletes, kept = expired(every, millis, every["micros"].iloc[-1])
    inserts = arrived.assign(kind="insert").set_index(arrived["micros"])
    deletes = deletes.set_index(deletes["micros"] + millis * 1000)
    # At the same instant, expired rows are deleted before inserts.
    return pd.concat([deletes, inserts]).sort_index(kind="stable"), kept


def expired(held: pd.DataFrame, millis: int, now: int) -> Step:
    """Return the rows that have expired at `now`, in microseconds."""
    count = int(held["micros"].searchsorted(now - millis * 1000, side="right"))
    return held.iloc[:count].assign(kind="delete"), held.iloc[count:]


def due_millis(held: pd.DataFrame, millis: int) -> int:
    """Return the first whole millisecond at which the oldest row has expired."""
    return -(-int(held["micros"].iloc[0]) // 1000) + millis


def averaged(held: pd.DataFrame, arrived: pd.DataFrame, rows: int) -> Step:
    """Return each arrived row with mean, least and greatest price of the last `rows` rows."""
    every = pd.concat([held, arrived], ignore_index=True)
    prices = every["price"].rolling(rows, min_periods=1)
    means = every.assign(mean=prices.mean(), low=prices.min(), high=prices.max())
    return means.iloc[len(held) :], every.iloc[-rows:]
