"""The command ``python -m winops explain``: a policy in words, in pieces and as a picture."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from winops import testing
from winops._dialects import WindowPolicy
from winops._errors import wrong_value
from winops._harness import PROCESS
from winops._rows import schema_of
from winops._samples import sample_rows
from winops._timeline import MAX_BARS, Timeline, timeline
from winops.testing import Change, ManualWindow

if TYPE_CHECKING:
    from rich.console import Console

#: The columns of sample rows.
SCHEMA = "seq long, symbol string, price double, ts timestamp"

_START = datetime(2026, 1, 1, tzinfo=timezone.utc)


@dataclass(frozen=True)
class Cost:
    """The state of a window over some rows.

    Attributes
    ----------
    groups, rows : int
        The greatest number of groups with rows, and of rows in all groups, at a time.
    size : int
        The greatest number of bytes stored for all groups at a time, without their keys.
    """

    groups: int
    rows: int
    size: int

    def text(self) -> str:
        """Return the cost in a sentence."""
        if self.rows == 0:
            return "No row was held."
        of_row = f"{self.size / self.rows:.0f} bytes for each row"
        return (
            f"{_counted(self.rows, 'row')} in {_counted(self.groups, 'group')} at most; "
            f"{self.size} bytes of state, {self.size / max(1, self.groups):.0f} for each group, "
            f"{of_row}."
        )


@dataclass(frozen=True)
class Explanation:
    """A policy in words and pictures."""

    policy: str
    sentence: str
    pieces: tuple[tuple[str, str], ...]
    cost: Cost
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
        except ImportError:
            print(self.text())
            return
        console = console or Console(highlight=False)
        console.print(self.policy, style="bold", markup=False)
        console.print(f"\n{self.sentence}\n", markup=False)
        table = Table(box=None, show_header=False, padding=(0, 2, 0, 1))
        table.add_column(style="cyan")
        table.add_column()
        for name, text in self.pieces:
            table.add_row(name, text)
        console.print(table)
        console.print(f"\nState of the rows below: {self.cost.text()}\n", markup=False)
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
    text = policy.text if isinstance(policy, WindowPolicy) else policy
    schema = SCHEMA if rows is None else schema_of(rows, None)
    described = check(policy, per=per, schema=schema)
    groups = list(described["group"])
    if rows is None:
        changes, cost = _over_samples(policy, per, groups)
    else:
        changes, cost = _run(policy, per, groups, schema, _timed(rows, time))
    picture = None
    if changes:
        picture = timeline(changes, per=groups or None)
    pieces = tuple((name, words) for name, words in described["pieces"])
    return Explanation(text, described["sentence"], pieces, cost, picture)


def check(
    policy: str | WindowPolicy, *, per: Sequence[str] = (), schema: str = SCHEMA
) -> dict[str, Any]:
    """Validate a policy over columns, and return its description."""
    read = policy if isinstance(policy, WindowPolicy) else WindowPolicy("ccl", policy)
    return PROCESS.request(
        "explain", schema=schema, per=list(per), arguments={read.dialect: read.text}
    )


def read_csv(path: str | Path) -> list[dict[str, Any]]:
    """Read a CSV file with a header; numbers and ISO timestamps become values.

    Raises
    ------
    PySparkValueError
        ``WINOPS_ARGUMENT``: the file has no rows, or more than a picture can show.
    """
    with Path(path).open(encoding="utf-8", newline="") as file:
        read = list(csv.DictReader(file))
    if not 0 < len(read) <= MAX_BARS:
        raise wrong_value(f"{path} has {len(read)} rows. Give 1 to {MAX_BARS} rows.")
    kinds = {name: _kind([row[name] for row in read if row[name]]) for name in read[0]}
    return [
        {name: kinds[name](value) if value else None for name, value in row.items()}
        for row in read
    ]


def _kind(texts: Sequence[str]) -> Any:
    """Return the first of these types that all texts have."""
    for kind in (int, float, datetime.fromisoformat):
        try:
            for text in texts:
                kind(text)
        except ValueError:
            continue
        if texts:
            return kind
    return str


def _over_samples(
    policy: str | WindowPolicy, per: Sequence[str], groups: Sequence[str]
) -> tuple[list[Change], Cost]:
    first: tuple[list[Change], Cost] | None = None
    for rows in sample_rows(groups):
        found = _run(policy, per, groups, SCHEMA, rows)
        first = first or found
        leaving = {change.time for change in found[0] if change.type == "delete"}
        if len(leaving) > 1:
            return found
    return first or ([], Cost(0, 0, 0))


def _run(
    policy: str | WindowPolicy,
    per: Sequence[str],
    groups: Sequence[str],
    schema: str,
    rows: Sequence[tuple[datetime, Mapping[str, Any]]],
) -> tuple[list[Change], Cost]:
    window = testing.window(policy, schema=schema, start=rows[0][0], per=list(per) or None)
    changes: list[Change] = []
    cost = Cost(0, 0, 0)
    for at, row in rows:
        changes += window.add(row, at=at)
        cost = _greater(cost, window, groups)
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
        return [(_START + timedelta(seconds=number), row) for number, row in enumerate(rows)]
    for row in rows:
        if not isinstance(row.get(time), datetime):
            raise wrong_value(f"The column {time} has no timestamp in every row.")
    return [(row[time], row) for row in sorted(rows, key=lambda row: row[time])]


def _counted(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"
