"""The page of the demo: both windows in pictures, for people to look at."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from html import escape
from pathlib import Path

import pandas as pd
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from flights_lib import pictures
from winops import timeline

AIRPORT = "JFK"
CARRIERS_SHOWN = 4
DAYS = 7
# Departures after midnight belong to the evening before. With this number, each bar has a name.
MORNING = pd.DateOffset(hours=4)
FLIGHTS = 28

STYLE = """
body { font: 16px/1.55 system-ui, sans-serif; color: #24313f; background: #fff;
  max-width: 1180px; margin: 0 auto; padding: 2.5rem 1.5rem 4rem; }
h1 { font-size: 2rem; margin: 0 0 .3rem; }
h2 { font-size: 1.3rem; margin: 2.6rem 0 .3rem; }
p { margin: .3rem 0 .8rem; max-width: 60rem; }
code, pre { font-family: ui-monospace, monospace; font-size: .92em; }
code { background: #f1f4f7; padding: .1em .35em; border-radius: 4px; }
pre { background: #f1f4f7; padding: .8rem 1rem; border-radius: 6px; overflow-x: auto; }
.morning { max-width: 860px; }
svg:not(.winops-line) { width: 100%; height: auto; }
footer { margin-top: 3rem; color: #5a6977; border-top: 1px solid #d9e0e7; padding-top: 1rem; }
"""


@dataclass(frozen=True)
class Facts:
    """Results of the run, for the page.

    Attributes
    ----------
    rows
        Number of departures.
    total
        Numbers of changes, in words.
    sentences
        What the windows do, in English, by their policy.
    hours
        The rows of the day at each full hour, as text.
    address
        The address of the tab "Windows".
    live
        The tab's content while the queries ran, as HTML.
    """

    rows: int
    total: str
    sentences: dict[str, str]
    hours: str
    address: str
    live: str


def write(
    path: Path, airports: DataFrame, carriers: DataFrame, facts: Facts, day: date, zone: str
) -> None:
    """Write the page. It needs no network and no scripts.

    Parameters
    ----------
    airports, carriers
        Change rows of both windows.
    day
        Local day of the morning and the table.
    zone
        Name of its time zone.
    """
    changes = _local(
        airports.select("_change_type", "_change_time", "origin", "seq").toArrow().to_pandas(),
        zone,
    )
    policies = "".join(
        f"<p><code>{escape(policy)}</code><br>{_with_code(sentence)}</p>"
        for policy, sentence in facts.sentences.items()
    )
    times = changes.loc[changes["_change_type"] == "insert", "_change_time"]
    parts = [
        f"<h1>{facts.rows:,} departures through two windows</h1>"
        "<p>Replayed as a stream with winops on Apache Spark,"
        f" from {times.min():%B %Y} to {times.max():%B %Y}.</p>",
        policies,
        "<h2>The windows, live</h2>"
        "<p>The tab <b>Windows</b> of Spark's UI while the queries ran, at"
        f" <code>{escape(facts.address)}</code>.</p>"
        + (facts.live or "<p>The run was too short for a picture of the tab.</p>"),
        "<h2>The last 60 minutes, hour by hour</h2>"
        "<p>Rows that the first window held, over all airports: a column for each day.</p>"
        + pictures.year(_hourly(changes)),
        f"<h2>One morning at {AIRPORT}, {day}</h2>" + _drawn(_morning(airports, day, zone)),
        "<h2>The last 20 flights of a carrier</h2>"
        "<p>The mean delay of the rows that the second window held at the end of each day, over"
        f" {DAYS} days.</p>" + pictures.delays(_mean_delays(carriers, zone)),
        f"<h2>{day:%A}, {day}</h2><p>Departures in the last 60 minutes, local time.</p>"
        f"<pre>{escape(facts.hours)}</pre>",
        f"<footer>{escape(facts.total)}, all as computed independently by DuckDB.</footer>",
    ]
    path.write_text(
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>winops: flights</title><style>{STYLE}</style></head><body>"
        + "\n".join(parts)
        + "</body></html>\n",
        encoding="utf-8",
    )


def _with_code(sentence: str) -> str:
    """A sentence as HTML; names in it are in backquotes."""
    return re.sub("`(.*?)`", r"<code>\1</code>", escape(sentence))


def _local(changes: pd.DataFrame, zone: str) -> pd.DataFrame:
    times = pd.to_datetime(changes["_change_time"], utc=True).dt.tz_convert(zone)
    return changes.assign(_change_time=times)


def _hourly(changes: pd.DataFrame) -> pd.DataFrame:
    signs = changes["_change_type"].map({"insert": 1, "delete": -1})
    steps = signs.groupby([changes["_change_time"], changes["origin"]]).sum().unstack()
    held = steps.fillna(0).cumsum()
    hours = pd.date_range(held.index.min().ceil("h", ambiguous=True), held.index.max(), freq="h")
    return held.reindex(hours, method="ffill").fillna(0)


def _morning(airports: DataFrame, day: date, zone: str) -> list[dict[str, object]]:
    """The changes of the airport's first rows of a local day, in order; none without a row."""
    first = pd.Timestamp(day, tz=zone) + MORNING
    of_day = F.col("departure").between(first, pd.Timestamp(day, tz=zone) + pd.DateOffset(days=1))
    read = airports.where((F.col("origin") == AIRPORT) & of_day)
    changes = read.orderBy("_change_seq").toArrow().to_pandas()
    changes = changes[changes["seq"].isin(changes["seq"].unique()[:FLIGHTS])]
    departures = pd.to_datetime(changes["departure"], utc=True).dt.tz_convert(zone)
    return changes.assign(
        flight=changes["carrier"] + " " + changes["flight"].astype(str),
        departure=departures.dt.strftime("%H:%M"),
    ).to_dict("records")


def _drawn(morning: list[dict[str, object]]) -> str:
    if not morning:
        return "<p>No flight departed.</p>"
    return (
        "<p>A bar for each row of the window, drawn by <code>winops.timeline</code>: it enters"
        " when the flight departs, and expires an hour later. Above, the number of rows held."
        f" The first departure was at {morning[0]['departure']}, local time.</p>"
        f'<div class="morning">{timeline(morning, label="flight").svg()}</div>'
    )


def _mean_delays(carriers: DataFrame, zone: str) -> pd.DataFrame:
    """The mean delay of the rows held per carrier at the end of each local day, smoothed."""
    sign = F.when(F.col("_change_type") == "insert", 1).otherwise(-1)
    # A step inserts one row, and deletes the row that it displaces.
    steps = (
        carriers.groupBy("carrier", "_change_step")
        .agg(
            F.sum(sign).alias("rows"),
            F.sum(sign * F.col("dep_delay")).alias("delay"),
            F.max(F.when(F.col("_change_type") == "insert", F.col("departure"))).alias("at"),
        )
        .toArrow()
        .to_pandas()
        .sort_values(["carrier", "_change_step"])
    )
    sums = steps.groupby("carrier")[["rows", "delay"]].cumsum()
    days = pd.to_datetime(steps["at"], utc=True).dt.tz_convert(zone).dt.normalize()
    mean = (sums["delay"] / sums["rows"]).groupby([days, steps["carrier"]]).last().unstack()
    busiest = steps["carrier"].value_counts().index[:CARRIERS_SHOWN]
    return mean[sorted(busiest)].ffill().rolling(DAYS, min_periods=1).mean()
