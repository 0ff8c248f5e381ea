"""The report of a day: the number of flights that left each airport in the last hour."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pandas as pd
from matplotlib import dates as mdates
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from pyspark.sql import DataFrame
from pyspark.sql import functions as F


def last_hour(changes: DataFrame, day: date, zone: str) -> pd.DataFrame:
    """Rows retained per airport at each minute of a local day.

    Parameters
    ----------
    changes
        Change rows of the hour's window.
    day
        Local day.
    zone
        Name of its time zone.

    Returns
    -------
    pandas.DataFrame
        Index: each minute from midnight to midnight, in `zone`; a column per airport.
    """
    minutes = pd.date_range(
        pd.Timestamp(day, tz=zone),
        pd.Timestamp(day, tz=zone) + pd.DateOffset(days=1),
        freq="min",
        unit="us",
    )
    signed = F.when(F.col("_change_type") == "insert", 1).otherwise(-1)
    steps = changes.groupBy("_change_time", "origin").agg(F.sum(signed).alias("step")).toPandas()
    table = steps.pivot_table(index="_change_time", columns="origin", values="step", fill_value=0)
    held = table.sort_index().cumsum()
    held.index = held.index.tz_localize("UTC").tz_convert(zone)
    return held.reindex(minutes, method="ffill").fillna(0).astype(int).rename_axis(columns=None)


def table(held: pd.DataFrame) -> str:
    """The day at each full hour, as text."""
    hourly = held[held.index.minute == 0].iloc[:-1]
    hourly = hourly.set_axis(hourly.index.strftime("%H:%M"))
    hourly.loc["most"] = held.max()
    return hourly.to_string()


def draw(held: pd.DataFrame, day: date, path: Path) -> None:
    """Draw the day as a picture (PNG)."""
    figure = Figure(figsize=(11, 5), layout="constrained")
    # The Agg backend needs no display.
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    for airport in held.columns:
        axes.step(held.index, held[airport], where="post", label=airport, linewidth=1.4)
    axes.set_title(f"Departures in the last 60 minutes, {day:%A} {day}")
    axes.set_ylabel("flights")
    axes.set_xlim(held.index[0], held.index[-1])
    axes.set_ylim(bottom=0)
    axes.xaxis.set_major_locator(mdates.HourLocator(interval=3, tz=held.index.tz))
    axes.xaxis.set_major_formatter(mdates.DateFormatter("%H:%M", tz=held.index.tz))
    axes.grid(alpha=0.3)
    axes.legend(title="from", frameon=False)
    figure.savefig(path, dpi=130)
