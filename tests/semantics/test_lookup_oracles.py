"""Lookups beside DuckDB, and as-of joins beside a list, DuckDB's ASOF JOIN and `merge_asof`."""

from __future__ import annotations

from datetime import timedelta
from random import Random
from typing import Any

import duckdb
import pandas as pd
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tests.support.lookups import (
    ASKS,
    CASES,
    JOINS,
    ON,
    TRADES,
    Ask,
    Join,
    Trade,
    asks_of,
    matches,
    random_rows,
    trades_of,
)
from tests.support.replay import at
from tests.support.transports import first_cases, interpreted, longer_on_connect
from winops import asof_join, keep

Rows = tuple[list[Trade], list[Ask]]


@pytest.fixture(scope="module")
def rows() -> Rows:
    return random_rows(Random(7), CASES)


@pytest.fixture(scope="module")
def trades(spark: SparkSession, rows: Rows) -> DataFrame:
    return trades_of(spark, rows[0])


@pytest.fixture(scope="module")
def asks(spark: SparkSession, rows: Rows) -> DataFrame:
    return asks_of(spark, rows[1])


def frame(rows: list[Any], schema: str) -> pd.DataFrame:
    """Return rows as a frame whose numbers stay numbers, with NULL where a row has none."""
    names = [column.split()[0] for column in schema.split(", ")]
    found = pd.DataFrame(rows, columns=names)
    return found.astype({name: object for name in ("k", "sym") if name in names})


def in_duckdb(rows: Rows, query: str) -> list[tuple[Any, ...]]:
    """Run a query over the tables `trades` and `asks`."""
    with duckdb.connect() as db:
        db.register("given_trades", frame(rows[0], TRADES))
        db.register("given_asks", frame(rows[1], ASKS))
        # A frame has NaN for a missing number.
        db.execute(
            "CREATE TABLE trades AS SELECT * REPLACE (if(isnan(x), NULL, x) AS x)"
            " FROM given_trades"
        )
        db.execute("CREATE TABLE asks AS SELECT * FROM given_asks")
        return db.execute(query).fetchall()


# The rows that each window holds, of those up to the time of the row.
WINDOWS = {
    "KEEP ALL": "true",
    "KEEP 7 MILLISECONDS": "a.micros // 1000 - t.micros // 1000 < 7",
    "KEEP EVERY 5 MILLISECONDS": "t.micros // 1000 // 5 = a.micros // 1000 // 5",
    "KEEP 3 ROWS": "place <= 3",
}

LOOKUP = """
WITH known AS (
  SELECT a.id, t.*,
    row_number() OVER (PARTITION BY a.id ORDER BY t.micros DESC, t.n DESC) AS place
  FROM asks AS a JOIN trades AS t
    ON a.draw = t.draw AND a.sym IS NOT DISTINCT FROM t.k AND t.micros {compared} a.micros
)
SELECT a.id, count(t.n), sum(t.x), avg(t.x), max(t.x),
  coalesce(list(t.n ORDER BY t.micros, t.n) FILTER (WHERE t.n IS NOT NULL), [])
FROM asks AS a LEFT JOIN known AS t ON t.id = a.id AND {held}
GROUP BY a.id
"""


@interpreted
@longer_on_connect
@pytest.mark.parametrize("before", [False, True], ids=["at", "before"])
@pytest.mark.parametrize("policy", WINDOWS)
def test_a_lookup_has_what_a_join_and_an_aggregation_have(
    rows: Rows, trades: DataFrame, asks: DataFrame, policy: str, before: bool
) -> None:
    compared = "<" if before else "<="
    expected = in_duckdb(rows, LOOKUP.format(compared=compared, held=WINDOWS[policy]))
    kept = keep(trades, policy, per=["draw", "k"], time="ts", order_by="n")
    columns = {
        "rows": F.count("*"),
        "total": F.sum("x"),
        "mean": F.avg("x"),
        "most": F.max("x"),
        "every": F.collect_list("n"),
    }
    found = kept.lookup(asks, columns, on=ON, time="placed", before=before)
    by_id = {row.id: tuple(row)[4:] for row in found.collect()}
    assert by_id == {number: tuple(values) for number, *values in expected}
    assert len(by_id) == len(rows[1])


NOTHING = (None,) * 5


def shown(match: Any) -> tuple[Any, ...]:
    """Return the columns of a match, NULL if there is none."""
    return NOTHING if match is None else tuple(match)


