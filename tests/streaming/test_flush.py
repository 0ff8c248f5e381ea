"""The end of a finite stream: waiting rows are applied, and a later start continues."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, Literal

import pytest
from pyspark.errors import AnalysisException, PySparkValueError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tests.support.replay import NewReplay, at, failure
from tests.support.transports import interpreted, longer_on_connect, same_on_connect
from winops import esper, keep, read_state, spl
from winops.testing import assert_same

SCHEMA = "seq long, symbol string, ts timestamp"

POLICIES: dict[str, dict[str, Any]] = {
    "rows": {"rows": 3, "per": "symbol"},
    "interval": {"interval": "5 seconds", "per": "symbol"},
    "short": {"interval": "1 millisecond", "per": "symbol"},
    "every": {"interval": "7 seconds", "every": True},
    "idle": {"rows": 3, "per": "symbol", "idle": "4 seconds"},
    "batch": {"policy": esper("#length_batch(4)"), "per": "symbol"},
    "cross-group": {
        "policy": spl("tumbling, count(3), partitioned, partitionCount(2)"),
        "per": "symbol",
    },
}


def rows_of(random: Random, first: int, count: int, since: int) -> list[tuple[Any, ...]]:
    """Return out-of-order rows over a minute, with microseconds."""
    times = [since + random.randrange(60_000_000) / 1e6 for _ in range(count)]
    return [(first + i, random.choice("ABC"), at(time)) for i, time in enumerate(times)]


def changes(
    rows: Callable[[], DataFrame], at_end: Literal["wait", "flush"] | None = None
) -> DataFrame:
    """Return the changes of every policy, each with a column for its name."""
    parts = [
        keep(rows(), **policy, time="ts", order_by="seq", at_end=at_end)
        .changes()
        .withColumn("policy", F.lit(name))
        for name, policy in POLICIES.items()
    ]
    union = parts[0]
    for part in parts[1:]:
        union = union.union(part)
    return union


@same_on_connect
@interpreted
def test_a_flushed_stream_gives_the_changes_of_a_table(
    replay: NewReplay, spark: SparkSession
) -> None:
    random = Random(5)
    stream = replay(SCHEMA)
    first = rows_of(random, 0, 60, since=1_000)
    stream.add(first[:20], first[20:50], first[50:])

    def source() -> DataFrame:
        return stream.rows(("ts", "1 day"))

    query = stream.run(changes(source, "flush"))
    expected = changes(stream.table).collect()
    assert_same(stream.written(), expected)
    held = read_state(spark, stream.checkpoint, operator=1)
    assert held.where("_waits").count() == 0
    operators = query.recentProgress[-1]["stateOperators"]
    assert [o["customMetrics"]["rowsWaiting"] for o in operators] == [0] * len(POLICIES)

    # The commit of the last batch is removed, as after a crash before the commit.
    commits = Path(stream.checkpoint) / "commits"
    newest = max(int(f.name) for f in commits.iterdir() if f.name.isdigit())
    for file in (commits / str(newest), commits / f".{newest}.crc"):
        file.unlink(missing_ok=True)
    stream.run(changes(source, "flush"))
    assert_same(stream.written(), expected)

    # A later start continues; rows before the flushed watermark are late and counted.
    late = [(1_000, "A", at(900)), (1_001, "B", at(1_001))]
    later = rows_of(random, 2_000, 30, since=1_060)
    stream.add(late + later[:10], later[10:])
    query = stream.run(changes(source, "flush"))
    counted = {
        operator["numRowsDroppedByWatermark"]
        for progress in query.recentProgress[:1]
        for operator in progress["stateOperators"]
    }
    assert counted == {len(late)}

    def without_late() -> DataFrame:
        return stream.table().where("seq NOT IN (1000, 1001)")

    assert_same(stream.written(), changes(without_late))


@longer_on_connect
def test_a_flush_reaches_the_second_keep_of_a_chain(replay: NewReplay) -> None:
    stream = replay(SCHEMA)
    stream.add(rows_of(Random(7), 0, 30, since=1_000))

    def chain(rows: DataFrame) -> DataFrame:
        options: dict[str, Any] = {"per": "symbol", "order_by": "seq", "at_end": "flush"}
        first = keep(rows, rows=4, time="ts", **options).inserts()
        again = first.select("seq", "symbol", F.col("_change_time").alias("at"))
        return keep(again, rows=2, time="at", **options).changes()

    stream.run(chain(stream.rows(("ts", "1 hour"))))
    assert_same(stream.written(), chain(stream.table()))


@longer_on_connect
def test_rows_wait_until_a_later_start_flushes_them(replay: NewReplay) -> None:
    stream = replay(SCHEMA)
    stream.add(rows_of(Random(6), 0, 30, since=1_000))

    def newest(rows: DataFrame, at_end: Literal["wait", "flush"]) -> DataFrame:
        return keep(
            rows, rows=3, per="symbol", time="ts", order_by="seq", at_end=at_end
        ).changes()

    query = stream.run(newest(stream.rows(("ts", "1 day")), "wait"))
    (operator,) = query.recentProgress[-1]["stateOperators"]
    assert operator["customMetrics"]["rowsWaiting"] == 30
    assert stream.written().count() == 0
    stream.add(rows_of(Random(8), 30, 5, since=1_000))
    stream.run(newest(stream.rows(("ts", "1 day")), "flush"))
    assert_same(stream.written(), newest(stream.table(), "flush"))


def test_a_query_without_an_end_cannot_flush(replay: NewReplay) -> None:
    stream = replay(SCHEMA)
    kept = keep(stream.rows(("ts", "1 day")), rows=3, time="ts", at_end="flush")
    writer = kept.changes().writeStream.format("noop")
    with pytest.raises(AnalysisException, match="availableNow=True") as caught:
        writer.option("checkpointLocation", stream.checkpoint).start()
    assert caught.value.getCondition() == "WINOPS_AT_END"


@pytest.mark.parametrize("options", [{}, {"time": "ts", "apply": "arrival"}])
def test_a_flush_is_refused_if_rows_never_wait(
    replay: NewReplay, options: dict[str, Any]
) -> None:
    stream = replay(SCHEMA)
    with pytest.raises(PySparkValueError, match="rows that wait"):
        keep(stream.rows(("ts", "1 day")), rows=3, at_end="flush", **options)


def test_a_joined_table_does_not_count_as_new_rows(
    replay: NewReplay, spark: SparkSession
) -> None:
    stream = replay(SCHEMA)
    stream.add(rows_of(Random(9), 0, 20, since=1_000))

    def newest(rows: DataFrame) -> DataFrame:
        names = spark.sql("SELECT * FROM VALUES ('A', 1), ('B', 2), ('C', 3) AS t(symbol, n)")
        return keep(
            rows.join(names, "symbol"), rows=2, per="symbol", time="ts", at_end="flush"
        ).changes()

    stream.run(newest(stream.rows(("ts", "1 day"))))
    assert_same(stream.written(), newest(stream.table()))


def test_a_source_that_is_read_in_one_batch_cannot_be_flushed(
    replay: NewReplay, spark: SparkSession
) -> None:
    stream = replay(SCHEMA)
    ticks = spark.readStream.format("rate").load().withWatermark("timestamp", "1 day")
    kept = keep(ticks, rows=3, time="timestamp", at_end="flush")
    assert "WINOPS_AT_END" in failure(stream.start(kept.changes()))
