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
