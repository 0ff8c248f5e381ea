"""A naive reference of lookups and as-of joins, and random rows for it.

The rules are LU-1 to LU-16 and AJ-1 to AJ-6 of docs/lookup-rules.md. The reference holds the rows
of a group in a list and shares no code with the operator.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, NamedTuple

from pyspark.sql import DataFrame, SparkSession

CASES = int(os.environ.get("WINOPS_LOOKUPS", "60"))
"""The number of random cases of a query. A query has all of them as groups."""

TRADES = "draw long, k string, micros long, n long, x double"
ASKS = "draw long, sym string, micros long, id long"
ON = {"draw": "draw", "k": "sym"}

_START = 10_000_000
_STEP_MICROS = 500
_STEPS = 60


class Trade(NamedTuple):
    """A row of a window: `draw` is its case, `micros` its time, `n` its place in the source."""

    draw: int
    k: str | None
    micros: int
    n: int
    x: float | None


class Ask(NamedTuple):
    """A row that looks up, or the left row of a join."""

    draw: int
    sym: str | None
    micros: int
    id: int


Held = Callable[[Sequence[Trade], int], list[Trade]]


@dataclass(frozen=True)
class Window:
    """A window of CCL.

    `held` returns the rows that it holds at a time in microseconds, of those of a group up to
    then, in order. `idle` is in milliseconds.
    """

    policy: str
    held: Held
    idle: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.policy if self.idle is None else f"{self.policy}, idle {self.idle}"


def milli(micros: int) -> int:
    """Return the whole milliseconds of a time; timers have no others."""
    return micros // 1000


def keep_all(idle: int | None = None) -> Window:
    return Window("KEEP ALL", lambda rows, _: list(rows), idle)


def keep_rows(count: int, slack: int = 1, idle: int | None = None) -> Window:
    def held(rows: Sequence[Trade], _: int) -> list[Trade]:
        found: list[Trade] = []
        for row in rows:
            found.append(row)
            if len(found) >= count + slack:
                del found[:-count]
        return found

    return Window(f"KEEP {count} ROWS SLACK {slack}", held, idle)


def keep_every_rows(count: int) -> Window:
    def held(rows: Sequence[Trade], _: int) -> list[Trade]:
        found: list[Trade] = []
        for row in rows:
            found = [row] if len(found) == count else [*found, row]
        return found

    return Window(f"KEEP EVERY {count} ROWS", held)


def keep_interval(millis: int) -> Window:
    def held(rows: Sequence[Trade], at: int) -> list[Trade]:
        return [row for row in rows if milli(at) - milli(row.micros) < millis]

    return Window(f"KEEP {millis} MILLISECONDS", held)


def keep_every_interval(millis: int) -> Window:
    def held(rows: Sequence[Trade], at: int) -> list[Trade]:
        return [row for row in rows if milli(row.micros) // millis == milli(at) // millis]

    return Window(f"KEEP EVERY {millis} MILLISECONDS", held)


WINDOWS = [
    keep_rows(3),
    keep_interval(7),
    keep_all(),
    keep_every_rows(3),
    keep_every_interval(5),
    keep_rows(2, slack=3),
    keep_rows(1),
    keep_interval(1),
    keep_all(idle=4),
    keep_rows(3, idle=9),
]


def _alive(rows: Sequence[Trade], at: int, idle: int | None) -> Sequence[Trade]:
    """LU-7, LU-13: the rows since the group was last silent for `idle` milliseconds."""
    if idle is None:
        return rows
    first = 0
    for i, row in enumerate(rows):
        if i > 0 and milli(row.micros) - milli(rows[i - 1].micros) >= idle:
            first = i
    if rows and milli(at) - milli(rows[-1].micros) >= idle:
        return []
    return rows[first:]


def answers(
    window: Window, trades: Iterable[Trade], asks: Iterable[Ask], before: bool
) -> dict[int, list[Trade]]:
    """Return what the window of each row's group holds as of its time, by the row's `id`."""
    groups: dict[tuple[int, str | None], list[Trade]] = defaultdict(list)
    for trade in sorted(trades, key=lambda row: (row.micros, row.n)):
        groups[trade.draw, trade.k].append(trade)
    found = {}
    for ask in asks:
        known = [
            row
            for row in groups[ask.draw, ask.sym]
            if row.micros < ask.micros or (row.micros == ask.micros and not before)
        ]
        found[ask.id] = window.held(_alive(known, ask.micros, window.idle), ask.micros)
    return found


class Join(NamedTuple):
    """The arguments of an as-of join; `tolerance` is in microseconds."""

    direction: str = "backward"
    exact: bool = True
    tolerance: int | None = None


JOINS = [
    Join(direction, exact, tolerance)
    for direction in ("backward", "forward", "nearest")
    for exact in (True, False)
    for tolerance in (None, 0, 2_500)
]


def matches(join: Join, trades: Iterable[Trade], asks: Iterable[Ask]) -> dict[int, Trade | None]:
    """Return the row that matches each row, by the row's `id`."""
    groups: dict[tuple[int, str | None], list[Trade]] = defaultdict(list)
    for trade in trades:
        groups[trade.draw, trade.k].append(trade)
    found: dict[int, Trade | None] = {}
    for ask in asks:
        at = ask.micros
        known = [
            row
            for row in groups[ask.draw, ask.sym]
            if ask.sym is not None
            and (join.exact or row.micros != at)
            and (join.tolerance is None or abs(row.micros - at) <= join.tolerance)
        ]
        # Of equal times, the last row matches.
        before = max(
            (row for row in known if row.micros <= at),
            key=lambda row: (row.micros, row.n),
            default=None,
        )
        behind = max(
            (row for row in known if row.micros >= at),
            key=lambda row: (-row.micros, row.n),
            default=None,
        )
        found[ask.id] = _chosen(join.direction, at, before, behind)
    return found


