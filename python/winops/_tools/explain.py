"""The command ``python -m winops explain``: a policy in words, in pieces and as a picture."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from winops import testing
from winops._dialects import WindowPolicy
from winops._errors import wrong_value
from winops._tools.explain_over import OverCost, drawn
from winops._tools.samples import START, sample_rows
from winops._tools.timeline import MAX_BARS, Timeline, timeline
from winops._tools.words import OVER, Words, words_of
from winops.testing import Change, ManualWindow
from winops.testing._rows import Schema, schema_of

if TYPE_CHECKING:
    from rich.console import Console

_TIMESTAMP = datetime.fromisoformat


@dataclass(frozen=True)
class Cost:
    """The state of a window over some rows.

    Attributes
    ----------
    groups, rows : int
        The greatest number of groups with rows, and of rows in all groups, at a time.
    size : int
        The greatest number of bytes stored for all groups at a time, without their keys.
    of_row : float or None
        If no row has left, the bytes for each row of as many rows as were tried.
    full : int or None
        The most rows of a group, if the newest rows up to a number stay; otherwise None.
    """

    groups: int
    rows: int
    size: int
    of_row: float | None = None
    full: int | None = None

    def text(self) -> str:
        """Return the cost in a sentence."""
        if self.rows == 0:
            return "No row was held."
        text = (
            f"{_counted(self.rows, 'row')} in {_counted(self.groups, 'group')} at most; "
            f"{self.size} bytes of state, on average {self.size / max(1, self.groups):.0f} for "
            f"each group and {self.size / self.rows:.0f} for each row."
        )
        if self.of_row is None:
            return text
        if self.full is None:
            return (
                f"{text} No row has left, so this is not the cost of a full window: each further "
                f"row takes about {self.of_row:.0f} bytes."
            )
        return (
            f"{text} No row has left: a full window has {_counted(self.full, 'row')} and takes "
            f"about {self.of_row * self.full:.0f} bytes for each group."
        )


@dataclass(frozen=True)
class Explanation:
    """A policy in words and pictures."""

    policy: str
    sentence: str
    pieces: tuple[tuple[str, str], ...]
    cost: Cost | OverCost
    picture: Timeline | None

    def text(self, width: int = 60) -> str:
        """Return the explanation as plain text."""
        widest = max(len(name) for name, _ in self.pieces)
        parts = [self.policy, "", self.sentence, ""]
        parts += [f"  {name.ljust(widest)}  {text}" for name, text in self.pieces]
        parts += ["", f"State of the rows below: {self.cost.text()}", ""]
        parts.append("No row enters." if self.picture is None else self.picture.text(width))
        return "\n".join(parts)

    def show(self, console: Console | None = None) -> None:
        """Print the explanation to a terminal, with colours if rich is installed."""
        try:
            from rich.console import Console
            from rich.table import Table
            from rich.text import Text
        except ImportError:
            print(self.text())
            return
        # Brackets and colons of a policy or of rows are no markup.
        console = console or Console(highlight=False, markup=False, emoji=False)
        console.print(self.policy, style="bold")
        console.print(f"\n{self.sentence}\n")
        table = Table(box=None, show_header=False, padding=(0, 2, 0, 1))
        table.add_column(style="cyan")
        table.add_column()
        for name, text in self.pieces:
            table.add_row(Text(name), Text(text))
        console.print(table)
        console.print(f"\nState of the rows below: {self.cost.text()}\n")
        console.print("No row enters." if self.picture is None else self.picture)

    def html(self) -> str:
        """Return a page without scripts that needs no network."""
        rows = "".join(
            f"<tr><th>{escape(name)}</th><td>{_with_code(text)}</td></tr>"
            for name, text in self.pieces
        )
        picture = "<p>No row enters.</p>" if self.picture is None else self.picture.svg()
        return (
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
            f"<title>{escape(self.policy)}</title><style>{_STYLE}</style></head><body>\n"
            f"<h1><code>{escape(self.policy)}</code></h1>\n<p>{_with_code(self.sentence)}</p>\n"
            f"<table>{rows}</table>\n{picture}\n"
            f"<p>State of these rows: {escape(self.cost.text())}</p>\n</body></html>\n"
        )


def _with_code(text: str) -> str:
    """Return text as HTML; names in it are in backquotes."""
    return re.sub("`(.*?)`", r"<code>\1</code>", escape(text))


_STYLE = (
    ":root{color-scheme:light dark}"
    "body{font:16px/1.55 system-ui,sans-serif;margin:2.5rem auto;max-width:56rem;padding:0 1rem}"
    "h1{font-size:1.3rem}table{border-collapse:collapse;margin:1.2rem 0;font-size:.95rem}"
    "th,td{text-align:left;vertical-align:top;padding:.28rem 1.2rem .28rem 0;"
    "border-bottom:1px solid #8883}th{font-weight:600;white-space:nowrap}"
    "svg{width:100%;height:auto}"
)


def explain(
    policy: str | WindowPolicy,
    *,
    per: Sequence[str] = (),
    rows: Sequence[Mapping[str, Any]] | None = None,
    time: str | None = None,
) -> Explanation:
    """Explain a policy over rows, or over sample rows.

    Raises
    ------
    AnalysisException
        ``WINOPS_POLICY`` and other conditions, as for :func:`winops.keep`.
    """
    schema = None if rows is None else schema_of(rows, None)
    words = check(policy, per=per, schema=schema)
    if words.language == OVER:
        if time is not None:
            raise wrong_value(
                "Window functions have no --time. Let ORDER BY begin with the time."
            )
        picture, over_cost = drawn(words, rows)
        return Explanation(words.text, words.sentence, words.pieces, over_cost, picture)
    pieces = words.pieces
    if rows is None:
        changes, cost = _over_samples(words, per)
    else:
        changes, cost = _run(words, per, _timed(rows, time))
        cost = _unless_left(changes, cost, cost)
        when = f"at the time in `{time}`" if time else "a second apart; --time names their time"
        pieces += (("rows here", f"arrive {when}"),)
    picture = timeline(changes, per=words.group or None) if changes else None
    cost = replace(cost, full=words.full)
    return Explanation(words.text, words.sentence, pieces, cost, picture)


def check(
    policy: str | WindowPolicy, *, per: Sequence[str] = (), schema: Schema | None = None
) -> Words:
    """Validate a policy or window functions, as :func:`winops._tools.words.words_of`."""
    words = words_of(policy, per=per, schema=schema)
    if words.language == OVER and per:
        raise wrong_value("Window functions have no --per. Write PARTITION BY in the text.")
    return words


def read_csv(path: str | Path) -> list[dict[str, Any]]:
    """Read a CSV file with a header; numbers and ISO timestamps become values.

    Raises
    ------
    PySparkValueError
        ``WINOPS_ARGUMENT``: the file has no rows, or more than a picture can show; it is not
        UTF-8 or not CSV; or a line has another number of values than the header.
    """
    read = _records(Path(path))
    if not 0 < len(read) <= MAX_BARS:
        raise wrong_value(f"{path} has {len(read)} rows. Give 1 to {MAX_BARS} rows.")
    kinds = {}
    for name in read[0]:
        values = [row[name] for row in read if row[name]]
        kinds[name] = _kind(values)
        if kinds[name] is _TIMESTAMP and len({_has_zone(value) for value in values}) > 1:
            raise wrong_value(
                f"The column {name} of {path} has timestamps with and without a time zone. Write "
                "all of them in one way."
            )
    return [
        {name: kinds[name](value) if value else None for name, value in row.items()}
        for row in read
    ]


def _records(path: Path) -> list[dict[str, str]]:
    """Return the lines of a CSV file by the names in its header."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise wrong_value(
            f"{path} cannot be read: {error.strerror}. Give the path of a CSV file with a header."
        ) from None
    except UnicodeDecodeError as error:
        raise wrong_value(
            f"{path} is not UTF-8: byte {error.object[error.start]:#04x} at position "
            f"{error.start}. Save it as UTF-8."
        ) from None
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    header: list[str] = []
    read: list[dict[str, str]] = []
    try:
        header = next(reader, [])
        for values in reader:
            if values and len(values) != len(header):
                raise wrong_value(
                    f"Line {reader.line_num} of {path} has {_counted(len(values), 'value')}, but "
                    f"the header has {_counted(len(header), 'column')}. Give each line a value "
                    "for each column, which may be empty."
                )
            if values:
                read.append(dict(zip(header, values, strict=True)))
    except csv.Error as error:
        raise wrong_value(
            f"Line {reader.line_num} of {path} is no CSV: {error}. Write a value with commas or "
            "quotes within quotes, and double the quotes in it."
        ) from None
    for name in header:
        if not name or header.count(name) > 1:
            what = f"the column {name} more than once" if name else "a column without a name"
            raise wrong_value(
                f"The header of {path} has {what}. Give each column a name of its own."
            )
    return read


