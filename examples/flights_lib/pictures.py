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
    axes.margins(x=0)
    axes.xaxis.set_major_locator(mdates.MonthLocator())
    axes.xaxis.set_major_formatter(mdates.DateFormatter("%b"))
    axes.legend(frameon=False, ncols=len(mean.columns))
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
