"""Rows that arrive out of the order of their times."""

from __future__ import annotations

import numpy as np
import pandas as pd


def as_they_arrive(
    rows: pd.DataFrame, time: str, seconds: int, rng: np.random.Generator
) -> pd.DataFrame:
    """Return the rows in an order in which each row arrives up to `seconds` after its `time`."""
    on_the_way = pd.to_timedelta(rng.integers(0, seconds, len(rows), endpoint=True), unit="s")
    arrival = (rows[time] + on_the_way).sort_values(kind="stable")
    return rows.loc[arrival.index].reset_index(drop=True)


def and_a_late_end(rows: pd.DataFrame, time: str, **marks: object) -> pd.DataFrame:
    """Repeat the last row a day later, so that the watermark passes all others.

    Parameters
    ----------
    rows
        Rows in the order of a stream.
    time
        Column of the watermark.
    marks
        Values that tell the added row from others, by their columns.
    """
    end = rows.tail(1).assign(**marks)
    end[time] = rows[time].max() + pd.Timedelta(days=1)
    return pd.concat([rows, end], ignore_index=True)