def _chosen(direction: str, at: int, before: Trade | None, behind: Trade | None) -> Trade | None:
    if direction == "backward" or (direction == "nearest" and behind is None):
        return before
    if direction == "forward" or before is None or behind is None:
        return behind
    return before if at - before.micros <= behind.micros - at else behind


def random_rows(
    random: Random, cases: int, *, different_times: bool = False
) -> tuple[list[Trade], list[Ask]]:
    """Return the rows of some cases: few keys, NULL among them, and many equal times.

    With `different_times`, the trades of a group have different times.
    """
    trades: list[Trade] = []
    asks: list[Ask] = []
    for draw in range(cases):
        taken: set[tuple[str | None, int]] = set()
        for _ in range(random.randrange(16)):
            key, micros = _key(random, "ab"), _time(random)
            if different_times and (key, micros) in taken:
                continue
            taken.add((key, micros))
            x = None if random.randrange(5) == 0 else random.randrange(-40, 40) / 4
            trades.append(Trade(draw, key, micros, len(trades), x))
        asks += [
            Ask(draw, _key(random, "abz"), _time(random), len(asks) + i)
            for i in range(1 + random.randrange(12))
        ]
    return trades, asks


def renumbered(trades: Iterable[Trade], count: int) -> list[Trade]:
    """Return trades of a source of `count` rows with numbers that fall.

    The bytes of trades of one time then sort in another order than that of their source.
    """
    return [trade._replace(n=count - trade.n) for trade in trades]


def _key(random: Random, names: str) -> str | None:
    return None if random.randrange(6) == 0 else random.choice(names)


def _time(random: Random) -> int:
    return _START + random.randrange(_STEPS) * _STEP_MICROS


def trades_of(spark: SparkSession, trades: Sequence[Trade]) -> DataFrame:
    """Return the trades as a table with their time in `ts`."""
    df = spark.createDataFrame(trades, TRADES)
    return df.selectExpr("draw", "k", "timestamp_micros(micros) AS ts", "n", "x")


def asks_of(spark: SparkSession, asks: Sequence[Ask]) -> DataFrame:
    """Return the other rows as a table with their time in `placed`."""
    df = spark.createDataFrame(asks, ASKS)
    return df.selectExpr("draw", "sym", "timestamp_micros(micros) AS placed", "id")
