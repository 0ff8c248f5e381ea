"""A simple model of each window: a list of rows and a clock.

It implements the rules of docs/ccl.md and shares no code with the operator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

NEVER = 1 << 62


class Change(NamedTuple):
    """One row of the change stream; `at` is in milliseconds."""

    kind: str
    at: int
    step: int
    seq: int
    row: int


@dataclass
class Window:
    """The rows of one group: pairs of arrival time and row, oldest first."""

    due: Callable[[Window], int]
    excess: Callable[[Window], int]
    expired: Callable[[Window, int], int]
    idle: int = NEVER
    rows: list[tuple[int, int]] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    clock: int = -NEVER
    first: int | None = None
    last: int = -NEVER
    step: int = 0
    seq: int = 0

    def advance(self, instant: int) -> None:
        while True:
            due = self.due(self) if self.rows else NEVER
            forgotten = NEVER if self.last == -NEVER else min(self.last + self.idle, NEVER)
            if min(due, forgotten) > instant:
                break
            if due <= forgotten:
                self._delete(self.expired(self, due), due)
                self.step += 1
            else:
                self._delete(len(self.rows), forgotten)
                self.step, self.seq, self.first, self.last = 0, 0, None, -NEVER
        self.clock = max(self.clock, instant)

    def arrive(self, instant: int, row: int) -> None:
        at = max(instant, self.clock)
        self.advance(at)
        self.first = at if self.first is None else self.first
        self.last = at
        self.rows.append((at, row))
        self._tell("insert", at, row)
        self._delete(self.excess(self), at)
        self.step += 1

    def _delete(self, count: int, at: int) -> None:
        for _, row in self.rows[:count]:
            self._tell("delete", at, row)
        del self.rows[:count]

    def _tell(self, kind: str, at: int, row: int) -> None:
        self.changes.append(Change(kind, at, self.step, self.seq, row))
        self.seq += 1


def keep_all() -> Window:
    return Window(lambda w: NEVER, lambda w: 0, lambda w, at: 0)


def keep_rows(count: int, slack: int = 1) -> Window:
    return Window(
        lambda w: NEVER, lambda w: slack if len(w.rows) == count + slack else 0, lambda w, at: 0
    )


def keep_every_rows(count: int) -> Window:
    return keep_rows(1, count)


def keep_interval(length: int) -> Window:
    return Window(
        lambda w: w.rows[0][0] + length,
        lambda w: 0,
        lambda w, at: sum(arrival + length <= at for arrival, _ in w.rows),
    )


def keep_every_interval(length: int, origin: int | None = 0) -> Window:
    def end(window: Window) -> int:
        start = window.first if origin is None else origin
        assert start is not None
        return start + ((window.rows[0][0] - start) // length + 1) * length

    return Window(end, lambda w: 0, lambda w, at: len(w.rows))


def run(window: Window, rows: Iterable[tuple[int, int]], end: int) -> list[Change]:
    """Insert rows, given as pairs of instant and row, then advance time to `end`."""
    for instant, row in rows:
        window.arrive(instant, row)
    window.advance(end)
    return window.changes
