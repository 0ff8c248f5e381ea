"""A query whose checkpoint is archived, with its input rows."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from typing import Any, NamedTuple

from tests.state.golden.checkpoints import HEARTBEAT, HEARTBEAT_AT, GoldenKeep, GoldenQuery, Rows

_TRADES = "seq long, symbol string, venue string, price double, ts timestamp, mark string"
_BEHIND_ALL = "2026-03-29T02:31:00.000+00:00"
_START = datetime(2026, 3, 29, tzinfo=timezone.utc)


class GoldenCase(NamedTuple):
    """A query, the batches before its checkpoint, and the batches after it."""

    name: str
    query: GoldenQuery
    before: list[Rows]
    after: list[Rows]


def keep_of(
    policy: str | dict[str, str],
    dialect: str | None = None,
    *,
    output: str = "changes",
    values: dict[str, str | Sequence[str]] | None = None,
    by: Sequence[str] | None = None,
    **arguments: Any,
) -> GoldenKeep:
    """Return a `keep` over trades, ordered by number."""
    return GoldenKeep(policy, {"order_by": "seq", **arguments}, dialect, output, values, by)


def trades_case(
    name: str,
    settings: dict[str, str],
    *keeps: GoldenKeep,
    count: int = 160,
    symbols: int = 5,
    by_batch_time: bool = False,
    small_batches: int = 0,
    delay: str = "5 seconds",
) -> GoldenCase:
    """Return a query over trades whose checkpoint follows the first two batches.

    Batches of six rows each may precede the checkpoint too. The watermark is `delay` behind the
    greatest time.
    """
    rows = _trades(len(name), count, symbols)
    # Every batch adds to the time of each test run.
    after = [count * 4 // 5] if len(keeps) == 1 else []
    second = count * 3 // 5
    small = [second + 6 * number for number in range(small_batches + 1)]
    batches = cut(rows, [count * 2 // 5, *small, *after])
    before = 2 + small_batches
    is_timed = any("time" in one.arguments for one in keeps)
    if is_timed:
        batches.append([{**rows[-1], "seq": count, "symbol": HEARTBEAT, "ts": HEARTBEAT_AT}])
    query = GoldenQuery(
        _TRADES,
        keeps,
        watermark=("ts", delay) if is_timed else None,
        settings=settings,
        told_until=len(batches[0]) + len(batches[1]) if by_batch_time else None,
    )
    return GoldenCase(name, query, batches[:before], batches[before:])


def over_case(
    name: str, settings: dict[str, str], columns: dict[str, str], count: int = 160
) -> GoldenCase:
    """Return a query of window functions over trades of two symbols.

    The last batch has rows behind all others, for which these wait.
    """
    over = GoldenKeep("", {"time": "ts"}, output="over", values=columns)
    case = trades_case(name, settings, over, count=count, symbols=2)
    *after, end = case.after
    behind = [
        {**end[0], "seq": 1_000 + i, "symbol": f"s{i % 2}", "mark": "window"} for i in range(6)
    ]
    heartbeat = {**end[0], "seq": 2_000, "ts": _BEHIND_ALL}
    return case._replace(after=[*after, [*behind, heartbeat]])


def cut(rows: Rows, bounds: list[int]) -> list[Rows]:
    """Cut rows into batches before each of these numbers."""
    return [rows[start:end] for start, end in zip([0, *bounds], [*bounds, None], strict=True)]


def _trades(seed: int, count: int, symbols: int) -> list[dict[str, Any]]:
    """Return rows whose times are up to five seconds out of order."""
    rng = random.Random(seed)
    return [
        {
            "seq": seq,
            "symbol": f"s{rng.randrange(symbols)}",
            "venue": f"v{rng.randrange(4)}",
            "price": rng.randrange(1000) / 8,
            "ts": _instant(10_000 + seq * 250 - rng.randrange(5000)),
            "mark": "window" if seq % 7 == 6 else None,
        }
        for seq in range(count)
    ]


def _instant(milliseconds: int) -> str:
    instant = _START + timedelta(milliseconds=milliseconds)
    return instant.isoformat(timespec="milliseconds")