def _has_zone(text: str) -> bool:
    return _TIMESTAMP(text).tzinfo is not None


def _kind(texts: Sequence[str]) -> Any:
    """Return the first of these types that all texts have."""
    for kind in (int, float, _TIMESTAMP):
        try:
            for text in texts:
                kind(text)
        except ValueError:
            continue
        if texts:
            return kind
    return str


def _over_samples(words: Words, per: Sequence[str]) -> tuple[list[Change], Cost]:
    found: tuple[list[Change], Cost] = ([], Cost(0, 0, 0))
    first: tuple[list[Change], Cost] | None = None
    for _, rows in sample_rows(words.columns, words.group):
        found = _run(words, per, [(row["ts"], row) for row in rows])
        first = first or found
        leaving = {change.time for change in found[0] if change.type == "delete"}
        if len(leaving) > 1:
            return found
    changes, cost = first or found
    # More rows than those of the picture show better what one of many costs.
    return changes, _unless_left(found[0], cost, found[1])


def _unless_left(changes: Sequence[Change], cost: Cost, of_most: Cost) -> Cost:
    """Return a cost with the bytes for each row of a window that has not been full."""
    if of_most.rows == 0 or any(change.type == "delete" for change in changes):
        return cost
    if of_most.rows == cost.rows:
        return replace(cost, of_row=cost.size / cost.rows)
    # The difference leaves out what a group takes beside its rows.
    return replace(cost, of_row=(of_most.size - cost.size) / (of_most.rows - cost.rows))


