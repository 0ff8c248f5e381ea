"""Explanations of window functions: OVER in words, in pieces and as a picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from winops._errors import wrong_value
from winops._tools.samples import sample_rows
from winops._tools.timeline import MAX_BARS, Timeline, timeline
from winops._tools.words import Words
from winops.testing import Change
from winops.testing._over import OverFunctions


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


def drawn(
    words: Words, rows: Sequence[Mapping[str, Any]] | None
) -> tuple[Timeline | None, OverCost]:
    """Run window functions, and return what their frames hold and what their state takes."""
    changes, cost = _over_samples(words) if rows is None else _run(words, rows)
    if not changes:
        return None, cost
    # The names of the group are those of PARTITION BY, which may be no columns of the rows.
    return timeline(changes, per=words.group or None), cost


def _over_samples(words: Words) -> tuple[list[Change], OverCost]:
    first: tuple[list[Change], OverCost] | None = None
    for _, rows in sample_rows(words.columns, words.group):
        found = _run(words, rows)
        if first is not None and _bars(found[0]) > MAX_BARS:
            break
        first = first or found
        if len({change.time for change in found[0] if change.type == "delete"}) > 1:
            return found
    return first or ([], OverCost(0, 0))


def _bars(changes: Sequence[Change]) -> int:
    return sum(change.type == "insert" for change in changes)


def _run(words: Words, rows: Sequence[Mapping[str, Any]]) -> tuple[list[Change], OverCost]:
    """Let rows arrive one by one, each with the watermark behind it."""
    if words.time is not None:
        rows = sorted(rows, key=lambda row: _time_of(row, words.time or ""))
    schema = words.columns.jsonValue()
    plain = OverFunctions(words.text, schema)
    framed = OverFunctions(words.text, schema, frames=True)
    size = 0
    found: list[Any] = []
    instant = None
    for row in rows:
        instant = None if words.time is None else _time_of(row, words.time)
        plain.batch([row], instant)
        found += framed.batch([row], instant)["frames"]
        size = max(size, plain.bytes)
    found += framed.batch([], instant, last=True)["frames"]
    return (
        _changes(found, framed.opened, words, rows),
        OverCost(len({tuple(group) for _, group, _ in found}), size),
    )


def _changes(
    found: Sequence[Any],
    opened: Mapping[str, Any],
    words: Words,
    rows: Sequence[Mapping[str, Any]],
) -> list[Change]:
    """Return what enters and leaves each frame from one row of a group to the next."""
    held: dict[tuple[Any, ...], list[int]] = {}
    steps: dict[tuple[Any, ...], int] = {}
    changes: list[Change] = []
    has_lanes = len(opened["names"]) > 1
    for number, group, frames in found:
        time = None if words.time is None else _time_of(rows[number], words.time)
        for name, leaves, frame in zip(opened["names"], opened["reasons"], frames, strict=True):
            key = (name, *group)
            before = held.get(key, [])
            step = steps.get(key, 0)
            moves = [("delete", row, leaves) for row in before if row not in frame]
            moves += [("insert", row, "arrived") for row in frame if row not in before]
            for kind, row, reason in moves:
                values = {**rows[row], **dict(zip(words.group, group, strict=True))}
                window = name if has_lanes else None
                changes.append(Change(kind, values, reason, time, step, len(changes), window))
            held[key], steps[key] = frame, step + 1
    return changes


def _time_of(row: Mapping[str, Any], time: str) -> datetime:
    instant = row.get(time)
    if not isinstance(instant, datetime):
        raise wrong_value(f"The column {time} of ORDER BY has no timestamp in every row.")
    return instant
