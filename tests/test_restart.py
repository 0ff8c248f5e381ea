"""What a checkpoint remembers: what may change at a restart, and what may be read of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tests.support.replay import Replay, at, failure
from tests.support.settings import HDFS, ROCKSDB, STATE_STORE, settings
from tests.support.transports import same_on_connect
from winops import keep

SCHEMA = "seq long, symbol string, price double, ts timestamp"
NewReplay = Callable[[str], Replay]
WATERMARK = ("ts", "1 second")


def row(seq: int, symbol: str = "A", second: float | None = None) -> tuple[Any, ...]:
    return (seq, symbol, seq * 1.5, at(100 + (seq if second is None else second)))


def kept(rows: DataFrame, policy: str = "KEEP 2 ROWS PER (symbol)", **changed: Any) -> DataFrame:
    arguments = {"time": "ts", "order_by": "seq", **changed}
    return keep(rows, policy, **arguments).changes()


@pytest.fixture
def started(replay: NewReplay) -> Replay:
    """Give a stream whose query has run once: two rows of A are held, one of B waits."""
    stream = replay(SCHEMA)
    stream.add([row(1), row(2)], [row(9, "B")])
    stream.run(kept(stream.rows(WATERMARK)))
    stream.add([row(10), row(11)], [row(99, "Z", 900)])
    return stream


def as_expected(stream: Replay) -> bool:
    deletes = stream.written().where("_change_type = 'delete' AND symbol = 'A'")
    return sorted(deleted.seq for deleted in deletes.collect()) == [1, 2]


@pytest.mark.parametrize(
    ("what", "before", "now"),
    [
        ({"policy": "KEEP 3 ROWS PER (symbol)"}, "KEEP 2 ROWS", "KEEP 3 ROWS"),
        ({"policy": "KEEP 2 ROWS SLACK 2 PER (symbol)"}, "KEEP 2 ROWS", "SLACK 2"),
        ({"policy": "KEEP 2 SECONDS PER (symbol)"}, "KEEP 2 ROWS", "SECONDS"),
        ({"order_by": ["seq", "price"]}, "seq", "price"),
        ({"order_by": None}, "seq", ""),
        ({"apply": "arrival"}, "event_time", "arrival"),
    ],
)
def test_another_keep_is_refused(
    started: Replay, what: dict[str, Any], before: str, now: str
) -> None:
    text = failure(started.start(kept(started.rows(WATERMARK), **what)))
    assert "WINOPS_POLICY_CHANGED" in text
    former, latter = text.split("In the checkpoint:")[1].split("In this query:")[:2]
    assert before in former
    assert now in latter


@same_on_connect
@pytest.mark.parametrize(
    "change",
    [
        lambda rows: rows.withColumn("more", F.lit(1)),
        lambda rows: rows.drop("price"),
        lambda rows: rows.withColumn("price", F.col("price").cast("float")),
        lambda rows: rows.withColumnRenamed("price", "value"),
    ],
)
def test_rows_of_another_schema_are_refused(
    started: Replay, change: Callable[[DataFrame], DataFrame]
) -> None:
    text = failure(started.start(kept(change(started.rows(WATERMARK)))))
    assert "WINOPS_POLICY_CHANGED" in text


def test_another_group_is_refused(started: Replay) -> None:
    rows = started.rows(WATERMARK)
    assert failure(started.start(kept(rows, "KEEP 2 ROWS", per=["symbol", "seq"])))


def test_nothing_is_lost_by_a_refusal(started: Replay) -> None:
    rows = started.rows(WATERMARK)
    failure(started.start(kept(rows, "KEEP 3 ROWS PER (symbol)")))
    started.run(kept(rows))
    assert as_expected(started)


@same_on_connect
@pytest.mark.parametrize(
    "same",
    [
        {"policy": "keep 2 row per(symbol) ;"},
        {"policy": "KEEP N ROWS", "params": {"N": 2}, "per": "symbol"},
        {"policy": "KEEP 2 ROWS SLACK 1 PER (symbol)"},
        {"max_rows": 7},
        {"on_null_time": "drop"},
        {"apply": "event_time"},
        {"idle": "1 hour"},
    ],
)
def test_the_same_keep_goes_on(started: Replay, same: dict[str, Any]) -> None:
    started.run(kept(started.rows(WATERMARK), **same))
    assert as_expected(started)


def test_groups_from_before_are_forgotten_when_idle_is_added(started: Replay) -> None:
    started.run(kept(started.rows(WATERMARK), idle="1 minute"))
    gone = started.written().where("_change_type = 'delete'").orderBy("_change_time", "seq")
    assert [(deleted.symbol, deleted.seq) for deleted in gone.collect()][-3:] == [
        ("B", 9),
        ("A", 10),
        ("A", 11),
    ]


def test_a_cap_that_is_lowered_counts_from_now_on(started: Replay) -> None:
    rows = started.rows(WATERMARK)
    assert "WINOPS_MAX_ROWS" in failure(started.start(kept(rows, max_rows=1)))


@pytest.mark.parametrize("provider", [ROCKSDB, HDFS])
def test_the_state_can_be_read(spark: SparkSession, replay: NewReplay, provider: str) -> None:
    stream = replay(SCHEMA)
    stream.add([row(1), row(2)], [row(9, "B")])
    with settings(spark, {STATE_STORE: provider}):
        stream.run(kept(stream.rows(WATERMARK)))
        metadata = spark.read.format("state-metadata").load(stream.checkpoint).collect()
        state = spark.read.format("statestore").load(stream.checkpoint)
        assert {"key", "value"} <= set(state.columns)
        assert state.count() > 0
    (operator,) = metadata
    assert operator.operatorName == "keep"
    assert "KEEP 2 ROWS" in json.dumps(json.loads(operator.operatorProperties))