def joined(
    trades: DataFrame, asks: DataFrame, join: Join, how: Any = "left"
) -> dict[int, tuple[Any, ...]]:
    """Return the columns of the match of each row, by the row's `id`."""
    tolerance = None if join.tolerance is None else timedelta(microseconds=join.tolerance)
    found = asof_join(
        asks,
        trades.withColumnRenamed("draw", "drawn"),
        left_on="placed",
        right_on="ts",
        left_by=["draw", "sym"],
        right_by=["drawn", "k"],
        direction=join.direction,  # type: ignore[arg-type]
        tolerance=tolerance,
        allow_exact_matches=join.exact,
        how=how,
    )
    assert found.columns == ["draw", "sym", "placed", "id", "drawn", "k", "ts", "n", "x"]
    collected = found.withColumn("micros", F.unix_micros("ts")).collect()
    by_id = {row.id: shown((row.drawn, row.k, row.micros, row.n, row.x)) for row in collected}
    assert len(by_id) == len(collected)
    return by_id


def named(join: Join) -> str:
    return f"{join.direction}-{'exact' if join.exact else 'other'}-{join.tolerance}"


def is_longer(join: Join) -> bool:
    if join.direction == "nearest":
        return not join.exact and join.tolerance is not None
    # DuckDB, below, joins without exact matches.
    return not join.exact or join.tolerance == 0


@interpreted
@longer_on_connect
@pytest.mark.parametrize(
    "join",
    [pytest.param(join, marks=[pytest.mark.longer] if is_longer(join) else []) for join in JOINS],
    ids=named,
)
def test_a_join_has_the_match_of_a_list(
    rows: Rows, trades: DataFrame, asks: DataFrame, join: Join
) -> None:
    expected = {number: shown(found) for number, found in matches(join, *rows).items()}
    assert joined(trades, asks, join) == expected
    # The order of the left side has no effect.
    assert joined(trades, asks.distinct(), join) == expected
    inner = {number: found for number, found in expected.items() if found[0] is not None}
    assert joined(trades, asks, join, "inner") == inner
    assert len(inner) < len(expected)


COMPARED = {
    Join("backward"): ">=",
    Join("backward", exact=False): ">",
    Join("forward"): "<=",
    Join("forward", exact=False): "<",
}

# DuckDB does not say which of several rows of one time matches, and joins NULL with NULL if there
# are many rows.
ASOF = """
WITH newest AS (
  SELECT * FROM trades WHERE k IS NOT NULL
  QUALIFY row_number() OVER (PARTITION BY draw, k, micros ORDER BY n DESC) = 1
)
SELECT a.id, t.draw, t.k, t.micros, t.n, t.x
FROM asks AS a ASOF LEFT JOIN newest AS t
  ON a.draw = t.draw AND a.sym = t.k AND a.micros {compared} t.micros
"""


@pytest.mark.parametrize("join", COMPARED, ids=named)
def test_a_join_has_the_match_of_duckdb(
    rows: Rows, trades: DataFrame, asks: DataFrame, join: Join
) -> None:
    expected = in_duckdb(rows, ASOF.format(compared=COMPARED[join]))
    assert joined(trades, asks, join) == {number: tuple(found) for number, *found in expected}


@pytest.mark.parametrize("join", JOINS, ids=named)
def test_the_list_has_the_match_of_pandas(rows: Rows, join: Join) -> None:
    # pandas takes the first of several later rows of one time, and joins NULL with NULL.
    newest = {(row.draw, row.k, row.micros): row for row in rows[0] if row.k is not None}
    right = frame(list(newest.values()), TRADES).rename(columns={"micros": "at"})
    left = frame([row for row in rows[1] if row.sym is not None], ASKS)
    merged = pd.merge_asof(
        left.sort_values("micros", kind="stable"),
        right.sort_values("at", kind="stable"),
        left_on="micros",
        right_on="at",
        left_by=["draw", "sym"],
        right_by=["draw", "k"],
        direction=join.direction,  # type: ignore[call-overload]
        tolerance=join.tolerance,
        allow_exact_matches=join.exact,
    )
    found = {
        int(number): None if pd.isna(n) else int(n)
        for number, n in zip(merged["id"], merged["n"], strict=True)
    }
    known = {row.id for row in rows[1] if row.sym is not None}
    expected = {
        number: None if match is None else match.n
        for number, match in matches(join, *rows).items()
    }
    assert found == {number: n for number, n in expected.items() if number in known}
    assert all(n is None for number, n in expected.items() if number not in known)


