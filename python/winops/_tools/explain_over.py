"""Explanations of window functions: OVER in words, in pieces and as a picture."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pyspark.sql.types import StructType

from winops._errors import wrong_value
from winops._tools.samples import sample_rows_of
from winops._tools.timeline import MAX_BARS, Timeline, timeline
from winops.testing import Change
from winops.testing._over import OverProcess
from winops.testing._process import PROCESS
from winops.testing._rows import schema_of


@dataclass(frozen=True)
class OverCost:
    """The state of window functions over some rows.

    Attributes
    ----------
    groups : int
        The number of groups.
    size : int
        The greatest number of bytes stored for all groups at a time, without their keys.
    """

    groups: int
    size: int

    def text(self) -> str:
        """Return the cost in a sentence."""
        return (
            f"{self.size} bytes of state in {self.groups} group{'' if self.groups == 1 else 's'} "
            f"at most, on average {self.size / max(1, self.groups):.0f} for each group."
        )


@dataclass(frozen=True)
class OverWords:
    """Window functions in words, with the rows that they are over."""

    sentence: str
    pieces: tuple[tuple[str, str], ...]
    group: tuple[str, ...]
    time: str | None
    schema: str
    fields: StructType


def words_of(text: str, schema: str | None) -> OverWords:
    """Validate window functions over columns, or over columns with the names in the text.

    Raises
    ------
    AnalysisException
        ``WINOPS_OVER_TEXT``: the text is not valid. ``WINOPS_OVER``: a stream cannot compute it.
    """
    request = {} if schema is None else {"schema": schema}
    reply = PROCESS.request("over_explain", text=text, **request)
    fields = StructType.fromJson(json.loads(reply["schema"]))
    return OverWords(
        reply["sentence"],
        tuple((name, words) for name, words in reply["pieces"]),
        tuple(reply["group"]),
        reply["time"],
        schema_of((), fields) if schema is None else schema,
        fields,
    )


def drawn(
    text: str, words: OverWords, rows: Sequence[Mapping[str, Any]] | None
) -> tuple[Timeline | None, OverCost]:
    """Run window functions, and return what their frames hold and what their state takes."""
    if rows is not None:
        changes, cost = _run(text, words, rows)
    else:
        changes, cost = _over_samples(text, words)
    if not changes:
        return None, cost
    # The names of the group are those of PARTITION BY, which may be no columns of the rows.
    return timeline(changes, per=list(words.group) or None), cost


def _over_samples(text: str, words: OverWords) -> tuple[list[Change], OverCost]:
    first: tuple[list[Change], OverCost] | None = None
    for rows in sample_rows_of(words.fields, words.group):
        found = _run(text, words, rows)
        if first is not None and _bars(found[0]) > MAX_BARS:
            break
        first = first or found
        if len({change.time for change in found[0] if change.type == "delete"}) > 1:
            return found
    return first or ([], OverCost(0, 0))


def _bars(changes: Sequence[Change]) -> int:
    return sum(change.type == "insert" for change in changes)


def _run(
    text: str, words: OverWords, rows: Sequence[Mapping[str, Any]]
) -> tuple[list[Change], OverCost]:
    """Let rows arrive one by one, each with the watermark behind it."""
    if words.time is not None:
        rows = sorted(rows, key=lambda row: _time_of(row, words.time or ""))
    plain = OverProcess(text, words.schema)
    framed = OverProcess(text, words.schema, frames=True)
    size = 0
    found: list[Any] = []
    for row in rows:
        instant = None if words.time is None else _time_of(row, words.time)
        for process in (plain, framed):
            reply = process.batch([row], instant)
            found += reply.get("frames", [])
        size = max(size, plain.bytes)
    found += framed.batch([], None, last=True)["frames"]
    return (
        _changes(found, framed.names, words, rows),
        OverCost(len({tuple(group) for _, group, _ in found}), size),
    )


def _changes(
    found: Sequence[Any],
    names: Sequence[str],
    words: OverWords,
    rows: Sequence[Mapping[str, Any]],
) -> list[Change]:
    """Return what enters and leaves each frame from one row of a group to the next."""
    held: dict[tuple[Any, ...], list[int]] = {}
    steps: dict[tuple[Any, ...], int] = {}
    changes: list[Change] = []
    for number, group, frames in found:
        time = None if words.time is None else _time_of(rows[number], words.time)
        for name, frame in zip(names, frames, strict=True):
            key = (name, *group)
            before = held.get(key, [])
            step = steps.get(key, 0)
            moves = [("delete", row) for row in before if row not in frame]
            moves += [("insert", row) for row in frame if row not in before]
            for kind, row in moves:
                reason = "arrived" if kind == "insert" else _reason(name)
                values = {**rows[row], **dict(zip(words.group, group, strict=True))}
                window = name if len(names) > 1 else None
                changes.append(Change(kind, values, reason, time, step, len(changes), window))
            held[key], steps[key] = frame, step + 1
    return changes


def _reason(frame: str) -> str:
    return "expired" if frame.startswith("RANGE") else "displaced"


def _time_of(row: Mapping[str, Any], time: str) -> datetime:
    instant = row.get(time)
    if not isinstance(instant, datetime):
        raise wrong_value(f"The column {time} of ORDER BY has no timestamp in every row.")
    return instant
