"""A stream that starts with a table: the changes and the state of a stream that read it first."""

from __future__ import annotations

from datetime import timedelta
from random import Random
from typing import Any

import pytest
from pyspark.errors import AnalysisException, PySparkTypeError, PySparkValueError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tests.support.replay import NewReplay, at
from tests.support.transports import same_on_connect
from winops import esper, keep, read_state, spl, with_history
from winops.testing import assert_same

SCHEMA = "seq long, symbol string, ts timestamp"
END = 1_060

POLICIES: dict[str, dict[str, Any]] = {
    "rows": {"rows": 3, "per": "symbol"},
    "interval": {"interval": "15 seconds", "per": "symbol"},
    "every": {"interval": "7 seconds", "every": True},
    "idle": {"rows": 3, "per": "symbol", "idle": "9 seconds"},
    "batch": {"policy": esper("#length_batch(4)"), "per": "symbol"},
    "cross-group": {
        "policy": spl("tumbling, count(3), partitioned, partitionCount(2)"),
        "per": "symbol",
    },
}


def rows_of(random: Random, first: int, count: int, since: int) -> list[tuple[Any, ...]]:
    """Return out-of-order rows of less than a minute, with different times."""
    times = random.sample(range(59_000), count)
    return [
        (first + i, random.choice("ABC"), at(since + time / 1000)) for i, time in enumerate(times)
    ]


def changes(rows: DataFrame) -> DataFrame:
    """Return the changes of every policy, each with a column for its name."""
    parts = [
        keep(rows, **policy, time="ts", order_by="seq")
        .changes()
        .withColumn("policy", F.lit(name))
        for name, policy in POLICIES.items()
    ]
    union = parts[0]
    for part in parts[1:]:
        union = union.union(part)
    return union


@pytest.mark.longer
@pytest.mark.parametrize("emit", ["none", "all"])
def test_changes_after_a_table_are_those_after_the_same_rows_of_the_stream(
    replay: NewReplay, spark: SparkSession, emit: str
) -> None:
    random = Random(7)
    past = [*rows_of(random, 0, 50, since=1_000), (50, "A", at(END))]
    batches = [rows_of(random, 100 * i, 30, since=1_000 + 60 * i) for i in (1, 2)]
    table, warm, whole = replay(SCHEMA), replay(SCHEMA), replay(SCHEMA)
    table.add(past[:30], past[30:])
    warm.add(*batches)
    whole.add(past, *batches)
    delay = ("ts", "10 seconds")
    query = with_history(warm.rows(delay), table.table(), emit=emit)  # type: ignore[arg-type]
    warm.run(changes(query))
    whole.run(changes(whole.rows(delay)))
    changed = whole.written()
    if emit == "none":
        changed = changed.where(F.col("_change_time") > F.lit(at(END)))
    expected = changed.collect()
    assert len(expected) > 50
    assert_same(warm.written(), expected)
    for operator in range(len(POLICIES)):
        states = [
            read_state(spark, stream.checkpoint, operator=operator).drop("_partition", "_group")
            for stream in (warm, whole)
        ]
        assert_same(*states)


def test_a_later_start_does_not_read_the_table(replay: NewReplay) -> None:
    random = Random(8)
    table, warm, whole = replay(SCHEMA), replay(SCHEMA), replay(SCHEMA)
    past = rows_of(random, 0, 20, since=1_000)
    parts = [rows_of(random, 100 * i, 20, since=1_000 + 60 * i) for i in (1, 2, 3)]
    table.add(past)
    whole.add(past, *parts)

    def result(rows: DataFrame) -> DataFrame:
        return keep(rows, rows=2, per="symbol", order_by="seq", time="ts").changes()

    delay = ("ts", "0 seconds")
    warm.add(parts[0])
    warm.run(result(with_history(warm.rows(delay), table.table(), emit="all")))
    warm.add(parts[1])
    warm.run(result(with_history(warm.rows(delay), table.table().limit(0), emit="all")))
    warm.add(parts[2])
    warm.run(result(warm.rows(delay)))
    whole.run(result(whole.rows(delay)))
    assert_same(warm.written(), whole.written())


@same_on_connect
def test_the_table_is_cut(replay: NewReplay, spark: SparkSession) -> None:
    table, warm = replay(SCHEMA), replay(SCHEMA)
    table.add([(i, "A", at(1_000 + i)) for i in range(10)])
    warm.add([(i, "A", at(1_000 + i)) for i in range(5, 20)])
    rows = with_history(warm.rows(("ts", "0 seconds")), table.table(), until=at(1_005))
    warm.run(keep(rows, rows=9, per="symbol", order_by="seq", time="ts").changes())
    held = read_state(spark, warm.checkpoint).where("NOT _waits").orderBy("seq")
    assert [row.seq for row in held.collect()] == list(range(10, 19))
    inserted = warm.written().where("_change_type = 'insert'").orderBy("seq")
    assert [row.seq for row in inserted.collect()] == list(range(5, 19))


@same_on_connect
def test_the_argument_of_keep_is_the_same(replay: NewReplay, spark: SparkSession) -> None:
    table, warm = replay(SCHEMA), replay(SCHEMA)
    table.add([(i, "A", at(1_000 + i)) for i in range(10)])
    warm.add([(100 + i, "A", at(1_010 + i)) for i in range(5)])
    rows = spark.sql(
        "SELECT * FROM keep(TABLE({rows}) PARTITION BY (symbol) ORDER BY (seq), 'KEEP 2 ROWS', "
        "time => 'ts', history => TABLE({table}), history_emit => 'all', "
        "history_until => TIMESTAMP'1970-01-01 00:16:48 UTC')",
        rows=warm.rows(("ts", "0 seconds")),
        table=table.table(),
    )
    warm.run(rows)
    inserted = warm.written().where("_change_type = 'insert'").orderBy("_change_seq")
    assert [row.seq for row in inserted.collect()] == [*range(8), *range(100, 104)]


def test_arguments_are_checked(replay: NewReplay, spark: SparkSession) -> None:
    table, warm = replay(SCHEMA), replay(SCHEMA)
    table.add([(1, "A", at(1_000))])
    warm.add([(2, "A", at(1_001))])
    rows = warm.rows(("ts", "0 seconds"))
    with pytest.raises(PySparkTypeError, match="table= takes a DataFrame"):
        with_history(rows, "table")  # type: ignore[arg-type]
    with pytest.raises(PySparkValueError, match="emit= takes"):
        with_history(rows, table.table(), emit="some")  # type: ignore[arg-type]
    with pytest.raises(PySparkTypeError, match="until= takes"):
        with_history(rows, table.table(), until=timedelta(1))  # type: ignore[arg-type]
    with pytest.raises(AnalysisException, match="WINOPS_HISTORY_COLUMN"):
        with_history(rows, table.table().drop("seq")).columns  # noqa: B018
    with pytest.raises(AnalysisException, match="WINOPS_HISTORY_PLACE"):
        with_history(table.table(), table.table()).columns  # noqa: B018
