"""Pictures of the windows, drawn from their change rows alone."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
from matplotlib import dates as mdates
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

COLOURS = ("#1f6fb2", "#cf5f36", "#2a9160", "#8a6d1f", "#7b4fa3")
INK = "#5a6977"


def year(held: pd.DataFrame) -> str:
    """Draw the size of the hour's window over the year: a column per day, a row per hour.

    Parameters
    ----------
    held
        Index: each full hour of the year in local time; a column per airport.
    """
    hours = held.sum(axis=1)
    # A clock change has an hour twice or not at all.
    table = hours.groupby([hours.index.hour, hours.index.date]).max().unstack().astype(float)
    figure, axes = _figure(11, 3.4)
    days = pd.to_datetime(table.columns)
    picture = axes.pcolormesh(
        days,
        table.index,
        np.ma.masked_invalid(table.to_numpy()),
        cmap="viridis",
        shading="nearest",
    )
    picture.set_rasterized(True)
    axes.xaxis.set_major_locator(mdates.MonthLocator())
    axes.xaxis.set_major_formatter(mdates.DateFormatter("%b"))
    axes.set_yticks(range(0, 24, 6), [f"{hour:02}:00" for hour in range(0, 24, 6)])
    figure.colorbar(picture, ax=axes, label="flights in the window", pad=0.01)
    return _svg(figure)


def delays(mean: pd.DataFrame) -> str:
    """Draw the mean delay of the rows that the window of 20 flights held, for some carriers.

    Parameters
    ----------
    mean
        Index: days; a column per carrier, in minutes.
    """
    figure, axes = _figure(11, 3.4)
    for colour, carrier in zip(COLOURS, mean.columns, strict=False):
        axes.plot(mean.index, mean[carrier], label=carrier, color=colour, linewidth=1.5)
    axes.axhline(0, color=INK, linewidth=0.6)
    axes.set_ylabel("mean delay, minutes")
    axes.set_xlim(mean.index[0], mean.index[-1])
    axes.xaxis.set_major_locator(mdates.MonthLocator())
    axes.xaxis.set_major_formatter(mdates.DateFormatter("%b"))
    axes.legend(frameon=False, ncols=len(mean.columns))
    return _svg(figure)


def morning(bars: pd.DataFrame, first: pd.Timestamp, last: pd.Timestamp, label: str) -> str:
    """Draw a bar from the insert to the delete of each row, and the number of rows held above.

    Parameters
    ----------
    bars
        Columns ``enters`` and ``leaves``.
    first, last
        The ends of the picture.
    """
    bars = bars[(bars["leaves"] > first) & (bars["enters"] < last)]
    bars = bars.sort_values("enters", ignore_index=True)
    figure = Figure(figsize=(11, 6), layout="constrained")
    FigureCanvasSVG(figure)
    size, rows = figure.subplots(2, 1, sharex=True, height_ratios=(1, 3))
    for axes in (size, rows):
        _bare(axes)
    changes = pd.concat([pd.Series(1, index=bars["enters"]), pd.Series(-1, index=bars["leaves"])])
    held = changes.groupby(level=0).sum().sort_index().cumsum()
    size.fill_between(held.index, held, step="post", color=COLOURS[0], alpha=0.2)
    size.step(held.index, held, where="post", color=COLOURS[0])
    size.set_ylabel("rows held")
    size.set_ylim(bottom=0)
    enters, leaves = (mdates.date2num(bars[name]) for name in ("enters", "leaves"))
    rows.hlines(bars.index, enters, leaves, color=COLOURS[0], alpha=0.55, linewidth=2.2)
    rows.plot(enters, bars.index, "o", color=COLOURS[2], markersize=3.5)
    rows.plot(leaves, bars.index, "o", color=COLOURS[1], markersize=3.5)
    rows.invert_yaxis()
    rows.set_ylabel("departures")
    rows.set_xlim(first, last)
    rows.xaxis.set_major_locator(mdates.MinuteLocator(byminute=(0, 30), tz=first.tz))
    rows.xaxis.set_major_formatter(mdates.DateFormatter("%H:%M", tz=first.tz))
    rows.set_xlabel(label)
    return _svg(figure)


def _figure(width: float, height: float) -> tuple[Figure, object]:
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasSVG(figure)
    axes = figure.subplots()
    _bare(axes)
    return figure, axes


def _bare(axes: object) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color("#c6cfd8")
    axes.tick_params(colors=INK)


def _svg(figure: Figure) -> str:
    """The picture as an SVG element for a page."""
    out = io.StringIO()
    figure.savefig(out, format="svg", dpi=110)
    text = out.getvalue()
    return text[text.index("<svg") :]
