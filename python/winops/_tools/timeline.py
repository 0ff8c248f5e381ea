"""Pictures of windows: a bar for each row, from the change that inserts it to its delete."""

from __future__ import annotations

import io
import re
import textwrap
from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, final
from xml.etree import ElementTree

from winops import _arguments as arguments
from winops._errors import wrong_value
from winops._kept import CHANGE_COLUMNS
from winops.testing._rows import as_dict, as_rows

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.console import Console, ConsoleOptions, RenderResult

_OF_CHANGES = CHANGE_COLUMNS | {"_window"}

# The types of rows that are among the changes and in no window.
_WITHOUT_EFFECT = ("late", "refused")

#: The most rows of a picture; more bars would be too thin to see.
MAX_BARS = 400

# Colours that stand out from a white and from a black page. Most are those that Okabe and Ito
# chose for readers who do not tell red from green.
_COLOURS = {
    "": "#8a8a8a",
    "arrived": "#8a8a8a",
    "trigger": "#cc79a7",
    "displaced": "#2f86c5",
    "expired": "#e69f00",
    "replaced": "#009e73",
    "condition": "#56b4e9",
    "distance": "#d55e00",
    "silence": "#b8a500",
    "punctuation": "#9467bd",
    "group idle": "#b5763f",
    "group limit": "#c44e52",
    "window changed": "#c44e52",
    "updated": "#8a8a8a",
    "deleted": "#c44e52",
}
_HELD = "#9aa5b1"
_INK = "#808890"
# The letters of a line of the title, its most lines and their distance in inches, the bars up to
# which each has its name, and the part of the width before the first bar if names are short.
_TITLE_WIDTH = 84
_TITLE_LINES = 4
_TITLE_LINE = 0.16
_MOST_LABELS = 48
_LEFT = 0.11
_AT_ONCE = frozenset({"trigger", "punctuation", "silence", "group idle", "group limit"})


@dataclass(frozen=True)
class Bar:
    """A row in a window.

    Attributes
    ----------
    row : dict
        The row.
    enters, leaves : float
        The position of its insert and its delete on the axis; `leaves` is None while it is held.
    reason : str
        The reason of its delete; empty without a delete, or if the changes have no reasons.
    entered_by : str
        The reason of its insert.
    """

    row: Mapping[str, Any]
    enters: float
    leaves: float | None
    reason: str
    entered_by: str


@dataclass(frozen=True)
class Lane:
    """The bars of one group, in the order of their insertion."""

    name: str
    bars: tuple[Bar, ...]

    def sizes(self) -> list[tuple[float, int]]:
        """Return the number of rows after each position at which it changes."""
        steps: dict[float, int] = defaultdict(int)
        for bar in self.bars:
            steps[bar.enters] += 1
            if bar.leaves is not None:
                steps[bar.leaves] -= 1
        size, found = 0, []
        for at in sorted(steps):
            size += steps[at]
            found.append((at, size))
        return found