def _run(
    words: Words, per: Sequence[str], rows: Sequence[tuple[datetime, Mapping[str, Any]]]
) -> tuple[list[Change], Cost]:
    window = testing.window(
        WindowPolicy(words.language, words.text),
        schema=words.columns,
        start=rows[0][0],
        per=list(per) or None,
    )
    changes: list[Change] = []
    cost = Cost(0, 0, 0)
    for at, row in rows:
        changes += window.add(row, at=at)
        cost = _greater(cost, window, words.group)
    first, last = rows[0][0], rows[-1][0]
    gap = (last - first) / max(1, len(rows) - 1) or timedelta(seconds=1)
    changes += window.advance(gap)
    return changes, cost


def _greater(cost: Cost, window: ManualWindow, groups: Sequence[str]) -> Cost:
    held = window.rows
    keys = {tuple(row.get(name) for name in groups) for row in held}
    return Cost(
        max(cost.groups, len(keys)),
        max(cost.rows, len(held)),
        max(cost.size, window.state_bytes),
    )


def _timed(
    rows: Sequence[Mapping[str, Any]], time: str | None
) -> list[tuple[datetime, Mapping[str, Any]]]:
    """Return rows with the instants of their arrival, in this order."""
    if time is None:
        return [(START + timedelta(seconds=number), row) for number, row in enumerate(rows)]
    if rows and time not in rows[0]:
        raise wrong_value(f"There is no column {time}. The columns are {', '.join(rows[0])}.")
    for number, row in enumerate(rows, 1):
        if not isinstance(row[time], datetime):
            raise wrong_value(
                f"The column {time} is no timestamp in row {number}: {row[time]!r}. Write each "
                "as 2026-01-31 09:30:00."
            )
    return [(row[time], row) for row in sorted(rows, key=lambda row: row[time])]


def _counted(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"
