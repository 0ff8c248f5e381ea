"""The queries whose checkpoints are kept: every layout of state, every store that holds it."""

from __future__ import annotations

import random
from datetime import datetime, timedelta, timezone
from typing import Any, NamedTuple

from tests.support.golden import HEARTBEAT, GoldenQuery, Rows
from tests.support.settings import CHANGELOG, CHECKPOINT_FORMAT, HDFS, ROCKSDB, STATE_STORE

_TRADES = "seq long, symbol string, venue string, price double, ts timestamp"
_WATERMARK = ("ts", "5 seconds")
_START = datetime(2026, 3, 29, tzinfo=timezone.utc)

_ON_HDFS = {STATE_STORE: HDFS}
_ON_ROCKSDB = {STATE_STORE: ROCKSDB, CHANGELOG: "false"}
_ON_CHANGELOG = {STATE_STORE: ROCKSDB, CHANGELOG: "true"}
_ON_CHANGELOG_2 = {**_ON_CHANGELOG, CHECKPOINT_FORMAT: "2"}

_TYPES = (
    "symbol string, flag boolean, tiny byte, small short, whole int, seq long, real float, "
    "precise double, narrow decimal(9,2), wide decimal(38,10), bytes binary, day date, "
    "ts timestamp, local timestamp_ntz, numbers array<int>, prices map<string,double>, "
    "nested struct<a:int,b:array<string>>"
)


class GoldenCase(NamedTuple):
    """A query, the batches that it has seen, and those that are still to come."""

    name: str
    query: GoldenQuery
    before: list[Rows]
    after: list[Rows]


def _instant(milliseconds: int) -> str:
    instant = _START + timedelta(milliseconds=milliseconds)
    return instant.isoformat(timespec="milliseconds")


def _trades(seed: int, count: int, symbols: int) -> list[dict[str, Any]]:
    """Make rows whose times are up to five seconds out of order."""
    rng = random.Random(seed)
    return [
        {
            "seq": seq,
            "symbol": f"s{rng.randrange(symbols)}",
            "venue": f"v{rng.randrange(4)}",
            "price": rng.randrange(1000) / 8,
            "ts": _instant(10_000 + seq * 250 - rng.randrange(5000)),
        }
        for seq in range(count)
    ]


def _cut(rows: Rows, bounds: list[int]) -> list[Rows]:
    return [rows[start:end] for start, end in zip([0, *bounds], [*bounds, None], strict=True)]


def _case(
    name: str,
    policy: str | dict[str, str],
    settings: dict[str, str],
    count: int = 160,
    symbols: int = 5,
    **query: Any,
) -> GoldenCase:
    arguments = {"order_by": "seq", **query.pop("arguments", {})}
    rows = _trades(len(name), count, symbols)
    first, second, third, fourth = _cut(rows, [count * 2 // 5, count * 3 // 5, count * 4 // 5])
    after = [third, fourth]
    if "time" in arguments:
        query["watermark"] = _WATERMARK
        last = {**rows[-1], "seq": count, "symbol": HEARTBEAT, "ts": _instant(9_000_000)}
        after.append([last])
    return GoldenCase(
        name,
        GoldenQuery(_TRADES, policy, arguments, settings=settings, **query),
        [first, second],
        after,
    )


def _every_type(number: int) -> dict[str, Any]:
    return {
        "symbol": f"größe {number % 2}",
        "flag": number % 3 == 0,
        "tiny": number,
        "small": -number,
        "whole": number * 1000,
        "seq": number,
        "real": number / 4,
        "precise": "NaN" if number % 5 == 0 else -number / 8,
        "narrow": f"{number}.25",
        "wide": f"-{number}23456789012345678.5678",
        "bytes": "AP8Q",
        "day": "2026-03-29",
        "ts": f"2026-03-29T02:30:{number:02}.123456Z",
        "local": f"2026-03-29T02:30:{number:02}.123456",
        "numbers": [1, None, number],
        "prices": {"a": 1.5, "b": None},
        "nested": {"a": number, "b": ["x", None]},
    }


def _types() -> GoldenCase:
    complete = [_every_type(number) for number in range(1, 25)]
    rows = [
        {"seq": row["seq"], "symbol": None} if row["seq"] % 4 == 0 else row for row in complete
    ]
    batches = _cut(rows, [8, 12, 18])
    arguments = {"per": "symbol", "order_by": "seq"}
    query = GoldenQuery(_TYPES, "KEEP 3 ROWS", arguments, settings=_ON_ROCKSDB)
    return GoldenCase("types", query, batches[:2], batches[2:])


_BY_SYMBOL = {"per": "symbol"}
_TIMED = {"per": "symbol", "time": "ts"}
_VALUES = {"total": "sum(price)", "highest": "max(price)", "venues": "count(DISTINCT venue)"}

CASES = [
    _case("rows-slack", "KEEP 3 ROWS SLACK 2 PER (symbol)", _ON_HDFS),
    _case("interval", "KEEP 10 SECONDS", _ON_ROCKSDB, arguments=_TIMED, symbols=12),
    _case(
        "every-interval-idle",
        "KEEP EVERY 9 SECONDS",
        _ON_CHANGELOG,
        symbols=40,
        arguments={**_TIMED, "origin": "first", "idle": "12 seconds"},
    ),
    _case(
        "interval-on-arrival",
        "KEEP 10 SECONDS",
        _ON_CHANGELOG_2,
        arguments={**_TIMED, "apply": "arrival"},
    ),
    _case("sort", "#sort(4, price desc)", _ON_CHANGELOG, dialect="esper", arguments=_BY_SYMBOL),
    _case(
        "time-unique",
        "#time(20 sec)#unique(venue)",
        _ON_HDFS,
        dialect="esper",
        arguments=_TIMED,
    ),
    _case("every", "retain 5 every 2", _ON_HDFS, dialect="apama", arguments=_BY_SYMBOL),
    _case(
        "partition-count",
        "sliding, count(3), count(1), partitioned, partitionCount(4)",
        _ON_HDFS,
        dialect="spl",
        symbols=7,
        arguments=_BY_SYMBOL,
    ),
    _case(
        "several-windows",
        {"few": "KEEP 2 ROWS", "recent": "KEEP 8 SECONDS"},
        _ON_HDFS,
        arguments=_TIMED,
    ),
    _case(
        "long-window-values",
        "KEEP 300 ROWS",
        _ON_CHANGELOG,
        count=900,
        symbols=1,
        output="columns",
        values=_VALUES,
        arguments=_BY_SYMBOL,
    ),
    _case(
        "sort-values",
        "#sort(60, price)",
        _ON_ROCKSDB,
        count=300,
        symbols=2,
        dialect="esper",
        output="agg",
        values=_VALUES,
        arguments=_BY_SYMBOL,
    ),
    _types(),
]