@final
class Timeline:
    """The picture of a window; :func:`winops.timeline` and ``Kept.timeline`` create it.

    It shows itself in a notebook as SVG, or as text without matplotlib, and in a terminal with
    ``rich.print``.

    Examples
    --------
    >>> from winops import testing, timeline
    >>> picture = timeline(testing.changes([{"n": 1}, {"n": 2}], "KEEP 1 ROW"))
    >>> [(bar.row["n"], bar.reason) for bar in picture.lanes[0].bars]
    [(1, 'displaced'), (2, '')]
    """

    def __init__(self, lanes: Sequence[Lane], title: str, unit: str, label: str | None) -> None:
        self.lanes = tuple(lanes)
        self.title = title
        self._unit = unit
        self._label = label

    def svg(self) -> str:
        """Return the picture as SVG, in which every bar has a tooltip.

        The same changes give the same bytes.

        Raises
        ------
        ImportError
            matplotlib is missing: ``pip install 'winops[plot]'``.
        """
        return _with_tooltips(self._drawn("svg").decode("utf-8"), self.lanes)

    def png(self) -> bytes:
        """Return the picture as PNG; raises as :meth:`svg`."""
        return self._drawn("png")

    def html(self) -> str:
        """Return a page without scripts that needs no network; raises as :meth:`svg`."""
        return (
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
            f"<title>{escape(self.title or 'Timeline')}</title><style>"
            ":root{color-scheme:light dark}body{font:15px/1.5 system-ui,sans-serif;"
            "margin:2rem auto;max-width:60rem;padding:0 1rem}"
            "svg{width:100%;height:auto}</style></head>"
            f"<body>\n{self.svg()}\n</body></html>\n"
        )

    def save(self, path: str | Path) -> Path:
        """Write a file whose name ends in ``.svg``, ``.png`` or ``.html``.

        Raises
        ------
        PySparkValueError
            ``WINOPS_ARGUMENT``: the name has another ending.
        """
        file = Path(path)
        match file.suffix.lower():
            case ".svg":
                file.write_text(self.svg(), encoding="utf-8")
            case ".png":
                file.write_bytes(self.png())
            case ".html":
                file.write_text(self.html(), encoding="utf-8")
            case other:
                raise wrong_value(f"save() writes .svg, .png and .html, not {other or path!r}.")
        return file

    def text(self, width: int = 64) -> str:
        """Return the picture as plain text, a line for each row."""
        return "\n".join(
            " ".join(part for part, _ in line).rstrip() for line in _lines(self, width)
        )

    def _drawn(self, kind: str) -> bytes:
        try:
            import matplotlib as mpl
        except ImportError as error:
            raise ImportError(
                "Pictures need matplotlib: pip install 'winops[plot]'. text() needs nothing."
            ) from error
        settings: dict[str, Any] = {
            # Without these, each run gives other bytes.
            "svg.hashsalt": "winops",
            "svg.fonttype": "none",
            "font.family": "sans-serif",
            "font.size": 9,
        }
        with mpl.rc_context(settings):
            figure = _figure(self)
            out = io.BytesIO()
            metadata = {"Date": None, "Creator": None} if kind == "svg" else {"Software": None}
            figure.savefig(out, format=kind, transparent=True, dpi=144, metadata=metadata)
        return out.getvalue()

    def _repr_html_(self) -> str:
        try:
            return self.svg()
        except ImportError:
            return f"<pre>{escape(self.text())}</pre>"

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw the picture with colours in a terminal."""
        from rich.text import Text

        for line in _lines(self, max(20, options.max_width - 34)):
            text = Text(no_wrap=True, overflow="crop")
            for part, colour in line:
                text.append(part, colour or "")
                text.append(" ")
            yield text

    def __repr__(self) -> str:
        return self.text()


@arguments.known
def timeline(
    changes: Any,
    *,
    per: arguments.Names | None = None,
    label: str | None = None,
    title: str = "",
) -> Timeline:
    """Draw change rows: a bar for each row from its insert to its delete, a lane for each group.

    Parameters
    ----------
    changes : DataFrame, pandas.DataFrame, list of Row, list of dict, or list of testing.Change
        The rows of :meth:`winops.Kept.changes` or what a stream wrote of it. A DataFrame of Spark
        is collected. With ``_change_reason``, the reasons are marked.
    per : str or list of str, optional
        The columns of the group.
    label : str, optional
        The column that names each bar; by default the first column outside the group.
    title : str, optional
        The title, such as the sentence of :meth:`winops.Kept.describe`.

    Returns
    -------
    Timeline
        The picture, with methods for SVG, PNG, HTML and text.

    Raises
    ------
    PySparkValueError
        ``WINOPS_ARGUMENT``: there are no changes, a column is missing, or there are more than 400
        rows. A delete whose insert is not among the changes is drawn as a mark.

    Examples
    --------
    >>> from winops import testing, timeline
    >>> rows = [{"n": 1}, {"n": 2}, {"n": 3}]
    >>> print(timeline(testing.changes(rows, "KEEP 2 ROWS")).text(width=9))
    n=1 ████████  displaced
    n=2     █████ held
    n=3         █ held
    """
    read = [
        change
        for change in map(_as_change, _collected(changes))
        if change["_change_type"] not in _WITHOUT_EFFECT
    ]
    if not read:
        raise wrong_value("timeline() draws changes, but there are none.")
    names = arguments.names("per", per)
    for name in (*names, *(() if label is None else (label,))):
        if name not in read[0]:
            columns = [column for column in read[0] if column not in _OF_CHANGES]
            raise wrong_value(
                f"The changes have no column {name}. The columns are {', '.join(columns)}."
            )
    has_time = all(change.get("_change_time") is not None for change in read)
    lanes = [
        Lane(name, _bars(of_lane, has_time)) for name, of_lane in _divided(read, names).items()
    ]
    drawn = sum(len(lane.bars) for lane in lanes)
    if drawn > MAX_BARS:
        raise wrong_value(
            f"timeline() draws at most {MAX_BARS} rows, but the changes have {drawn}. Filter "
            "them, such as by a group or by _change_time."
        )
    columns = [name for name in read[0] if name not in _OF_CHANGES and name not in names]
    shown = label if label is not None or not columns else columns[0]
    return Timeline(lanes, title, "time" if has_time else "step", shown)


def _collected(changes: Any) -> Sequence[Any]:
    if hasattr(changes, "limit") and hasattr(changes, "collect"):
        # Two changes for each bar, and one more that shows that there are too many.
        return list(changes.limit(2 * MAX_BARS + 1).collect())
    return as_rows(changes)


def _as_change(change: Any) -> dict[str, Any]:
    if hasattr(change, "reason") and hasattr(change, "row"):
        described = {
            "_change_type": change.type,
            "_change_time": change.time,
            "_change_step": change.step,
            "_change_seq": change.seq,
            "_change_reason": change.reason,
        }
        if change.window is not None:
            described["_window"] = change.window
        return {**described, **as_dict(change.row)}
    row = dict(as_dict(change))
    missing = [name for name in ("_change_type", "_change_seq") if name not in row]
    if missing:
        raise wrong_value(f"These are no changes: the column {missing[0]} is missing.")
    return row


def _divided(
    changes: Sequence[Mapping[str, Any]], names: Sequence[str]
) -> dict[str, list[Mapping[str, Any]]]:
    """Return the changes by lane, in their order within the group."""
    lanes: dict[str, list[Mapping[str, Any]]] = {}
    for change in changes:
        parts = [f"{name}={change[name]}" for name in names]
        if "_window" in change:
            parts.append(str(change["_window"]))
        lanes.setdefault(", ".join(parts), []).append(change)

    def place(change: Mapping[str, Any]) -> tuple[Any, ...]:
        # After its removal a group starts again with the number 0.
        return (change.get("_change_time") or datetime.min, change["_change_seq"])

    return {name: sorted(lanes[name], key=place) for name in sorted(lanes)}


def _bars(changes: Sequence[Mapping[str, Any]], has_time: bool) -> tuple[Bar, ...]:
    open_bars: dict[Hashable, list[int]] = defaultdict(list)
    bars: list[Bar] = []
    for change in changes:
        row = {name: value for name, value in change.items() if name not in _OF_CHANGES}
        at = (
            change["_change_time"].timestamp()
            if has_time
            else float(change.get("_change_step", 0))
        )
        reason = change.get("_change_reason") or ""
        key = repr(sorted((name, repr(value)) for name, value in row.items()))
        if change["_change_type"] in ("insert", "update_after"):
            open_bars[key].append(len(bars))
            bars.append(Bar(row, at, None, "", reason))
        elif open_bars[key]:
            index = open_bars[key].pop(0)
            bar = bars[index]
            bars[index] = Bar(bar.row, bar.enters, at, reason, bar.entered_by)
        else:
            # A statement that selects rstream emits no inserts.
            bars.append(Bar(row, at, at, reason, ""))
    return tuple(bars)


def _span(lanes: Sequence[Lane]) -> tuple[float, float]:
    places = [
        place
        for lane in lanes
        for bar in lane.bars
        for place in (bar.enters, bar.leaves)
        if place is not None
    ]
    first, last = min(places, default=0.0), max(places, default=1.0)
    # A row that is held to the end needs room behind its start.
    return first, last + (last - first or 1.0) / 8


def _names(timeline: Timeline, bar: Bar) -> str:
    label = timeline._label
    return f"{label}={bar.row[label]}" if label is not None and label in bar.row else ""


def _left_margin(timeline: Timeline) -> float:
    """Return the part of the width that the longest name of a bar needs before the first bar."""
    longest = max(len(_names(timeline, bar)) for lane in timeline.lanes for bar in lane.bars)
    return min(0.4, max(_LEFT, 0.03 + 0.0095 * longest))


def _figure(timeline: Timeline) -> Figure:
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    first, last = _span(timeline.lanes)
    rows = sum(len(lane.bars) for lane in timeline.lanes)
    thickness = 0.24 if rows <= 24 else max(0.06, 6.0 / rows)
    heights: list[float] = []
    for lane in timeline.lanes:
        # A gap, in which the name of the lane stands, then the sizes, then the bars.
        gap = 0.36 if lane.name or heights else 0.1
        heights += [gap, 0.5, max(1, len(lane.bars)) * thickness + 0.1]
    title = textwrap.wrap(
        _plain(timeline.title).replace("`", ""),
        _TITLE_WIDTH,
        max_lines=_TITLE_LINES,
        placeholder=" ...",
    )
    above = 0.3 + _TITLE_LINE * (len(title) - 1) if title else 0.1
    height = sum(heights) + above + 0.72
    figure = Figure(figsize=(7.2, height))
    grid = figure.add_gridspec(len(heights), 1, height_ratios=heights, hspace=0.0)
    figure.subplots_adjust(
        left=_left_margin(timeline) if rows <= _MOST_LABELS else _LEFT,
        right=0.985,
        top=1 - above / height,
        bottom=0.72 / height,
    )
    offset = first if timeline._unit == "time" else 0.0
    scale, unit = _scale(last - first) if timeline._unit == "time" else (1.0, "step of the group")
    seen: dict[str, None] = {}
    for number, lane in enumerate(timeline.lanes):
        sizes = figure.add_subplot(grid[3 * number + 1])
        axes = figure.add_subplot(grid[3 * number + 2], sharex=sizes)
        _draw_sizes(sizes, lane, last, offset, scale)
        for index, bar in enumerate(lane.bars):
            end = last if bar.leaves is None else bar.leaves
            start, stop = (bar.enters - offset) / scale, (end - offset) / scale
            colour = _HELD if bar.leaves is None else _COLOURS.get(bar.reason, _INK)
            seen.setdefault("held" if bar.leaves is None else bar.reason or "left")
            patch = axes.barh(
                index, max(stop - start, 0.0), left=start, height=0.72, color=colour, alpha=0.85
            )[0]
            patch.set_gid(f"bar-{number}-{index}")
            marks = [axes.plot([start], [index], marker="o", color=_INK, markersize=2.6)[0]]
            if stop == start:
                # A bar without a width cannot show a tooltip, so its marks do.
                marks += axes.plot([start], [index], marker="|", color=colour, markersize=9)
                for part, mark in enumerate(marks):
                    mark.set_gid(f"mark-{number}-{index}-{part}")
            if rows <= _MOST_LABELS and bar.reason:
                _note(axes, bar.reason, (stop, index), 4, "left", colour)
            if rows <= _MOST_LABELS:
                _note(axes, _names(timeline, bar), (start, index), -5, "right", _INK)
        for at, reason in _together(lane):
            axes.axvline(
                (at - offset) / scale,
                color=_COLOURS[reason],
                linewidth=1.1,
                linestyle=(0, (3, 2)),
            )
        _finish(axes, lane, first, last, offset, scale)
        is_last = number == len(timeline.lanes) - 1
        axes.tick_params(axis="x", labelbottom=is_last, colors=_INK, length=3 if is_last else 0)
        if is_last:
            axes.set_xlabel(unit, color=_INK)
    if title:
        figure.text(
            0.012,
            # The baseline is that of the last line.
            1 - (0.22 + _TITLE_LINE * (len(title) - 1)) / height,
            "\n".join(title),
            color=_INK,
            fontsize=9.5,
            parse_math=False,
        )
    handles = [
        Patch(color=_HELD if name == "held" else _COLOURS.get(name, _INK), label=name)
        for name in seen
    ]
    figure.legend(
        handles=handles,
        loc="lower right",
        ncols=6,
        frameon=False,
        labelcolor=_INK,
        fontsize=8,
        bbox_to_anchor=(0.99, 0.0),
        handlelength=1.1,
    )
    return figure


def _note(
    axes: Any, text: str, place: tuple[float, int], points: int, side: str, colour: str
) -> None:
    axes.annotate(
        _plain(text),
        place,
        xytext=(points, 0),
        textcoords="offset points",
        ha=side,
        va="center",
        fontsize=7.5,
        color=colour,
        annotation_clip=False,
        parse_math=False,
    )


def _draw_sizes(axes: Any, lane: Lane, last: float, offset: float, scale: float) -> None:
    sizes = [*lane.sizes()]
    sizes.append((last, sizes[-1][1] if sizes else 0))
    places = [(at - offset) / scale for at, _ in sizes]
    counts = [size for _, size in sizes]
    axes.step(places, counts, where="post", color=_INK, linewidth=1.3)
    axes.fill_between(places, counts, step="post", color=_INK, alpha=0.18, linewidth=0)
    most = max(counts, default=1)
    axes.set_ylim(0, most * 1.15 + 0.2)
    axes.set_yticks([most])
    axes.set_ylabel("rows", color=_INK, fontsize=7.5, rotation=0, ha="right", va="center")
    axes.tick_params(axis="y", colors=_INK, length=2, labelsize=7.5)
    axes.tick_params(axis="x", labelbottom=False, length=0)
    if lane.name:
        axes.set_title(
            _plain(lane.name), loc="left", fontsize=8.5, color=_INK, pad=2, parse_math=False
        )
    for side in axes.spines.values():
        side.set_visible(False)


def _finish(
    axes: Any, lane: Lane, first: float, last: float, offset: float, scale: float
) -> None:
    axes.set_ylim(len(lane.bars) - 0.4, -0.6)
    axes.set_yticks([])
    low, high = (first - offset) / scale, (last - offset) / scale
    axes.set_xlim(low - (high - low) * 0.05, high)
    axes.grid(axis="x", color=_INK, alpha=0.2, linewidth=0.6)
    axes.set_axisbelow(True)
    for name, side in axes.spines.items():
        side.set_visible(name == "bottom")
        side.set_color(_INK)


def _together(lane: Lane) -> list[tuple[float, str]]:
    """Return the instants at which rows enter or leave together, with the reason."""
    found: dict[tuple[float, str], None] = {}
    for bar in lane.bars:
        if bar.leaves is not None and bar.reason in _AT_ONCE:
            found.setdefault((bar.leaves, bar.reason))
        if bar.entered_by == "trigger":
            found.setdefault((bar.enters, "trigger"))
    return sorted(found)


def _scale(seconds: float) -> tuple[float, str]:
    for unit, length in (("days", 86400.0), ("hours", 3600.0), ("minutes", 60.0)):
        if seconds >= 2 * length:
            return length, f"{unit} after the first change"
    if seconds >= 1:
        return 1.0, "seconds after the first change"
    return 0.001, "milliseconds after the first change"


def _plain(text: str) -> str:
    """Replace control characters, which SVG cannot hold and terminals obey."""
    return "".join(each if each.isprintable() else "\ufffd" for each in text)


def _with_tooltips(svg: str, lanes: Sequence[Lane]) -> str:
    """Give each bar a ``<title>``, which browsers show as a tooltip without any script.

    A bar without width has it at its marks, too.
    """
    for prefix, address in (
        ("", "http://www.w3.org/2000/svg"),
        ("xlink", "http://www.w3.org/1999/xlink"),
    ):
        ElementTree.register_namespace(prefix, address)
    # Written by matplotlib right before, so it holds nothing that a parser must fear.
    root = ElementTree.fromstring(svg)  # noqa: S314 - the text is our own
    for group in root.iter("{http://www.w3.org/2000/svg}g"):
        match = re.fullmatch(r"(?:bar|mark)-(\d+)-(\d+)(?:-\d+)?", group.get("id", ""))
        if match:
            bar = lanes[int(match[1])].bars[int(match[2])]
            title = ElementTree.Element("{http://www.w3.org/2000/svg}title")
            values = ", ".join(f"{name}={value}" for name, value in bar.row.items())
            title.text = f"{_plain(values)}\n{_fate(bar)}"
            group.insert(0, title)
    metadata = root.find("{http://www.w3.org/2000/svg}metadata")
    if metadata is not None:
        root.remove(metadata)
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def _fate(bar: Bar) -> str:
    entered = f"entered: {bar.entered_by or 'insert'}"
    return f"{entered}, {'held' if bar.leaves is None else f'left: {bar.reason}'}"


def _lines(timeline: Timeline, width: int) -> list[list[tuple[str, str]]]:
    """Return the lines of the text, each as parts with their colours."""
    first, last = _span(timeline.lanes)
    names = [_plain(_names(timeline, bar)) for lane in timeline.lanes for bar in lane.bars]
    widest = max((len(name) for name in names), default=0)
    lines: list[list[tuple[str, str]]] = []
    if timeline.title:
        lines.append([(_plain(timeline.title), "bold")])
    for lane in timeline.lanes:
        if lane.name:
            lines.append([(_plain(lane.name), "bold")])
        for bar in lane.bars:
            end = last if bar.leaves is None else bar.leaves
            start, stop = (
                round((at - first) / (last - first) * width * 2) for at in (bar.enters, end)
            )
            drawn = _block(start, max(stop, start + 1), width)
            reason = "held" if bar.leaves is None else bar.reason or "left"
            colour = _HELD if bar.leaves is None else _COLOURS.get(bar.reason, _INK)
            lines.append(
                [
                    (_plain(_names(timeline, bar)).ljust(widest), ""),
                    (drawn, colour),
                    (_plain(reason), colour),
                ]
            )
    return lines


def _block(start: int, stop: int, width: int) -> str:
    """Draw a bar in halves of characters."""
    cells = []
    for cell in range(width):
        left, right = (start <= half < stop for half in (2 * cell, 2 * cell + 1))
        cells.append("█" if left and right else "▌" if left else "▐" if right else " ")
    return "".join(cells)
