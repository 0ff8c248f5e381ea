"""Arguments of `lookup` and `asof_join`: the errors of Python, and those of Spark's analysis."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from pyspark.errors import (
    AnalysisException,
    PySparkException,
    PySparkTypeError,
    PySparkValueError,
)
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from tests.support.replay import NewReplay, at
from winops import Kept, asof_join, keep, spl
from winops._arguments import pairs, tolerance

TRADES = "seq long, symbol string, price double, ts timestamp"
ORDERS = "id long, symbol string, ts timestamp"


@pytest.fixture(scope="module")
def trades(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame([(1, "A", 5.0, at(1)), (2, "A", 7.0, at(2))], TRADES)


@pytest.fixture(scope="module")
def orders(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame([(1, "A", at(2)), (2, "B", at(3))], ORDERS)


def kept(trades: DataFrame, **more: Any) -> Kept:
    return keep(trades, "KEEP 2 ROWS", per="symbol", time="ts", order_by="seq", **more)


def mean() -> dict[str, Column]:
    # A column needs a session.
    return {"mean": F.avg("price")}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, {}),
        ("k", {"k": "k"}),
        (["k", "l"], {"k": "k", "l": "l"}),
        ({"k": "m"}, {"k": "m"}),
    ],
)
def test_columns_of_two_inputs_are_names_or_pairs(value: Any, expected: dict[str, str]) -> None:
    assert pairs("on", value) == expected


def test_a_tolerance_may_be_zero() -> None:
    assert tolerance("tolerance", timedelta(0)) == "0 seconds"
    assert tolerance("tolerance", timedelta(milliseconds=1500)) == "1 seconds 500000 microseconds"
    assert tolerance("tolerance", "2 minutes") == "2 minutes"
    assert tolerance("tolerance", timedelta(days=2)) == "2 days"
    with pytest.raises(PySparkValueError, match="zero or more"):
        tolerance("tolerance", timedelta(seconds=-1))


@pytest.mark.parametrize(
    ("arguments", "error", "said"),
    [
        ({"columns": []}, PySparkTypeError, "dict of names and columns"),
        ({"columns": {}}, PySparkValueError, "none is given"),
        ({"columns": {"mean": "price"}}, PySparkTypeError, 'F.avg("price")'),
        ({"on": 5}, PySparkTypeError, "on="),
        ({"on": {}}, PySparkValueError, "empty dict"),
        ({"on": []}, PySparkValueError, "empty list"),
        ({"on": {"symbol": 5}}, PySparkTypeError, "dict of names"),
        ({"time": 5}, PySparkTypeError, "time="),
        ({"before": "yes"}, PySparkTypeError, "before="),
        ({"how": "outer"}, PySparkValueError, '"left" or "inner"'),
        ({"contents": True}, PySparkTypeError, "contents="),
        ({"contents": "rows", "max_rows": 0}, PySparkValueError, "max_rows="),
    ],
)
def test_wrong_arguments_of_a_lookup_fail_at_the_call(
    trades: DataFrame,
    orders: DataFrame,
    arguments: dict[str, Any],
    error: type[PySparkException],
    said: str,
) -> None:
    with pytest.raises(error) as caught:
        kept(trades).lookup(orders, **{"columns": mean(), **arguments})
    assert caught.value.getCondition() == "WINOPS_ARGUMENT"
    assert said in str(caught.value)


@pytest.mark.parametrize("contents", [None, "rows"])
def test_columns_of_a_lookup_have_names(
    trades: DataFrame, orders: DataFrame, contents: str | None
) -> None:
    given: list[tuple[Any, str]] = [
        (F.avg("price"), "Column"),
        ([F.avg("price")], "list with Column"),
        ("price", "str"),
    ]
    for columns, said in given:
        with pytest.raises(PySparkTypeError) as caught:
            kept(trades).lookup(orders, columns, contents=contents)
        assert caught.value.getCondition() == "WINOPS_ARGUMENT"
        assert f'lookup takes a dict of names and columns, not {said}. Write {{"mean": ' in str(
            caught.value
        )


def test_rows_that_look_up_are_a_dataframe(trades: DataFrame) -> None:
    with pytest.raises(PySparkTypeError, match="lookup takes a DataFrame, not Kept"):
        kept(trades).lookup(kept(trades), mean())  # type: ignore[arg-type]
    pandas = type("DataFrame", (), {"__module__": "pandas.core.frame"})()
    with pytest.raises(PySparkTypeError, match=r"a PySpark DataFrame, not a pandas DataFrame"):
        kept(trades).lookup(pandas, mean())


@pytest.mark.parametrize("inputs", ["row of the windows", "row that looks up"])
def test_values_of_a_lookup_are_aggregates_of_the_windows(
    trades: DataFrame, orders: DataFrame, inputs: str
) -> None:
    column = F.col("price") if inputs == "row of the windows" else F.last("id")
    with pytest.raises(
        PySparkValueError, match=r'aggregates, such as F.last\("price"\)'
    ) as caught:
        kept(trades).lookup(orders, {"mean": column})
    assert caught.value.getCondition() == "WINOPS_ARGUMENT"


def test_several_windows_need_the_window_of_each_column(
    trades: DataFrame, orders: DataFrame
) -> None:
    several = keep(trades, {"few": "KEEP 1 ROW", "all": "KEEP ALL"}, per="symbol", time="ts")
    with pytest.raises(PySparkTypeError, match=r'pairs such as \("few", column\)'):
        several.lookup(orders, mean())
    with pytest.raises(PySparkValueError, match="\"few\" or \"all\", and 'mean' has 'many'"):
        several.lookup(orders, {"mean": ("many", F.avg("price"))})
    with pytest.raises(PySparkValueError, match="contents= supports one window"):
        several.lookup(orders, contents="rows")


def renamed(orders: DataFrame) -> DataFrame:
    return orders.withColumnRenamed("symbol", "sym")


@pytest.mark.parametrize(
    ("call", "condition", "said"),
    [
        (
            lambda trades, orders: kept(trades).lookup(renamed(orders), mean()),
            "WINOPS_LOOKUP",
            "no column symbol",
        ),
        (
            lambda trades, orders: kept(trades).lookup(orders, mean(), on={"price": "id"}),
            "WINOPS_ARGUMENT.VALUE",
            "the columns of the group key: symbol",
        ),
        (
            lambda trades, orders: kept(trades).lookup(renamed(orders), mean(), on="sym"),
            "WINOPS_ARGUMENT.VALUE",
            'write on={"symbol": "sym"}, in SQL lookup_on => named_struct(',
        ),
        (
            lambda trades, orders: kept(trades).lookup(orders, mean(), contents="mean"),
            "WINOPS_ARGUMENT.VALUE",
            "mean is the name of one",
        ),
        (
            lambda trades, orders: kept(trades).lookup(orders, mean(), on={"symbol": "sym"}),
            "WINOPS_LOOKUP",
            "no column sym",
        ),
        (
            lambda trades, orders: kept(trades).lookup(orders, mean(), time="placed"),
            "WINOPS_LOOKUP",
            "no time column placed",
        ),
        (
            lambda trades, orders: kept(trades).lookup(orders, mean(), time="id"),
            "WINOPS_LOOKUP",
            "has the type BIGINT",
        ),
        (
            lambda trades, orders: keep(trades.drop("ts"), rows=2, order_by="seq").lookup(
                orders, mean()
            ),
            "WINOPS_LOOKUP",
            "time => 'column'",
        ),
        (
            lambda trades, orders: kept(trades, apply="arrival").lookup(orders, mean()),
            "WINOPS_LOOKUP",
            "time => 'column'",
        ),
        (
            lambda trades, orders: keep(
                trades,
                spl("sliding, count(2), partitioned, partitionCount(2)"),
                per="symbol",
                time="ts",
            ).lookup(orders, mean()),
            "WINOPS_LOOKUP",
            "depend on each other",
        ),
        (
            lambda trades, orders: kept(trades).lookup(orders, {"id": F.count("*")}),
            "WINOPS_COLUMN_CONFLICT",
            "id",
        ),
        (
            lambda trades, orders: kept(trades).lookup(orders, contents="symbol"),
            "WINOPS_COLUMN_CONFLICT",
            "symbol",
        ),
    ],
)
def test_lookups_that_have_no_answer_are_refused(
    trades: DataFrame,
    orders: DataFrame,
    call: Callable[[DataFrame, DataFrame], DataFrame],
    condition: str,
    said: str,
) -> None:
    with pytest.raises(AnalysisException) as caught:
        assert call(trades, orders).schema
    assert caught.value.getCondition() == condition
    assert said in str(caught.value)


def test_a_key_whose_values_the_windows_lack_is_refused(
    trades: DataFrame, orders: DataFrame
) -> None:
    by_number = keep(trades, rows=2, per="seq", time="ts")
    # An integer is a long, but not the other way round.
    narrow = orders.selectExpr("CAST(id AS INT) AS seq", "ts")
    assert by_number.lookup(narrow, mean()).columns == ["seq", "ts", "mean"]
    with pytest.raises(AnalysisException, match="not every value") as caught:
        assert by_number.lookup(orders.selectExpr("id / 2 AS seq", "ts"), mean()).schema
    assert caught.value.getCondition() == "WINOPS_LOOKUP"


def test_a_stream_and_a_table_are_refused(
    replay: NewReplay, trades: DataFrame, orders: DataFrame
) -> None:
    stream, other = replay(TRADES), replay(ORDERS)
    stream.add([(1, "A", 5.0, at(1))])
    other.add([(1, "A", at(1))])
    rows, asking = stream.rows(("ts", "1 second")), other.rows(("ts", "1 second"))
    refused: list[tuple[str, Callable[[], DataFrame]]] = [
        ("a table looks up the windows of a stream", lambda: kept(rows).lookup(orders, mean())),
        ("a stream looks up the windows of a table", lambda: kept(trades).lookup(asking, mean())),
    ]
    for said, call in refused:
        with pytest.raises(AnalysisException, match=said) as caught:
            assert call().schema
        assert caught.value.getCondition() == "WINOPS_LOOKUP"
    with pytest.raises(AnalysisException) as caught:
        assert kept(rows).lookup(other.rows(), mean()).schema
    assert caught.value.getCondition() == "WINOPS_WATERMARK_REQUIRED"


@pytest.mark.parametrize(
    ("arguments", "error", "said"),
    [
        ({}, PySparkValueError, "on= is missing"),
        ({"on": 5}, PySparkTypeError, "on="),
        ({"on": ["ts"]}, PySparkTypeError, "on= takes the name of one column, not list."),
        ({"on": "ts", "left_on": "ts"}, PySparkValueError, "Give on=, or the other two"),
        ({"left_on": "ts"}, PySparkValueError, "right_on= is missing"),
        ({"right_on": "ts"}, PySparkValueError, "left_on= is missing"),
        ({"on": "ts", "by": "symbol", "left_by": "symbol"}, PySparkValueError, "Give by="),
        ({"on": "ts", "left_by": "symbol"}, PySparkValueError, "right_by= is missing"),
        (
            {"on": "ts", "left_by": ["symbol"], "right_by": ["symbol", "seq"]},
            PySparkValueError,
            "not 1 and 2",
        ),
        ({"on": "ts", "by": []}, PySparkValueError, "empty list"),
        ({"on": "ts", "direction": "sideways"}, PySparkValueError, '"nearest"'),
        ({"on": "ts", "tolerance": 5}, PySparkTypeError, 'such as "5 seconds"'),
        ({"on": "ts", "tolerance": timedelta(-1)}, PySparkValueError, "zero or more"),
        ({"on": "ts", "allow_exact_matches": 1}, PySparkTypeError, "True or False"),
        ({"on": "ts", "how": "outer"}, PySparkValueError, '"left" or "inner"'),
        ({"on": "ts", "suffixes": "_x"}, PySparkTypeError, "suffixes="),
        ({"on": "ts", "suffixes": ("_x", 5)}, PySparkTypeError, "suffixes="),
        ({"on": "ts", "idle": 5}, PySparkTypeError, "idle="),
        ({"on": "ts", "max_rows": 0}, PySparkValueError, "max_rows="),
        ({"on": "ts", "at_end": "stop"}, PySparkValueError, '"wait" or "flush"'),
        ({"on": "ts", "late": True}, PySparkValueError, "late="),
        ({"on": "ts", "sort": True}, PySparkTypeError, "no argument sort="),
    ],
)
def test_wrong_arguments_of_a_join_fail_at_the_call(
    trades: DataFrame,
    orders: DataFrame,
    arguments: dict[str, Any],
    error: type[PySparkException],
    said: str,
) -> None:
    with pytest.raises(error) as caught:
        asof_join(orders, trades, **arguments)
    assert caught.value.getCondition() == "WINOPS_ARGUMENT"
    assert said in str(caught.value)


def test_both_sides_of_a_join_are_dataframes(trades: DataFrame) -> None:
    with pytest.raises(PySparkTypeError, match="right= takes a DataFrame, not str"):
        asof_join(trades, "quotes", on="ts")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("arguments", "condition", "said"),
    [
        ({"on": "when"}, "WINOPS_UNKNOWN_COLUMN", "left side of the as-of join has no column"),
        (
            {"on": "ts", "by": "price"},
            "WINOPS_UNKNOWN_COLUMN",
            "name a column of each side with left_by and right_by",
        ),
        (
            {"left_on": "id", "right_on": "seq"},
            "WINOPS_TIME_TYPE",
            "id of the left side of the as-of join is of type BIGINT",
        ),
        ({"on": "ts", "tolerance": "soon"}, "WINOPS_ARGUMENT.VALUE", "and not 'soon'"),
        ({"on": "ts", "tolerance": "1 month"}, "WINOPS_ARGUMENT.VALUE", "and not '1 month'"),
        ({"on": "ts", "tolerance": "-1 second"}, "WINOPS_ARGUMENT.VALUE", "zero or more"),
        (
            {"on": "ts", "idle": "1 day", "direction": "forward"},
            "WINOPS_ARGUMENT.UNKNOWN",
            "idle",
        ),
        (
            {"on": "ts", "left_by": "id", "right_by": "price"},
            "WINOPS_ASOF_JOIN",
            "id of the left side has the type BIGINT",
        ),
        (
            {"on": "ts", "left_by": "id", "right_by": "symbol"},
            "WINOPS_ASOF_JOIN",
            "as in CAST(id AS STRING)",
        ),
    ],
)
def test_joins_of_columns_that_do_not_fit_are_refused(
    trades: DataFrame, orders: DataFrame, arguments: dict[str, Any], condition: str, said: str
) -> None:
    with pytest.raises(AnalysisException) as caught:
        assert asof_join(orders, trades, **arguments).schema
    assert caught.value.getCondition() == condition
    assert said in str(caught.value)


def test_joins_that_a_stream_cannot_have_are_refused(
    replay: NewReplay, orders: DataFrame
) -> None:
    stream, other = replay(TRADES), replay(ORDERS)
    stream.add([(1, "A", 5.0, at(1))])
    other.add([(1, "A", at(1))])
    right, left = stream.rows(("ts", "1 second")), other.rows(("ts", "1 second"))
    directions: list[Any] = ["forward", "nearest"]
    for direction in directions:
        with pytest.raises(AnalysisException, match=f"direction {direction}") as caught:
            assert asof_join(left, right, on="ts", direction=direction).schema
        assert caught.value.getCondition() == "WINOPS_ASOF_JOIN"
    for one, two in ((orders, right), (left, stream.table())):
        with pytest.raises(AnalysisException, match="one side is a stream") as caught:
            assert asof_join(one, two, on="ts", by="symbol").schema
        assert caught.value.getCondition() == "WINOPS_ASOF_JOIN"
    with pytest.raises(AnalysisException) as caught:
        assert asof_join(other.rows(), right, on="ts", by="symbol").schema
    assert caught.value.getCondition() == "WINOPS_WATERMARK_REQUIRED"
    assert "withWatermark('ts'" in str(caught.value)


def test_columns_of_a_join(trades: DataFrame, orders: DataFrame) -> None:
    once = asof_join(orders, trades, on="ts", by="symbol")
    assert once.columns == ["id", "symbol", "ts", "seq", "price"]
    quotes = trades.withColumnRenamed("ts", "quoted").withColumnRenamed("symbol", "sym")
    both = asof_join(
        orders, quotes, left_on="ts", right_on="quoted", left_by="symbol", right_by="sym"
    )
    assert both.columns == ["id", "symbol", "ts", "seq", "sym", "price", "quoted"]
    for first in ("", None):
        twice = asof_join(trades, trades, on="ts", suffixes=(first, "_before"))
        assert twice.columns == [
            "seq",
            "symbol",
            "price",
            "ts",
            "seq_before",
            "symbol_before",
            "price_before",
        ]


def test_suffixes_that_give_two_columns_one_name_are_refused(trades: DataFrame) -> None:
    joins: list[tuple[DataFrame, Any, str]] = [
        (trades, ("", ""), "a column seq of the left side"),
        (
            trades.withColumn("price_y", F.lit(1)),
            ("_x", "_y"),
            "a column price_y of the left side",
        ),
    ]
    for left, suffixes, said in joins:
        with pytest.raises(AnalysisException, match="Give other suffixes") as caught:
            assert asof_join(left, trades, on="ts", by="symbol", suffixes=suffixes).schema
        assert caught.value.getCondition() == "WINOPS_COLUMN_CONFLICT"
        assert said in str(caught.value)
