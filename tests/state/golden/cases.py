"""The queries whose checkpoints are archived: every state layout on every state store."""

from __future__ import annotations

import random
from typing import Any

from tests.state.golden.case import GoldenCase, cut, keep_of, over_case, trades_case
from tests.state.golden.checkpoints import GoldenKeep, GoldenQuery
from tests.support.settings import (
    CHANGELOG,
    CHECKPOINT_FORMAT,
    CODEC,
    HDFS,
    OFFSET_LOG_FORMAT,
    PARTITIONS,
    ROCKSDB,
    ROW_CHECKSUM,
    STATE_STORE,
)

_ON_HDFS = {STATE_STORE: HDFS}
_ON_ROCKSDB = {STATE_STORE: ROCKSDB, CHANGELOG: "false"}
_ON_CHANGELOG = {STATE_STORE: ROCKSDB, CHANGELOG: "true"}
_ON_CHANGELOG_2 = {**_ON_CHANGELOG, CHECKPOINT_FORMAT: "2"}
_SMALL = {STATE_STORE: HDFS, PARTITIONS: "1", CODEC: "zstd"}

_TYPES = (
    "symbol string, flag boolean, tiny byte, small short, whole int, seq long, real float, "
    "precise double, narrow decimal(9,2), wide decimal(38,10), bytes binary, day date, "
    "ts timestamp, local timestamp_ntz, numbers array<int>, prices map<string,double>, "
    "nested struct<a:int,b:array<string>>"
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
    batches = cut(rows, [8, 12, 18])
    arguments = {"per": "symbol", "order_by": "seq"}
    query = GoldenQuery(_TYPES, [GoldenKeep("KEEP 3 ROWS", arguments)], settings=_ON_ROCKSDB)
    return GoldenCase("types", query, batches[:2], batches[2:])


def _long_values() -> GoldenCase:
    """Return windows that are too long for a shared entry."""
    rows = [
        {"seq": number, "symbol": f"s{number % 3}", "text": "ab"[number // 3 % 2] * 300_000}
        for number in range(24)
    ]
    query = GoldenQuery(
        "seq long, symbol string, text string",
        [keep_of("KEEP 5 ROWS PER (symbol)")],
        settings=_SMALL,
    )
    batches = cut(rows, [9, 18])
    return GoldenCase("long-values", query, batches[:2], batches[2:])


def _operations() -> GoldenCase:
    """Return windows of rows with a primary key: an index of keys, patches, rows behind."""
    rng = random.Random(11)
    words = ["insert", "upsert", "upsert", "c", "update", "delete"]
    rows = [
        {
            "seq": seq,
            "symbol": rng.choice(["s0"] * 6 + ["s1"]),
            "op": rng.choice(words),
            "id": rng.randrange(2000),
            "price": rng.randrange(1000) / 8,
        }
        for seq in range(1400)
    ]
    arguments = {"per": "symbol", "key": "id", "op": "op"}
    query = GoldenQuery(
        "seq long, symbol string, op string, id long, price double",
        [
            keep_of("KEEP 90 ROWS", **arguments),
            keep_of("KEEP 5 ROWS SLACK 2", buffer=4, updates="update", **arguments),
            keep_of("#sort(6, price)", "esper", buffer=4, **arguments),
            keep_of("#rank(price, 20, id)", "esper", **arguments),
            keep_of("KEEP ALL", output="agg", values={"total": "sum(price)"}, **arguments),
        ],
        settings=_ON_CHANGELOG,
    )
    batches = cut(rows, [1000, 1250, 1300])
    return GoldenCase("operations", query, batches[:2], batches[2:])


_BY_SYMBOL = {"per": "symbol"}
_TIMED = {"per": "symbol", "time": "ts"}
_VALUES = {"total": "sum(price)", "highest": "max(price)", "venues": "count(DISTINCT venue)"}

# Aggregation buffers with text, with a variable number of columns, or with their own format.
_LARGE_BUFFERS = {
    "last_venue": "max(venue)",
    "cheapest": "min_by(venue, price)",
    "exact": "sum(CAST(price AS DECIMAL(20, 3)))",
    "about": "approx_count_distinct(price)",
    "middle": "percentile_approx(seq, 0.5)",
    "spread": "stddev(price)",
}

_SINGLE_WINDOWS = [
    # More groups than one entry can hold, some of them with many rows.
    trades_case(
        "many-groups",
        _ON_CHANGELOG,
        keep_of("KEEP 40 ROWS PER (symbol)"),
        count=400,
        symbols=150,
    ),
    # Groups that micro-batches change one by one, and then have entries of their own.
    trades_case(
        "few-rows",
        _ON_CHANGELOG,
        keep_of("KEEP 20 ROWS PER (symbol)"),
        count=600,
        symbols=24,
        small_batches=4,
    ),
    trades_case(
        "few-rows-interval",
        _ON_HDFS,
        keep_of("KEEP 30 SECONDS", **_TIMED),
        count=400,
        symbols=12,
        small_batches=2,
    ),
    trades_case(
        "few-rows-values",
        _ON_ROCKSDB,
        keep_of("KEEP 40 ROWS", output="agg", values=_VALUES, **_BY_SYMBOL),
        count=600,
        symbols=9,
        small_batches=4,
    ),
    trades_case(
        "few-rows-sort",
        _ON_CHANGELOG,
        keep_of("#sort(250, price)", "esper", **_BY_SYMBOL),
        count=700,
        symbols=2,
        small_batches=4,
    ),
    # Sorted sequences of waiting rows, one of them partly released, and unsorted rows.
    trades_case(
        "delayed-rows",
        _ON_CHANGELOG,
        keep_of("KEEP 20 ROWS", **_TIMED),
        count=1350,
        symbols=1,
        small_batches=2,
        delay="150 seconds",
    ),
    # Unsorted waiting rows of which a schedule has the next ones, some of them released.
    trades_case(
        "delayed-rows-schedule",
        _ON_CHANGELOG,
        keep_of("KEEP 20 ROWS", **_TIMED),
        count=300,
        symbols=1,
        small_batches=2,
        delay="30 seconds",
    ),
    trades_case("rows-slack", _ON_HDFS, keep_of("KEEP 3 ROWS SLACK 2 PER (symbol)")),
    trades_case("interval", _ON_ROCKSDB, keep_of("KEEP 10 SECONDS", **_TIMED), symbols=12),
    trades_case(
        "every-interval-idle",
        _ON_CHANGELOG,
        keep_of("KEEP EVERY 9 SECONDS", **_TIMED, origin="first", idle="12 seconds"),
        symbols=40,
    ),
    trades_case(
        "interval-on-arrival",
        _ON_CHANGELOG_2,
        keep_of("KEEP 10 SECONDS", **_TIMED, apply="arrival"),
    ),
    trades_case(
        "interval-by-batch-time",
        _SMALL,
        keep_of("KEEP 5 SECONDS", **_BY_SYMBOL, idle="1 hour"),
        count=60,
        by_batch_time=True,
    ),
    trades_case("sort", _ON_CHANGELOG, keep_of("#sort(4, price desc)", "esper", **_BY_SYMBOL)),
    trades_case(
        "time-unique", _ON_HDFS, keep_of("#time(20 sec)#unique(venue)", "esper", **_TIMED)
    ),
    trades_case("every", _ON_HDFS, keep_of("retain 5 every 2", "apama", **_BY_SYMBOL)),
    trades_case(
        "partition-count",
        _ON_HDFS,
        keep_of(
            "sliding, count(3), count(1), partitioned, partitionCount(4)", "spl", **_BY_SYMBOL
        ),
        symbols=7,
    ),
    trades_case(
        "several-windows",
        _ON_HDFS,
        keep_of({"few": "KEEP 2 ROWS", "recent": "KEEP 8 SECONDS"}, **_TIMED),
    ),
]

# Windows with state beside their rows; one policy combines several kinds where possible.
_MANY_WINDOWS = [
    trades_case(
        "esper-windows",
        _SMALL,
        keep_of("#expr(newest_event.price - oldest_event.price < 40)", "esper", **_TIMED),
        keep_of(
            "#ext_timed(ts, 8 sec)#expr(sum(price) < 400)#time_accum(2 sec)", "esper", **_TIMED
        ),
        keep_of("#firsttime(9 sec)#firstunique(venue)#time_order(ts, 6 sec)", "esper", **_TIMED),
        keep_of("#rank(venue, 3, price desc)", "esper", output="snapshots", **_TIMED),
        keep_of(
            "#length(4)#time_length_batch(3 sec, 3)#firstlength(9) retain-union",
            "esper",
            **_TIMED,
        ),
        keep_of("#keepall#time_batch(3 sec)#unique(venue)", "esper", **_TIMED),
        keep_of("#time_length_batch(3 sec, 4)", "esper", **_TIMED, apply="arrival"),
        keep_of("#ext_timed_batch(ts, 5 sec)", "esper", **_BY_SYMBOL),
        keep_of("#expr_batch(current_count >= 3)", "esper", **_BY_SYMBOL),
        count=60,
        symbols=3,
    ),
    trades_case(
        "apama-and-spl-windows",
        _SMALL,
        keep_of("within 6.0 every 2.0 with unique venue", "apama", **_TIMED, origin="first"),
        keep_of("within 6.0 retain 3", "apama", **_TIMED),
        keep_of("sliding, time(6), time(2), partitioned", "spl", output="events", **_TIMED),
        keep_of(
            "sliding, delta(price, 40.0), delta(price, 20.0), partitioned",
            "spl",
            output="events",
            **_BY_SYMBOL,
        ),
        keep_of("sliding, count(4), count(3)", "spl", output="events"),
        keep_of(
            "tumbling, time(4), partitioned, partitionAge(3)", "spl", output="events", **_TIMED
        ),
        keep_of("tumbling, delta(price, 30.0), partitioned", "spl", **_BY_SYMBOL),
        keep_of("tumbling, punct(), partitioned", "spl", **_TIMED, punct="mark"),
        keep_of(
            "@Hint('reclaim_group_aged=1,reclaim_group_freq=1')"
            " select * from Trade#groupwin(symbol)#length(3)",
            "esper",
            time="ts",
        ),
        count=60,
        symbols=3,
    ),
]

_WINDOWS_WITH_VALUES = [
    trades_case(
        "long-window-values",
        _ON_CHANGELOG,
        keep_of("KEEP 300 ROWS", output="withColumns", values=_VALUES, **_BY_SYMBOL),
        count=900,
        symbols=1,
    ),
    trades_case(
        "long-window-large-buffers",
        _SMALL,
        keep_of("KEEP 270 ROWS", output="withColumns", values=_LARGE_BUFFERS, **_BY_SYMBOL),
        count=700,
        symbols=1,
    ),
    trades_case(
        "sort-values",
        _ON_ROCKSDB,
        keep_of("#sort(60, price)", "esper", output="agg", values=_VALUES, **_BY_SYMBOL),
        count=300,
        symbols=2,
    ),
    trades_case(
        "values",
        _SMALL,
        keep_of(
            "#sort(20, price)",
            "esper",
            output="agg",
            values=_LARGE_BUFFERS,
            **_BY_SYMBOL,
        ),
        keep_of("KEEP 9 ROWS", output="agg", values=_VALUES, by=["venue"], **_BY_SYMBOL),
        keep_of("#length(5)#uni(price, venue)", "esper", output="agg", **_BY_SYMBOL),
        keep_of("#time(5 sec)#correl(seq, price)", "esper", output="agg", **_TIMED),
        keep_of("#sort(9, price)#linest(seq, price)", "esper", output="agg", **_BY_SYMBOL),
        keep_of(
            "#groupwin(symbol)#length(4)#merge(symbol)#uni(price, venue)", "esper", output="agg"
        ),
        keep_of(
            "select venue, sum(price) as total, count(distinct symbol) as symbols"
            " from Trade#groupwin(symbol)#time(5 sec) group by venue",
            "esper",
            output="agg",
            time="ts",
        ),
        keep_of(
            {"few": "KEEP 2 ROWS", "recent": "KEEP 4 SECONDS"},
            output="withColumns",
            values={"low": ("few", "min(price)"), "venues": ("recent", "count(DISTINCT venue)")},
            **_TIMED,
        ),
        count=60,
        symbols=3,
    ),
]

_BY_ROWS = "OVER (PARTITION BY symbol ORDER BY ts, seq"
_BY_TIME = "OVER (PARTITION BY symbol ORDER BY ts"

_WINDOW_FUNCTIONS = [
    over_case(
        "over-rows",
        _SMALL,
        {
            "mean": f"avg(price) {_BY_ROWS} ROWS 39 PRECEDING)",
            "low": f"min(price) {_BY_ROWS} ROWS BETWEEN 9 PRECEDING AND 2 PRECEDING)",
            "near": f"sum(price) {_BY_ROWS} ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING)",
            "third": f"nth_value(price, 3) {_BY_ROWS} ROWS 5 PRECEDING)",
            "total": f"sum(price) {_BY_ROWS})",
            "place": f"row_number() {_BY_ROWS})",
            "before": f"lag(price, 2) {_BY_ROWS})",
            "marked": f"lag(mark) IGNORE NULLS {_BY_ROWS})",
            "next": f"lead(price, 3) {_BY_ROWS})",
            "then": f"lead(mark) IGNORE NULLS {_BY_ROWS})",
        },
    ),
    over_case(
        "over-range",
        _SMALL,
        {
            "mean": f"avg(price) {_BY_TIME} RANGE INTERVAL 10 SECONDS PRECEDING)",
            "near": f"count(*) {_BY_TIME} RANGE BETWEEN INTERVAL 2 SECONDS PRECEDING"
            " AND INTERVAL 1 SECOND FOLLOWING)",
            "peers": f"max(price) {_BY_TIME} RANGE CURRENT ROW)",
            "total": f"sum(price) {_BY_TIME})",
            "place": f"rank() {_BY_TIME})",
            "dense": f"dense_rank() {_BY_TIME})",
            "middle": f"percentile(price, 0.5) {_BY_TIME})",
        },
    ),
]

CASES = [
    *_SINGLE_WINDOWS,
    *_MANY_WINDOWS,
    *_WINDOWS_WITH_VALUES,
    *_WINDOW_FUNCTIONS,
    _types(),
    _long_values(),
    _operations(),
]

# Of each version of Spark but the default one: its own logs and state stores, as it makes them by
# itself and in each form that the default version lacks.
SPARK_CASES = [
    trades_case(
        "rows-values",
        {PARTITIONS: "1"},
        keep_of("KEEP 9 ROWS", output="agg", values=_VALUES, **_BY_SYMBOL),
        count=60,
        symbols=3,
    ),
    trades_case(
        "interval-row-checksum",
        {**_ON_CHANGELOG_2, PARTITIONS: "1", ROW_CHECKSUM: "true"},
        keep_of("KEEP 5 SECONDS", **_TIMED),
        count=60,
        symbols=3,
    ),
    over_case(
        "over-rows-offset-log",
        {**_SMALL, OFFSET_LOG_FORMAT: "2"},
        {
            "mean": f"avg(price) {_BY_ROWS} ROWS 9 PRECEDING)",
            "before": f"lag(price, 2) {_BY_ROWS})",
            "next": f"lead(price, 3) {_BY_ROWS})",
        },
        count=60,
    ),
]