def moments(spark: SparkSession, *rows: tuple[Any, ...]) -> DataFrame:
    """Return rows of a key, a second and a number."""
    numbered = [(k, at(second), n) for k, second, n in rows]
    return spark.createDataFrame(numbered, "k string, ts timestamp, n int")


@interpreted
def test_columns_that_both_sides_name_are_there_once(spark: SparkSession) -> None:
    left = moments(spark, ("a", 3, 1), ("b", 3, 2))
    right = moments(spark, ("a", 1, 5), ("a", 2, 6))
    found = asof_join(left, right, on="ts", by="k")
    assert found.columns == ["k", "ts", "n_x", "n_y"]
    assert [tuple(row) for row in found.orderBy("k").select("k", "n_x", "n_y").collect()] == [
        ("a", 1, 6),
        ("b", 2, None),
    ]


@interpreted
def test_without_keys_every_row_may_match(spark: SparkSession) -> None:
    left = moments(spark, ("a", 3, 1))
    right = moments(spark, ("b", 1, 5), (None, 2, 6)).withColumnRenamed("k", "other")
    assert [row.n_y for row in asof_join(left, right, on="ts").collect()] == [6]


@interpreted
def test_a_table_joins_itself(spark: SparkSession) -> None:
    rows = moments(spark, ("a", 1, 1), ("a", 2, 2), ("b", 3, 3), ("a", 4, 4))
    found = asof_join(rows, rows, on="ts", by="k", allow_exact_matches=False)
    assert {row.n_x: row.n_y for row in found.collect()} == {1: None, 2: 1, 3: None, 4: 2}


@interpreted
def test_rows_of_the_right_side_without_a_time_match_nothing(spark: SparkSession) -> None:
    left = moments(spark, ("a", 3, 1))
    right = spark.createDataFrame(
        [("a", None, 5), ("a", at(1), 6)], "k string, ts timestamp, n int"
    )
    assert [row.n_y for row in asof_join(left, right, on="ts", by="k").collect()] == [6]


@interpreted
@pytest.mark.parametrize(
    "direction", first_cases(["nearest", "backward", "forward"], on_connect=1)
)
def test_rows_of_the_left_side_without_a_time_match_nothing(
    spark: SparkSession, direction: Any
) -> None:
    left = spark.createDataFrame(
        [("a", None, 5), ("a", at(3), 6)], "k string, ts timestamp, n int"
    )
    right = moments(spark, ("a", 3, 1))
    found = asof_join(left, right, on="ts", by="k", direction=direction)
    assert {row.n_x: row.n_y for row in found.collect()} == {5: None, 6: 1}
    inner = asof_join(left, right, on="ts", by="k", direction=direction, how="inner")
    assert {row.n_x: row.n_y for row in inner.collect()} == {6: 1}
    reasons = asof_join(left, right, on="ts", by="k", direction=direction, late="emit")
    assert {row.n_x: row["_change_reason"] for row in reasons.collect()} == {
        5: "time missing",
        6: None,
    }


@interpreted
def test_a_side_of_a_with_clause_has_the_order_of_its_source(spark: SparkSession) -> None:
    moments(spark, ("a", 3, 1)).createOrReplaceTempView("asof_left")
    moments(spark, ("a", 1, 9), ("a", 1, 4)).createOrReplaceTempView("asof_right")
    rows = spark.sql(
        "WITH quotes AS (SELECT * FROM asof_right) "
        "SELECT * FROM asof_join(TABLE(asof_left), TABLE(quotes), on => 'ts', by => 'k')"
    )
    assert [row.n_y for row in rows.collect()] == [4]


@interpreted
def test_sql_has_the_same_arguments(spark: SparkSession) -> None:
    moments(spark, ("a", 3, 1), ("a", 9, 2)).createOrReplaceTempView("asof_left")
    moments(spark, ("a", 1, 5)).createOrReplaceTempView("asof_right")
    rows = spark.sql(
        "SELECT * FROM asof_join(TABLE(asof_left), TABLE(asof_right), on => 'ts', by => 'k', "
        "tolerance => INTERVAL 5 SECONDS, suffixes => ARRAY('', '_found'))"
    )
    assert {(row.n, row.n_found) for row in rows.collect()} == {(1, 5), (2, None)}
