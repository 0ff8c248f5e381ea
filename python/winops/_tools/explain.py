"""The command ``python -m winops explain``: a policy in words, in pieces and as a picture."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from winops import testing
from winops._dialects import WindowPolicy
from winops._errors import wrong_value
from winops._tools.explain_over import OverCost, drawn, words_of
from winops._tools.samples import sample_rows
from winops._tools.timeline import MAX_BARS, Timeline, timeline
from winops.testing import Change, ManualWindow
from winops.testing._process import PROCESS
from winops.testing._rows import schema_of

if TYPE_CHECKING:
    from rich.console import Console

#: The columns of sample rows.
SCHEMA = "seq long, symbol string, price double, ts timestamp"

#: The language of window functions of Spark SQL.
OVER = "over"

# No policy of another language than Esper has the word, and those of Esper begin with "#".
_HAS_OVER = re.compile(r"\s*(?!KEEP\b|#)(?s:.*)\bOVER\b", re.IGNORECASE)

_TIMESTAMP = datetime.fromisoformat

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
    policy = _read(policy)
    if policy.dialect == OVER:
        return _explain_over(policy.text, per, rows, time)
    schema = SCHEMA if rows is None else schema_of(rows, None)
    described = check(policy, per=per, schema=schema)
    groups = list(described["group"])
    if rows is None:
        changes, cost = _over_samples(policy, per, groups)
    else:
        changes, cost = _run(policy, per, groups, schema, _timed(rows, time))
        cost = _unless_left(changes, cost, cost)
    cost = replace(cost, full=described.get("fullRows"))
    picture = None
    if changes:
        picture = timeline(changes, per=groups or None)
    pieces = tuple((name, words) for name, words in described["pieces"])
    if rows is not None:
        when = f"at the time in `{time}`" if time else "a second apart; --time names their time"
        pieces += (("rows here", f"arrive {when}"),)
    return Explanation(policy.text, described["sentence"], pieces, cost, picture)


def language_of(text: str) -> str:
    """Return the language of a text that is given without one."""
    return OVER if _HAS_OVER.match(text) else "ccl"


def check(
    policy: str | WindowPolicy, *, per: Sequence[str] = (), schema: str | None = None
) -> dict[str, Any]:
    """Validate a policy over columns, and return its description.

    Without `schema`, a policy is over the columns of sample rows, and window functions are over
    columns with the names in their text.
    """
    read = _read(policy)
    if read.dialect == OVER:
        _refuse_options(per, None)
        words = words_of(read.text, schema)
        return {"sentence": words.sentence, "pieces": words.pieces, "group": words.group}
    return PROCESS.request(
        "explain", schema=schema or SCHEMA, per=list(per), arguments={read.dialect: read.text}
    )


def _read(policy: str | WindowPolicy) -> WindowPolicy:
    if isinstance(policy, WindowPolicy):
        return policy
    return WindowPolicy(language_of(policy), policy)


def _explain_over(
    text: str, per: Sequence[str], rows: Sequence[Mapping[str, Any]] | None, time: str | None
) -> Explanation:
    _refuse_options(per, time)
    words = words_of(text, None if rows is None else schema_of(rows, None))
    picture, cost = drawn(text, words, rows)
    return Explanation(text, words.sentence, words.pieces, cost, picture)


def _refuse_options(per: Sequence[str], time: str | None) -> None:
    if per:
        raise wrong_value("Window functions have no --per. Write PARTITION BY in the text.")
    if time is not None:
        raise wrong_value("Window functions have no --time. Let ORDER BY begin with the time.")


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


def _over_samples(
    policy: str | WindowPolicy, per: Sequence[str], groups: Sequence[str]
) -> tuple[list[Change], Cost]:
    found: tuple[list[Change], Cost] = ([], Cost(0, 0, 0))
    first: tuple[list[Change], Cost] | None = None
    for rows in sample_rows(groups):
        found = _run(policy, per, groups, SCHEMA, rows)
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
