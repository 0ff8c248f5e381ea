"""Lookups of windows over tables, beside lists of rows."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from tests.support.lookups import (
    CASES,
    ON,
    WINDOWS,
    Ask,
    Trade,
    Window,
    answers,
    asks_of,
    keep_interval,
    keep_rows,
    random_rows,
    renumbered,
    trades_of,
)
from tests.support.replay import at
from tests.support.settings import PARTITIONS, settings
from tests.support.transports import first_cases, interpreted, longer_on_connect
from winops import Kept, esper, keep

pytestmark = interpreted

Rows = tuple[list[Trade], list[Ask]]


@pytest.fixture(scope="module")
def rows() -> Rows:
    return random_rows(Random(39), CASES)


@pytest.fixture(scope="module")
def trades(spark: SparkSession, rows: Rows) -> DataFrame:
    return trades_of(spark, rows[0])


@pytest.fixture(scope="module")
def asks(spark: SparkSession, rows: Rows) -> DataFrame:
    return asks_of(spark, rows[1])


def kept(trades: DataFrame, window: Window, **more: Any) -> Kept:
    idle = {} if window.idle is None else {"idle": f"{window.idle} milliseconds"}
    return keep(
        trades, window.policy, per=["draw", "k"], time="ts", order_by="n", **{**idle, **more}
    )


def aggregates() -> dict[str, Column]:
    # A column needs a session.
    return {
        "rows": F.count("*"),
        "total": F.sum("x"),
        "least": F.min("x"),
        "newest": F.last("n"),
        "every": F.collect_list("n"),
    }


def values(held: list[Trade]) -> tuple[Any, ...]:
    """Return the aggregates of some rows. Sums of the values are exact in any order."""
    known = [row.x for row in held if row.x is not None]
    return (
        len(held),
        sum(known) if known else None,
        min(known, default=None),
        held[-1].n if held else None,
        [row.n for row in held],
    )


@pytest.mark.parametrize("before", [False, True], ids=["at", "before"])
@pytest.mark.parametrize("window", first_cases(WINDOWS, 4, on_connect=1), ids=str)
def test_a_row_finds_what_a_list_holds(
    rows: Rows, trades: DataFrame, asks: DataFrame, window: Window, before: bool
) -> None:
    found = kept(trades, window).lookup(asks, aggregates(), on=ON, time="placed", before=before)
    assert found.columns == ["draw", "sym", "placed", "id", *aggregates()]
    by_id = {row.id: tuple(row)[4:] for row in found.collect()}
    expected = {number: values(held) for number, held in answers(window, *rows, before).items()}
    assert by_id == expected
    assert any(count > 0 for count, *_ in expected.values())


OTHERS: dict[str, Callable[[DataFrame], DataFrame]] = {
    "distinct": lambda asks: asks.distinct(),
    "repartition": lambda asks: asks.repartition(3),
    "sorted": lambda asks: asks.orderBy(F.desc("id")),
    "join": lambda asks: asks.join(asks.select("id").distinct(), "id").select(*asks.columns),
}


# Each of them with one of two windows, then with the other one.
TIES = [
    ((keep_rows(2), keep_interval(7))[(number + turn) % 2], other)
    for turn in range(2)
    for number, other in enumerate(OTHERS)
]


@pytest.mark.parametrize(
    ("window", "other"), first_cases(TIES, len(OTHERS), on_connect=1), ids=str
)
def test_rows_of_one_time_have_the_order_of_their_source(
    spark: SparkSession, rows: Rows, asks: DataFrame, window: Window, other: str
) -> None:
    count = len(rows[0])
    ordered = keep(
        trades_of(spark, renumbered(rows[0], count)), window.policy, per=["draw", "k"], time="ts"
    )
    found = ordered.lookup(OTHERS[other](asks), aggregates(), on=ON, time="placed")
    by_id = {row.id: tuple(row)[4:] for row in found.collect()}
    assert by_id == {
        number: values(renumbered(held, count))
        for number, held in answers(window, *rows, False).items()
    }


@pytest.mark.parametrize("partitions", first_cases([5, 1, 2], 2, on_connect=1))
def test_the_number_of_partitions_has_no_effect(
    spark: SparkSession, rows: Rows, asks: DataFrame, partitions: int
) -> None:
    window, count = keep_rows(2), len(rows[0])
    trades = trades_of(spark, renumbered(rows[0], count))
    ordered = keep(trades, window.policy, per=["draw", "k"], time="ts")
    # Spark would merge small partitions.
    with settings(spark, {PARTITIONS: str(partitions), "spark.sql.adaptive.enabled": "false"}):
        found = ordered.lookup(asks, {"every": F.collect_list("n")}, on=ON, time="placed")
        every = {row.id: row.every for row in found.collect()}
    assert every == {
        number: [row.n for row in renumbered(held, count)]
        for number, held in answers(window, *rows, False).items()
    }


@pytest.mark.parametrize("before", [False, True], ids=["at", "before"])
def test_the_contents_are_the_rows_of_the_window(
    rows: Rows, trades: DataFrame, asks: DataFrame, before: bool
) -> None:
    window = keep_rows(3)
    found = kept(trades, window).lookup(
        asks, on=ON, time="placed", before=before, how="inner", contents="content"
    )
    assert found.columns == ["draw", "sym", "placed", "id", "content"]
    by_id = {row.id: [(one.k, one.n, one.x) for one in row.content] for row in found.collect()}
    assert by_id == {
        number: [(row.k, row.n, row.x) for row in held]
        for number, held in answers(window, *rows, before).items()
        if held
    }


def test_several_windows_are_those_of_a_lookup_each(
    rows: Rows, trades: DataFrame, asks: DataFrame
) -> None:
    few, young = keep_rows(2), keep_interval(6)
    several = keep(
        trades,
        {"few": few.policy, "young": young.policy},
        per=["draw", "k"],
        time="ts",
        order_by="n",
    )
    columns = {
        "n_few": ("few", F.count("*")),
        "total_young": ("young", F.sum("x")),
        "every_few": ("few", F.collect_list("n")),
    }
    found = several.lookup(asks, columns, on=ON, time="placed").collect()
    one, other = answers(few, *rows, False), answers(young, *rows, False)
    assert {row.id: tuple(row)[4:] for row in found} == {
        number: (values(held)[0], values(other[number])[1], values(held)[4])
        for number, held in one.items()
    }
    # A row is omitted if all windows are empty.
    inner = several.lookup(asks, columns, on=ON, time="placed", how="inner").collect()
    assert {row.id for row in inner} == {number for number in one if one[number] or other[number]}


def moments(spark: SparkSession, *rows: tuple[Any, ...]) -> DataFrame:
    """Return rows of a key, a second and a value."""
    numbered = [(k, at(second), x) for k, second, x in rows]
    return spark.createDataFrame(numbered, "k string, ts timestamp, x int")


def found(lookup: DataFrame, *columns: str) -> list[Any]:
    return [tuple(row[c] for c in columns) for row in lookup.orderBy("ts", *columns).collect()]


@longer_on_connect
def test_a_row_of_the_same_time_precedes_the_row_that_looks_up(spark: SparkSession) -> None:
    rows = moments(spark, ("a", 1, 1), ("a", 2, 2), ("a", 2, 3), ("a", 3, 4))
    asking = moments(spark, ("a", 2, 0)).drop("x")
    kept = keep(rows, "KEEP ALL", per="k", time="ts")
    assert found(kept.lookup(asking, {"s": F.sum("x")}), "s") == [(6,)]
    assert found(kept.lookup(asking, {"s": F.sum("x")}, before=True), "s") == [(1,)]


@longer_on_connect
def test_a_row_as_old_as_the_interval_has_left(spark: SparkSession) -> None:
    rows = moments(spark, ("a", 1, 1), ("a", 5, 2))
    asking = moments(spark, *(("a", second, 0) for second in (10, 11, 14, 15))).drop("x")
    kept = keep(rows, "KEEP 10 SECONDS", per="k", time="ts")
    columns = {"n": F.count("*"), "s": F.sum("x")}
    expected = [(2, 3), (1, 2), (1, 2), (0, None)]
    assert found(kept.lookup(asking, columns), "n", "s") == expected
    assert found(kept.lookup(asking, columns, before=True), "n", "s") == expected


@longer_on_connect
def test_rows_that_look_up_do_not_see_each_other(spark: SparkSession) -> None:
    rows = moments(spark, ("a", 1, 1), ("a", 3, 2))
    asking = moments(spark, *(("a", second, 0) for second in (2, 2, 4, 4))).drop("x")
    kept = keep(rows, "KEEP 2 ROWS", per="k", time="ts")
    counts = kept.lookup(asking, {"n": F.count("*")})
    assert found(counts, "n") == [(1,), (1,), (2,), (2,)]


@longer_on_connect
def test_null_and_both_zeros_are_keys(spark: SparkSession) -> None:
    rows = spark.createDataFrame(
        [(None, at(1), 1), (0.0, at(1), 2), (-0.0, at(2), 3)], "k double, ts timestamp, x int"
    )
    asking = spark.createDataFrame(
        [(None, at(5)), (-0.0, at(5)), (1.0, at(5))], "k double, ts timestamp"
    )
    kept = keep(rows, "KEEP ALL", per="k", time="ts")
    looked_up = kept.lookup(asking, {"s": F.sum("x"), "n": F.count("*")}).collect()
    assert {(row.k, row.s, row.n) for row in looked_up} == {
        (None, 1, 1),
        (0.0, 5, 2),
        (1.0, None, 0),
    }


def test_without_a_group_all_rows_share_a_window(spark: SparkSession) -> None:
    rows = moments(spark, ("a", 1, 1), ("b", 2, 2))
    asking = moments(spark, ("z", 3, 0)).drop("x")
    looked_up = keep(rows, "KEEP 5 ROWS", time="ts").lookup(asking, {"s": F.sum("x")})
    assert found(looked_up, "k", "s") == [("z", 3)]


def test_updates_and_deletes_are_seen(spark: SparkSession) -> None:
    rows = spark.createDataFrame(
        [(1, "insert", at(1), 1), (1, "update", at(3), 5), (1, "delete", at(5), None)],
        "id int, op string, ts timestamp, x int",
    )
    asking = spark.createDataFrame([(at(s),) for s in (2, 4, 6)], "ts timestamp")
    kept = keep(rows, "KEEP ALL", time="ts", key="id", op="op")
    assert found(kept.lookup(asking, {"s": F.sum("x")}), "s") == [(1,), (5,), (None,)]


@longer_on_connect
def test_windows_of_esper_are_looked_up(spark: SparkSession) -> None:
    rows = moments(spark, ("a", 1, 7), ("a", 2, 9), ("a", 3, 8), ("a", 4, 7))
    asking = moments(spark, ("a", 3, 0), ("a", 4, 0)).drop("x")
    highest = keep(rows, esper("#sort(2, x desc)"), per="k", time="ts")
    columns = {"least": F.min("x"), "most": F.max("x")}
    assert found(highest.lookup(asking, columns), "least", "most") == [(8, 9), (8, 9)]
    unique = keep(rows, esper("#unique(x)"), per="k", time="ts")
    assert found(unique.lookup(asking, {"n": F.count("*")}), "n") == [(3,), (3,)]


@longer_on_connect
def test_a_lookup_equals_columns_of_the_rows_themselves(rows: Rows, trades: DataFrame) -> None:
    several = kept(trades, keep_rows(3))
    # The last row of each time sees what a row that looks up sees.
    last = set({(row.draw, row.k, row.micros): row.n for row in rows[0]}.values())
    own = several.withColumns({"mean": F.avg("x")}).collect()
    expected = {row.n: row.mean for row in own if row.n in last}
    asking = trades.select("draw", "k", "ts", "n")
    looked_up = several.lookup(asking, {"mean": F.avg("x")}).collect()
    assert {row.n: row.mean for row in looked_up if row.n in expected} == expected


def test_rows_without_a_time_are_dropped_on_demand(spark: SparkSession) -> None:
    rows = moments(spark, ("a", 1, 1))
    asking = spark.createDataFrame([("a", None), ("a", at(2))], "k string, ts timestamp")
    dropping = keep(rows, "KEEP ALL", per="k", time="ts", on_null_time="drop")
    assert found(dropping.lookup(asking, {"s": F.sum("x")}), "s") == [(1,)]
    with pytest.raises(Exception, match="WINOPS_NULL_TIME"):
        keep(rows, "KEEP ALL", per="k", time="ts").lookup(asking, {"s": F.sum("x")}).collect()
    untimed = rows.union(spark.sql("SELECT 'a', CAST(NULL AS TIMESTAMP), 7"))
    failing = keep(untimed, "KEEP ALL", per="k", time="ts", late="emit")
    with pytest.raises(Exception, match="WINOPS_NULL_TIME"):
        failing.lookup(asking, {"s": F.sum("x")}).collect()
    emitting = keep(rows, "KEEP ALL", per="k", time="ts", late="emit")
    emitted = emitting.lookup(asking, {"s": F.sum("x")})
    assert emitted.columns == ["k", "ts", "s", "_change_reason"]
    assert {(row.s, row["_change_reason"]) for row in emitted.collect()} == {
        (None, "time missing"),
        (1, None),
    }


def test_more_rows_than_the_array_may_have_fail_the_query(spark: SparkSession) -> None:
    rows = moments(spark, ("a", 1, 1), ("a", 2, 2))
    asking = moments(spark, ("a", 3, 0)).drop("x")
    kept = keep(rows, "KEEP ALL", per="k", time="ts")
    assert kept.lookup(asking, contents="content", max_rows=2).count() == 1
    with pytest.raises(Exception, match=r"WINOPS_CONTENT_SIZE.*lookup\(max_rows=n\)"):
        kept.lookup(asking, contents="content", max_rows=1).collect()


@longer_on_connect
def test_an_empty_table_of_either_side(spark: SparkSession) -> None:
    rows = moments(spark, ("a", 1, 1))
    kept = keep(rows.where("x > 5"), "KEEP ALL", per="k", time="ts")
    asking = rows.drop("x")
    assert found(kept.lookup(asking, {"n": F.count("*")}), "n") == [(0,)]
    assert kept.lookup(asking, {"n": F.count("*")}, how="inner").count() == 0
    none = keep(rows, "KEEP ALL", per="k", time="ts").lookup(
        asking.where("k = 'z'"), {"n": F.count("*")}
    )
    assert none.count() == 0


def test_sql_has_the_same_arguments(spark: SparkSession) -> None:
    moments(spark, ("a", 1, 1), ("a", 2, 2)).createOrReplaceTempView("looked_up_rows")
    moments(spark, ("a", 2, 0)).selectExpr("k AS sym", "ts AS placed").createOrReplaceTempView(
        "looking_up"
    )
    rows = spark.sql(
        "SELECT * FROM keep(TABLE(looked_up_rows) PARTITION BY (k), 'KEEP ALL', time => 'ts', "
        "output => 'lookup', lookup => TABLE(looking_up), "
        "lookup_on => named_struct('k', 'sym'), lookup_time => 'placed', lookup_before => true, "
        "aggregates => TABLE(SELECT sum(x) AS s FROM looked_up_rows))"
    )
    assert [(row.sym, row.s) for row in rows.collect()] == [("a", 1)]
