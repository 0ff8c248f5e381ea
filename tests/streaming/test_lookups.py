"""Lookups and as-of joins over streams have the rows of the same query over tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from random import Random
from typing import Any

import pytest
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from tests.support.lookups import (
    CASES,
    Ask,
    Trade,
    Window,
    answers,
    keep_rows,
    random_rows,
    renumbered,
)
from tests.support.replay import NewReplay, Replay, at
from tests.support.transports import first_cases, longer_on_connect, same_on_connect
from tests.support.versions import SPARK
from winops import Kept, asof_join, esper, keep, read_state, with_history
from winops.testing import assert_same

TRADES = "draw long, k string, ts timestamp, n long, x double"
ASKS = "draw long, k string, ts timestamp, id long"
# More than the time between any two of the random rows, so that none of them is late.
DELAY = ("ts", "1 minute")
NO_DELAY = ("ts", "0 seconds")

Query = Callable[[DataFrame, DataFrame], DataFrame]


def instant(micros: int) -> datetime:
    return at(0) + timedelta(microseconds=micros)


def values_of(row: Trade | Ask) -> tuple[Any, ...]:
    """Return the values of a row with its time as an instant."""
    return tuple(instant(v) if i == 2 else v for i, v in enumerate(row))


# After these the watermark has passed all other rows. They wait themselves.
LAST_TRADE = (-1, "end", at(100_000), -1, None)
LAST_ASK = (-1, "end", at(100_000), -1)


def columns() -> dict[str, Column]:
    # A column needs a session.
    return {
        "rows": F.count("*"),
        "mean": F.avg("x"),
        "spread": F.stddev("x"),
        "newest": F.last("n"),
        "every": F.collect_list("n"),
    }


def kept(trades: DataFrame, policy: Any, **more: Any) -> Kept:
    return keep(trades, policy, per=["draw", "k"], time="ts", order_by="n", **more)


def of(policy: Any, *, keywords: dict[str, Any] | None = None, **arguments: Any) -> Query:
    """Return the query that looks up a window with some arguments of `lookup`."""

    def query(trades: DataFrame, asks: DataFrame) -> DataFrame:
        return kept(trades, policy, **(keywords or {})).lookup(asks, columns(), **arguments)

    return query


def several(trades: DataFrame, asks: DataFrame) -> DataFrame:
    windows = {"few": "KEEP 2 ROWS", "young": "KEEP 6 MILLISECONDS"}
    return kept(trades, windows).lookup(
        asks, {"mean": ("few", F.avg("x")), "rows": ("young", F.count("*"))}
    )


QUERIES: dict[str, Query] = {
    "rows": of("KEEP 3 ROWS", contents="content"),
    "interval": of("KEEP 7 MILLISECONDS", before=True),
    "every": of("KEEP EVERY 3 ROWS", how="inner"),
    "idle": of("KEEP ALL", keywords={"idle": "5 milliseconds"}),
    "sort": of(esper("#sort(2, x desc, n)")),
    "unique": of(esper("#unique(x)")),
    "batch": of(esper("#length_batch(2)")),
    "several": several,
}


def cut(random: Random, rows: Sequence[Any], parts: int) -> list[list[Any]]:
    """Return rows in their order, divided at random."""
    bounds = sorted(random.randrange(len(rows) + 1) for _ in range(parts - 1))
    return [list(rows[a:b]) for a, b in zip([0, *bounds], [*bounds, len(rows)], strict=True)]


def streamed(
    replay: NewReplay,
    random: Random,
    rows: tuple[list[Trade], list[Ask]],
    query: Query,
    in_order: bool = False,
) -> tuple[Replay, Replay]:
    """Run a query over random micro-batches, with restarts, and return its two inputs.

    The trades arrive in a random order unless `in_order`; the asks always do.
    """
    trades, asks = replay(TRADES), replay(ASKS)
    parts = 2 + random.randrange(4)
    some_values = [values_of(row) for row in rows[0]]
    if not in_order:
        random.shuffle(some_values)
    other_values = [values_of(row) for row in rows[1]]
    random.shuffle(other_values)
    batches = list(
        zip(cut(random, some_values, parts), cut(random, other_values, parts), strict=True)
    )
    for number, (some_trades, some_asks) in enumerate([*batches, ([LAST_TRADE], [LAST_ASK])]):
        trades.add(some_trades)
        asks.add(some_asks)
        # Without a restart, the next run has several micro-batches.
        if number == len(batches) or random.randrange(2) == 0:
            trades.run(query(trades.rows(DELAY), asks.rows(DELAY)))
    return trades, asks


def without_last(df: DataFrame) -> DataFrame:
    return df.where("draw >= 0")


@longer_on_connect
@pytest.mark.parametrize(
    ("window", "before"),
    [(keep_rows(3), False), pytest.param(keep_rows(2), True, marks=pytest.mark.longer)],
    ids=["at", "before"],
)
def test_rows_of_one_time_have_the_order_of_their_source(
    replay: NewReplay, window: Window, before: bool
) -> None:
    def query(trades: DataFrame, asks: DataFrame) -> DataFrame:
        ordered = keep(trades, window.policy, per=["draw", "k"], time="ts")
        return ordered.lookup(asks, columns(), before=before)

    random = Random(f"ties {before}")
    in_source, asking = random_rows(random, CASES)
    trades, asks = streamed(
        replay,
        random,
        (renumbered(in_source, len(in_source)), asking),
        lambda trades, asks: query(trades, asks.repartition(2)),
        in_order=True,
    )
    held = answers(window, in_source, asking, before)
    written = without_last(trades.written()).collect()
    assert {row.id: row.every for row in written} == {
        number: [row.n for row in renumbered(rows, len(in_source))]
        for number, rows in held.items()
    }
    labels = asks.table()
    known = labels.select("draw", "id").distinct()
    others = (
        labels,
        labels.distinct(),
        labels.join(known, ["draw", "id"]).select(*labels.columns),
    )
    for other in others:
        assert_same(written, without_last(query(trades.table(), other)))


@longer_on_connect
@pytest.mark.parametrize("name", first_cases(list(QUERIES), 1))
def test_streams_have_the_rows_of_tables(replay: NewReplay, name: str) -> None:
    random = Random(name)
    query = QUERIES[name]
    trades, asks = streamed(replay, random, random_rows(random, CASES), query)
    table = without_last(query(trades.table(), asks.table())).collect()
    assert_same(without_last(trades.written()), table)
    assert len(table) > CASES / 2


def joined(
    how: Any = "left", exact: bool = True, tolerance: Any = None, direction: Any = "backward"
) -> Query:
    def query(trades: DataFrame, asks: DataFrame) -> DataFrame:
        return asof_join(
            asks,
            trades,
            on="ts",
            by=["draw", "k"],
            direction=direction,
            tolerance=tolerance,
            allow_exact_matches=exact,
            how=how,
        )

    return query


JOINS: dict[str, Query] = {
    "nearest": joined(tolerance="2500 microseconds", direction="nearest"),
    "left": joined(),
    "inner": joined(how="inner", exact=False),
    "tolerance": joined(tolerance=timedelta(milliseconds=3)),
    "inner-tolerance": joined(how="inner", tolerance="3 milliseconds"),
    "forward": joined(tolerance="3 milliseconds", direction="forward"),
    "nearest-inner": joined("inner", False, "3 milliseconds", "nearest"),
}


@pytest.mark.parametrize("name", first_cases(list(JOINS), 2))
def test_joins_of_streams_have_the_rows_of_tables(replay: NewReplay, name: str) -> None:
    random = Random(name)
    query = JOINS[name]
    trades, asks = streamed(replay, random, random_rows(random, CASES), query)
    # Of rows of one time, the last in the order of the files matches. The order of the others has
    # no effect.
    table = without_last(query(trades.table(), asks.table().distinct())).collect()
    assert_same(without_last(trades.written()), table)
    assert sum(row.n is not None for row in table) > CASES / 10


@same_on_connect
@pytest.mark.skipif(SPARK < (4, 3), reason="Spark 4.3 has ASOF JOIN")
def test_asof_join_of_sql_has_the_rows_of_tables(replay: NewReplay, spark: SparkSession) -> None:
    def query(trades: DataFrame, asks: DataFrame) -> DataFrame:
        trades.createOrReplaceTempView("asof_trades")
        asks.createOrReplaceTempView("asof_asks")
        return spark.sql(
            "SELECT l.*, r.n, r.x FROM asof_asks AS l LEFT ASOF JOIN asof_trades AS r "
            "MATCH_CONDITION (l.ts >= r.ts) ON l.draw = r.draw AND l.k = r.k"
        )

    random = Random(43)
    rows = random_rows(random, CASES, different_times=True)
    spark.conf.set("spark.sql.join.asofJoin.enabled", "true")
    try:
        trades, asks = streamed(replay, random, rows, query)
        table = query(trades.table(), asks.table())
        assert_same(without_last(trades.written()), without_last(table))
    finally:
        spark.conf.unset("spark.sql.join.asofJoin.enabled")


def trade(second: float, n: int, k: str = "a", x: float | None = 1.0) -> tuple[Any, ...]:
    return (0, k, at(second), n, x)


def ask(second: float | None, number: int, k: str = "a") -> tuple[Any, ...]:
    return (0, k, None if second is None else at(second), number)


def counted(query: Any, metric: str) -> int:
    """Return the sum of a metric over the micro-batches of a query."""
    operators = [progress["stateOperators"][0] for progress in query.recentProgress]
    return sum(
        operator[metric] if metric in operator else operator["customMetrics"].get(metric, 0)
        for operator in operators
    )


@longer_on_connect
@pytest.mark.parametrize("late", first_cases(["drop", "emit"], 1))
def test_late_rows_of_either_side(replay: NewReplay, late: str) -> None:
    trades, asks = replay(TRADES), replay(ASKS)
    query = of("KEEP 3 ROWS", keywords={"late": late})

    def run() -> Any:
        return trades.run(query(trades.rows(NO_DELAY), asks.rows(NO_DELAY)))

    trades.add([trade(1, 1), trade(10, 2)])
    asks.add([ask(2, 1), ask(10, 2)])
    run()
    # The watermark is at 10 seconds: a row of that time is not late.
    trades.add([trade(9, 3), trade(10, 4), trade(30, 5)])
    asks.add([ask(9, 3), ask(10, 4), ask(30, 5)])
    last = run()
    assert counted(last, "numRowsDroppedByWatermark") == 2
    written = {row.id: row for row in trades.written().collect()}
    every = {number: row.every for number, row in written.items()}
    assert {number: every[number] for number in (1, 2, 4)} == {1: [1], 2: [1, 2, 4], 4: [1, 2, 4]}
    if late == "drop":
        assert set(every) == {1, 2, 4}
    else:
        assert set(every) == {1, 2, 3, 4}
        assert tuple(written[3])[4:] == (None,) * 5 + ("late",)
        assert {written[number]["_change_reason"] for number in (1, 2, 4)} == {None}


@pytest.mark.parametrize("late", first_cases(["emit", "drop"], 1))
def test_late_rows_of_either_side_of_a_join(replay: NewReplay, late: Any) -> None:
    trades, asks = replay(TRADES), replay(ASKS)

    def run() -> Any:
        left, right = asks.rows(NO_DELAY), trades.rows(NO_DELAY)
        return trades.run(asof_join(left, right, on="ts", by=["draw", "k"], late=late))

    trades.add([trade(1, 1), trade(10, 2)])
    asks.add([ask(2, 1), ask(10, 2)])
    run()
    # The watermark is at 10 seconds: a row of that time is not late.
    trades.add([trade(9, 3), trade(10, 4), trade(30, 5)])
    asks.add([ask(9, 3), ask(10, 4), ask(30, 5)])
    assert counted(run(), "numRowsDroppedByWatermark") == 2
    written = {row.id: row for row in trades.written().collect()}
    found = {number: row.n for number, row in written.items()}
    if late == "drop":
        assert found == {1: 1, 2: 4, 4: 4}
    else:
        assert found == {1: 1, 2: 4, 3: None, 4: 4}
        reasons = {number: row["_change_reason"] for number, row in written.items()}
        assert reasons == {1: None, 2: None, 3: "late", 4: None}


@pytest.mark.parametrize("late", first_cases(["drop", "emit"], 1))
def test_rows_beyond_the_limit_fail_the_query(replay: NewReplay, late: str) -> None:
    trades, asks = replay(TRADES), replay(ASKS)
    query = of("KEEP ALL", keywords={"late": late, "max_rows": 2})
    trades.add([trade(1, 1), trade(2, 2), trade(3, 3)])
    asks.add([ask(4, 1)])
    with pytest.raises(Exception, match="WINOPS_MAX_ROWS"):
        trades.run(query(trades.rows(DELAY), asks.rows(DELAY)))


@pytest.mark.longer
def test_a_silent_side_holds_the_other_one_back(replay: NewReplay) -> None:
    trades, asks = replay(TRADES), replay(ASKS)
    query = of("KEEP 3 ROWS")

    def answered() -> set[int]:
        trades.run(query(trades.rows(NO_DELAY), asks.rows(NO_DELAY)))
        return {row.id for row in trades.written().collect()}

    trades.add([trade(1, 1), trade(2, 2)])
    asks.add([ask(1.5, 1), ask(3, 2)])
    assert answered() == {1}
    trades.add([trade(50, 3)])
    asks.add([])
    # The watermark is the least of both, and the rows that look up have not moved theirs.
    assert answered() == {1}
    trades.add([trade(55, 4)])
    asks.add([ask(60, 3)])
    assert answered() == {1, 2}
    assert {row.id: row.every for row in trades.written().collect()} == {1: [1], 2: [1, 2]}


def test_rows_that_look_up_are_stored_while_they_wait(
    replay: NewReplay, spark: SparkSession
) -> None:
    trades, asks = replay(TRADES), replay(ASKS)
    trades.add([trade(1, 1), trade(5, 2)])
    asks.add([ask(2, 1), ask(9, 2)])
    query = of("KEEP 3 ROWS")
    last = trades.run(query(trades.rows(NO_DELAY), asks.rows(NO_DELAY)))
    state = last.recentProgress[-1]["stateOperators"][0]["customMetrics"]
    # The watermark is at 5 seconds. Row 2 of each side waits, and is counted in both metrics.
    assert (state["rowsHeld"], state["rowsWaiting"]) == (3, 2)
    rows = read_state(spark, trades.checkpoint)
    assert rows.columns[-1] == "_lookup"
    seconds = [F.unix_seconds(time) for time in ("ts", "_lookup.ts")]
    columns = ["_waits", "_group.k", "n", "x", *seconds, "_lookup.id"]
    shown = [tuple(row) for row in rows.select(*columns).collect()]
    assert set(shown) == {
        (False, "a", 1, 1.0, 1, None, None),
        (True, "a", 2, 1.0, 5, None, None),
        (True, "a", None, None, 9, 9, 2),
    }
    assert len(shown) == 3


@longer_on_connect
def test_rows_without_a_time_are_dropped_on_demand(replay: NewReplay) -> None:
    trades, asks = replay(TRADES), replay(ASKS)
    trades.add([trade(1, 1), LAST_TRADE])
    asks.add([ask(None, 1), ask(2, 2), LAST_ASK])
    query = of("KEEP 3 ROWS", keywords={"on_null_time": "drop"})
    last = trades.run(query(trades.rows(NO_DELAY), asks.rows(NO_DELAY)))
    assert counted(last, "rowsNullTime") == 1
    assert [(row.id, row.every) for row in trades.written().collect()] == [(2, [1])]


@longer_on_connect
@pytest.mark.parametrize("before", first_cases([True, False], 1), ids=["before", "at"])
def test_rows_read_the_windows_as_they_arrive(replay: NewReplay, before: bool) -> None:
    trades, asks = replay(TRADES), replay(ASKS)

    def query() -> DataFrame:
        kept = keep(trades.rows(), "KEEP 2 ROWS", per=["draw", "k"], order_by="n")
        return kept.lookup(asks.rows(), columns(), before=before)

    for number in range(3):
        trades.add([trade(9 - number, number)])
        asks.add([ask(number, number)])
        trades.run(query())
    found = {row.id: row.every for row in trades.written().collect()}
    if before:
        assert found == {0: [], 1: [0], 2: [0, 1]}
    else:
        assert found == {0: [0], 1: [0, 1], 2: [1, 2]}


def test_windows_that_start_with_a_table_are_looked_up(
    replay: NewReplay, spark: SparkSession
) -> None:
    past, trades, asks = replay(TRADES), replay(TRADES), replay(ASKS)
    past.add([trade(1, 1), trade(2, 2)])
    trades.add([trade(5, 3), LAST_TRADE])
    asks.add([ask(4, 1), ask(6, 2), LAST_ASK])
    rows = with_history(trades.rows(NO_DELAY), past.table())
    trades.run(of("KEEP 2 ROWS")(rows, asks.rows(NO_DELAY)))
    found = {row.id: row.every for row in trades.written().collect()}
    assert found == {1: [1, 2], 2: [2, 3]}


@longer_on_connect
def test_a_table_moves_the_watermark_of_the_rows_that_look_up(replay: NewReplay) -> None:
    past, trades, asks = replay(TRADES), replay(TRADES), replay(ASKS)
    past.add([trade(1, 1), trade(30, 2)])
    trades.add([trade(35, 3), LAST_TRADE])
    asks.add([ask(4, 1), ask(31, 2), LAST_ASK])
    rows = with_history(trades.rows(NO_DELAY), past.table())
    last = trades.run(of("KEEP 2 ROWS")(rows, asks.rows(NO_DELAY)))
    assert {row.id: row.every for row in trades.written().collect()} == {2: [1, 2]}
    assert counted(last, "numRowsDroppedByWatermark") == 1


@longer_on_connect
def test_rows_join_a_stream_that_starts_with_a_table(replay: NewReplay) -> None:
    past, trades, asks = replay(TRADES), replay(TRADES), replay(ASKS)
    past.add([trade(1, 1), trade(2, 2)])
    trades.add([trade(5, 3), LAST_TRADE])
    asks.add([ask(4, 1), ask(6, 2), LAST_ASK])
    rows = with_history(trades.rows(NO_DELAY), past.table())
    trades.run(joined()(rows, asks.rows(NO_DELAY)))
    assert {row.id: row.n for row in trades.written().collect()} == {1: 2, 2: 3}


def test_a_stream_looks_up_windows_of_its_own_rows(replay: NewReplay) -> None:
    trades = replay(TRADES)
    trades.add([trade(1, 1), trade(2, 2), trade(3, 3)], [LAST_TRADE])

    def query(rows: DataFrame) -> DataFrame:
        return kept(rows, "KEEP 2 ROWS").lookup(rows.drop("x"), {"mean": F.avg("x")}, before=True)

    trades.run(query(trades.rows(NO_DELAY)))
    assert_same(without_last(trades.written()), without_last(query(trades.table())))


@longer_on_connect
def test_an_aggregation_may_follow(replay: NewReplay) -> None:
    trades, asks = replay(TRADES), replay(ASKS)
    trades.add([trade(1, 1), trade(2, 2), LAST_TRADE])
    asks.add([ask(3, 1), ask(4, 2), ask(70, 3), LAST_ASK])
    rows = of("KEEP ALL")(trades.rows(NO_DELAY), asks.rows(NO_DELAY))
    counts = rows.groupBy(F.window("ts", "1 minute")).agg(F.sum("rows").alias("total"))
    trades.run(counts.select(F.col("window.start").alias("start"), "total"))
    assert sorted(row.total for row in trades.written().collect()) == [2, 4]
