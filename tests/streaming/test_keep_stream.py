"""Windows over a stream: the clock, dropped rows and metrics."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from tests.support.replay import TIMEOUT_SECONDS, NewReplay, at
from tests.support.transports import longer_on_connect
from winops import keep

SCHEMA = "seq long, symbol string, ts timestamp"


def emitted(df: DataFrame) -> list[str]:
    """Return changes as words, in time order and group by group."""
    return [
        f"{'+' if row._change_type == 'insert' else '-'}{row.seq}@{row.second:g}"
        for row in df.withColumn("second", F.unix_millis("_change_time") / 1000)
        .orderBy("_change_time", "symbol", "_change_seq")
        .collect()
    ]


def metrics(query: StreamingQuery) -> dict[str, list[int]]:
    """Return the metrics of the only stateful operator, one entry for each micro-batch."""
    numbers: dict[str, list[int]] = {}
    for progress in query.recentProgress:
        for operator in progress["stateOperators"]:
            values = {**operator["customMetrics"], "late": operator["numRowsDroppedByWatermark"]}
            for name, value in values.items():
                numbers.setdefault(name, []).append(value)
    return numbers


def test_rows_are_counted_over_micro_batches(replay: NewReplay) -> None:
    stream = replay(SCHEMA)
    stream.add([(1, "A", at(0)), (2, "B", at(0))], [(3, "A", at(0))], [(4, "A", at(0))])
    query = stream.run(keep(stream.rows(), rows=2, per="symbol", order_by="seq").changes())
    rows = stream.changes("symbol", "_change_type", "seq", "_change_step", "_change_seq")
    assert [tuple(row)[1:] for row in rows if row.symbol == "A"] == [
        ("insert", 1, 0, 0),
        ("insert", 3, 1, 1),
        ("insert", 4, 2, 2),
        ("delete", 1, 2, 3),
    ]
    assert metrics(query)["rowsInserted"] == [2, 1, 1]
    assert metrics(query)["rowsDeleted"] == [0, 0, 1]
    assert metrics(query)["rowsHeld"] == [2, 3, 3]
    assert metrics(query)["groups"] == [2, 2, 2]


def test_changes_have_the_timestamp_of_their_micro_batch(replay: NewReplay) -> None:
    stream = replay(SCHEMA)
    stream.add([(1, "A", at(0)), (2, "A", at(0))], [(3, "A", at(0))])
    before = time.time()
    stream.run(keep(stream.rows(), rows=1, per="symbol").changes())
    stamps = [
        row._change_time.timestamp() for row in stream.changes("_change_seq", "_change_time")
    ]
    assert stamps[0] == stamps[1] == stamps[2] < stamps[3] == stamps[4]
    assert before - 1 <= stamps[0] <= stamps[-1] <= time.time()


@longer_on_connect
def test_a_row_waits_until_the_watermark_has_passed_it(replay: NewReplay) -> None:
    stream = replay(SCHEMA)
    kept = keep(
        stream.rows(("ts", "2 seconds")), "KEEP 3 SECONDS PER (symbol)", time="ts", order_by="seq"
    )
    stream.add([(1, "A", at(10)), (2, "A", at(11))])
    stream.run(kept.changes())
    assert emitted(stream.written()) == []
    stream.add([(3, "A", at(10.5)), (4, "B", at(13))])
    stream.run(kept.changes())
    assert emitted(stream.written()) == ["+1@10", "+3@10.5"]
    stream.add([(5, "B", at(15.001))])
    stream.run(kept.changes())
    assert emitted(stream.written()) == ["+1@10", "+3@10.5", "+2@11", "-1@13", "+4@13"]


@longer_on_connect
def test_rows_are_applied_in_the_order_of_time_then_order(replay: NewReplay) -> None:
    stream = replay(SCHEMA)
    stream.add([(3, "A", at(5)), (1, "A", at(6)), (2, "A", at(5))], [(4, "A", at(60))])
    stream.run(
        keep(
            stream.rows(("ts", "0 seconds")), rows=2, per="symbol", time="ts", order_by="seq"
        ).changes()
    )
    assert [row.seq for row in stream.changes("_change_seq", "seq")] == [2, 3, 1, 2]


@longer_on_connect
def test_late_rows_are_dropped_and_counted(replay: NewReplay) -> None:
    stream = replay(SCHEMA)
    # The first file advances the watermark; the second ends the batch that defines lateness.
    stream.add(
        [(1, "A", at(10))],
        [(6, "C", at(10))],
        [(2, "A", at(8)), (3, "A", at(7.999)), (4, "B", at(1))],
        [(5, "A", at(60))],
    )
    query = stream.run(
        keep(stream.rows(("ts", "2 seconds")), rows=9, per="symbol", time="ts").changes()
    )
    assert emitted(stream.written()) == ["+2@8", "+1@10", "+6@10"]
    assert sum(metrics(query)["late"]) == 2


@longer_on_connect
def test_apply_arrival_inserts_rows_at_once_and_out_of_order(replay: NewReplay) -> None:
    stream = replay(SCHEMA)
    kept = keep(
        stream.rows(("ts", "1 hour")), "KEEP 3 SECONDS PER (symbol)", time="ts", apply="arrival"
    )
    stream.add([(1, "A", at(10))], [(2, "A", at(12)), (3, "A", at(11)), (4, "A", at(13))])
    stream.run(kept.changes())
    assert emitted(stream.written()) == ["+1@10", "+2@12", "+3@12", "-1@13", "+4@13"]


@pytest.mark.longer
def test_rows_of_a_group_without_input_expire_when_time_passes(replay: NewReplay) -> None:
    stream = replay(SCHEMA)
    kept = keep(stream.rows(("ts", "0 seconds")), "KEEP 3 SECONDS PER (symbol)", time="ts")
    stream.add([(1, "A", at(10))], [(2, "B", at(12))], [(3, "B", at(20))])
    query = stream.run(kept.changes())
    assert emitted(stream.written()) == ["+1@10", "+2@12", "-1@13", "-2@15"]
    # A group without rows is kept, because the numbers of its changes continue.
    assert metrics(query)["groups"][-1] == 2
    assert metrics(query)["rowsHeld"][-1] == 1


@pytest.mark.longer
def test_an_idle_group_is_removed_and_starts_again(replay: NewReplay) -> None:
    stream = replay(SCHEMA)
    kept = keep(
        stream.rows(("ts", "0 seconds")), rows=5, per="symbol", time="ts", idle="1 minute"
    )
    stream.add(
        [(1, "A", at(0)), (2, "A", at(50))],
        [(3, "B", at(200))],
        [(4, "A", at(210))],
        [(5, "B", at(230))],
    )
    query = stream.run(kept.changes())
    group = stream.written().where("symbol = 'A'")
    assert emitted(group) == ["+1@0", "+2@50", "-1@110", "-2@110", "+4@210"]
    sequence = group.orderBy("_change_time", "_change_seq").select("_change_step", "_change_seq")
    assert [tuple(row) for row in sequence.collect()] == [(0, 0), (1, 1), (2, 2), (2, 3), (0, 0)]
    assert sum(metrics(query)["groupsExpired"]) == 1


@longer_on_connect
def test_rows_without_a_time_are_dropped_and_counted(replay: NewReplay) -> None:
    stream = replay(SCHEMA)
    kept = keep(
        stream.rows(("ts", "0 seconds")), rows=5, per="symbol", time="ts", on_null_time="drop"
    )
    stream.add([(1, "A", at(0)), (2, "A", None)], [(3, "A", None)], [(4, "A", at(9))])
    query = stream.run(kept.changes())
    assert emitted(stream.written()) == ["+1@0"]
    assert sum(metrics(query)["rowsNullTime"]) == 2


@longer_on_connect
def test_out_of_order_rows_are_counted(replay: NewReplay) -> None:
    stream = replay(SCHEMA)
    stream.add([(5, "A", at(0))], [(3, "A", at(0)), (7, "A", at(0))], [(6, "A", at(0))])
    query = stream.run(keep(stream.rows(), rows=2, per="symbol", order_by="seq").changes())
    assert [row.seq for row in stream.changes("_change_seq", "seq")] == [5, 3, 7, 5, 6, 3]
    assert sum(metrics(query)["rowsOutOfOrder"]) == 2


@longer_on_connect
def test_without_time_rows_expire_without_new_rows(
    spark: SparkSession, replay: NewReplay
) -> None:
    stream = replay(SCHEMA)
    stream.add([(1, "A", at(0)), (2, "B", at(0))])
    kept = keep(stream.rows(), interval="2 seconds", per="symbol")
    query = (
        kept.changes()
        .writeStream.format("memory")
        .queryName("expiring")
        .option("checkpointLocation", stream.checkpoint)
        .trigger(processingTime="100 milliseconds")
        .start()
    )
    try:
        rows = until(lambda: spark.table("expiring").collect(), 4)
        batches = query.lastProgress["batchId"]
    finally:
        query.stop()
    times = {(row._change_type, row.seq): row._change_time.timestamp() for row in rows}
    assert times["delete", 1] - times["insert", 1] == pytest.approx(2, abs=1e-3)
    assert times["delete", 2] == times["delete", 1]
    assert batches <= 2


def until(read: Callable[[], Sequence[Any]], count: int) -> Sequence[Any]:
    """Read until the given amount is available."""
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while len(rows := read()) < count:
        assert time.monotonic() < deadline, f"only {len(rows)} of {count}"
        time.sleep(0.1)
    return rows


def test_the_physical_plan_has_keep_and_is_not_adaptive(
    replay: NewReplay, capsys: pytest.CaptureFixture[str]
) -> None:
    stream = replay(SCHEMA)
    stream.add([(1, "A", at(0))])
    query = stream.run(keep(stream.rows(), rows=2, per="symbol").changes())
    query.explain()
    plan = capsys.readouterr().out
    assert "Keep [KEEP 2 ROWS]" in plan
    assert "AdaptiveSparkPlan" not in plan


def test_the_operator_has_a_name_of_its_own(replay: NewReplay) -> None:
    stream = replay(SCHEMA)
    stream.add([(1, "A", at(0))])
    query = stream.run(keep(stream.rows(), rows=2, per="symbol").changes())
    (operator,) = query.lastProgress["stateOperators"]
    assert operator["operatorName"] == "keep"


def test_inserts_and_deletes_are_streams(replay: NewReplay) -> None:
    stream = replay(SCHEMA)
    stream.add([(1, "A", at(0)), (2, "A", at(0))], [(3, "A", at(0))])
    stream.run(keep(stream.rows(), rows=1, per="symbol").deletes())
    assert [row.seq for row in stream.changes("_change_seq", "seq")] == [1, 2]


def test_sql_works_over_a_stream(spark: SparkSession, replay: NewReplay) -> None:
    stream = replay(SCHEMA)
    stream.rows(("ts", "0 seconds")).createOrReplaceTempView("ticks")
    result = spark.sql(
        """
        SELECT * FROM keep(
          TABLE(ticks) PARTITION BY (symbol) ORDER BY (seq),
          'KEEP n ROWS',
          params => named_struct('n', 1),
          time => 'ts')
        """
    )
    stream.add([(1, "A", at(0)), (2, "A", at(1))], [(3, "A", at(9))])
    stream.run(result)
    assert emitted(stream.written()) == ["+1@0", "+2@1", "-1@1"]


@longer_on_connect
def test_a_stream_without_rows_gives_no_changes(replay: NewReplay) -> None:
    stream = replay(SCHEMA)
    stream.add([], [])
    stream.run(keep(stream.rows(), rows=1, per="symbol").changes())
    assert emitted(stream.written()) == []
