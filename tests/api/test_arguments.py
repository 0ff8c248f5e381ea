"""Arguments are checked in Python, before any call to Spark."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from pyspark.errors import PySparkTypeError, PySparkValueError
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from tests.support.transports import interpreted
from winops import keep, testing, timeline
from winops._arguments import interval, names, parameters, sort_keys
from winops._policy import Policy, policy_of

NOTHING: dict[str, Any] = {
    "policy": None,
    "rows": None,
    "slack": None,
    "interval": None,
    "every": False,
    "params": None,
}


@pytest.mark.parametrize(
    ("keywords", "text", "params"),
    [
        ({"rows": 100}, "KEEP 100 ROWS", {}),
        ({"rows": 100, "slack": 10}, "KEEP 100 ROWS SLACK 10", {}),
        ({"rows": 5, "every": True}, "KEEP EVERY 5 ROWS", {}),
        ({"interval": "10 minutes"}, 'KEEP "interval"', {"interval": "10 minutes"}),
        (
            {"interval": timedelta(days=1, hours=1, microseconds=5)},
            'KEEP "interval"',
            {"interval": "1 days 3600 seconds 5 microseconds"},
        ),
        (
            {"interval": "1 hour", "every": True},
            'KEEP EVERY "interval"',
            {"interval": "1 hour"},
        ),
        ({"policy": "KEEP N ROWS", "params": {"N": 3}}, "KEEP N ROWS", {"N": 3}),
        ({"policy": ""}, "", {}),
    ],
)
def test_keywords_become_policy_texts(
    keywords: dict[str, Any], text: str, params: dict[str, Any]
) -> None:
    assert policy_of(**{**NOTHING, **keywords}) == Policy(text, params)


def test_an_interval_is_exact_to_the_microsecond() -> None:
    assert interval("idle", timedelta(microseconds=1)) == "1 microseconds"
    assert interval("idle", timedelta(seconds=90)) == "90 seconds"
    assert interval("idle", timedelta(days=2)) == "2 days"


def test_parameters_keep_their_types() -> None:
    given = {"a": 1, "b": 1.5, "c": Decimal("1.50"), "d": "1 hour", "e": timedelta(seconds=1)}
    assert parameters(given) == {**given, "e": "1 seconds"}


def test_column_names_are_one_text_or_a_list() -> None:
    assert names("per", None) == ()
    assert names("per", "a.b") == ("a.b",)
    assert names("per", ["a", "b"]) == ("a", "b")


def test_sort_keys_are_column_names_or_columns(spark: SparkSession) -> None:
    newest = F.desc("seq")
    assert sort_keys("order_by", None) == ()
    assert sort_keys("order_by", "a.b") == ("a.b",)
    assert [key is newest for key in sort_keys("order_by", newest)] == [True]
    keys = sort_keys("order_by", ["a", newest])
    assert (keys[0], keys[1] is newest) == ("a", True)


@pytest.mark.parametrize(
    ("keywords", "text"),
    [
        ({}, "KEEP ALL"),
        ({"rows": 1, "interval": "1 hour"}, "exactly one of"),
        ({"rows": 0}, "rows="),
        ({"rows": -1}, "rows="),
        ({"rows": 2**63}, "rows="),
        ({"rows": 3, "slack": 0}, "slack="),
        ({"slack": 3}, "exactly one of"),
        ({"interval": "1 hour", "slack": 3}, "slack="),
        ({"rows": 3, "every": True, "slack": 3}, "slack="),
        ({"interval": timedelta(0)}, "interval="),
        ({"interval": timedelta(seconds=-1)}, "interval="),
        ({"policy": "KEEP 3 ROWS", "rows": 3}, "cannot be combined with policy="),
        ({"policy": "KEEP 3 ROWS", "every": True}, "cannot be combined with policy="),
        ({"rows": 3, "params": {"N": 3}}, "params="),
        ({"policy": "KEEP W", "params": {"W": timedelta(0)}}, "params['W']="),
        ({"policy": "KEEP N ROWS", "params": {"N": 2**63}}, "params['N']="),
        ({"policy": "KEEP N ROWS", "params": {"N": Decimal("NaN")}}, "params['N']="),
        ({"policy": "KEEP N ROWS", "params": {"N": Decimal("-Infinity")}}, "params['N']="),
        ({"rows": 3, "max_rows": 0}, "max_rows="),
        ({"rows": 3, "max_rows": -5}, "max_rows="),
        ({"rows": 3, "apply": "arrival"}, "time="),
        ({"rows": 3, "on_null_time": "drop"}, "time="),
        ({"rows": 3, "time": "ts", "apply": "later"}, '"event_time" or "arrival"'),
        ({"rows": 3, "time": "ts", "on_null_time": "ignore"}, '"error" or "drop"'),
        ({"rows": 3, "origin": "last"}, '"first"'),
        ({"rows": 3, "origin": 2**70}, "origin="),
        ({"rows": 3, "idle": timedelta(0)}, "idle="),
        ({"rows": 3, "buffer": 2}, "key= is missing"),
        ({"rows": 3, "key": "id", "buffer": 0}, "buffer="),
    ],
)
def test_invalid_values_of_arguments_are_refused(
    spark: SparkSession, keywords: dict[str, Any], text: str
) -> None:
    with pytest.raises(PySparkValueError) as caught:
        keep(spark.range(1), **keywords)
    assert caught.value.getCondition() == "WINOPS_ARGUMENT"
    assert text in str(caught.value)


@pytest.mark.parametrize(
    ("keywords", "text"),
    [
        ({"policy": 100}, "policy="),
        ({"rows": "100"}, "rows="),
        ({"rows": True}, "rows="),
        ({"rows": 2.0}, "rows="),
        ({"rows": 3, "slack": 1.0}, "slack="),
        ({"interval": 10}, "interval="),
        ({"rows": 3, "max_rows": 1.5}, "max_rows="),
        ({"rows": 3, "origin": 1.5}, "origin="),
        ({"rows": 3, "origin": True}, "origin="),
        ({"rows": 3, "idle": 7}, "idle="),
        ({"rows": 3, "time": 5}, "time="),
        ({"rows": 3, "per": 5}, "per="),
        ({"rows": 3, "order_by": ["seq", 5]}, "list with int"),
        ({"policy": "KEEP N ROWS", "params": {"N": None}}, "params['N']="),
        ({"policy": "KEEP N ROWS", "params": {"N": [1]}}, "params['N']="),
    ],
)
def test_invalid_types_of_arguments_are_refused(
    spark: SparkSession, keywords: dict[str, Any], text: str
) -> None:
    with pytest.raises(PySparkTypeError) as caught:
        keep(spark.range(1), **keywords)
    assert caught.value.getCondition() == "WINOPS_ARGUMENT"
    assert text in str(caught.value)


@pytest.mark.parametrize("argument", ["per", "key_columns"])
def test_a_column_object_is_refused_with_a_hint(spark: SparkSession, argument: str) -> None:
    for columns in (F.col("id"), [F.col("id")], F.desc("id")):
        with pytest.raises(PySparkTypeError, match=r"not (list with )?Column\. .*withColumn"):
            keep(spark.range(1), rows=3, **{argument: columns})


@pytest.mark.parametrize("argument", ["per", "order_by", "key_columns"])
@pytest.mark.parametrize("nothing", [[], ()])
def test_an_empty_list_of_columns_does_not_mean_a_single_group(
    spark: SparkSession, argument: str, nothing: Any
) -> None:
    with pytest.raises(PySparkValueError, match=f"{argument}= is an empty list") as caught:
        keep(spark.range(1), rows=3, **{argument: nothing})
    assert caught.value.getCondition() == "WINOPS_ARGUMENT"


@pytest.mark.parametrize(
    ("argument", "said"),
    [
        ("variables", "has no argument variables=. Write params= instead"),
        ("primary_key", "has no argument primary_key=. Write key= instead"),
        ("partition_by", "has no argument partition_by=. Its arguments are df=, policy=, rows="),
    ],
)
def test_an_unknown_argument_is_refused(spark: SparkSession, argument: str, said: str) -> None:
    with pytest.raises(PySparkTypeError) as caught:
        keep(spark.range(1), "KEEP 3 ROWS", **{argument: {"N": 3}})
    assert caught.value.getCondition() == "WINOPS_ARGUMENT"
    assert said in str(caught.value)


@interpreted
def test_group_by_takes_names_or_a_list_of_them(spark: SparkSession) -> None:
    kept = keep(spark.range(4).selectExpr("id", "id % 2 AS odd", "1 AS one"), rows=3)

    def counts(*columns: Any) -> list[tuple[Any, ...]]:
        grouped = kept.groupBy(*columns).agg(F.count("*").alias("n"))
        return sorted(tuple(row)[1:] for row in grouped.collect())

    assert counts(["odd"]) == counts("odd")
    assert counts(["odd", "one"]) == counts(("odd", "one")) == counts("odd", "one")
    for nothing in ((), ([],), ((),)):
        with pytest.raises(PySparkValueError, match="groupBy names no column") as empty:
            kept.groupBy(*nothing)
        assert empty.value.getCondition() == "WINOPS_ARGUMENT"
    for columns, kind in (
        ((F.col("odd"),), "Column"),
        (([F.col("odd")],), "Column"),
        (("odd", ["one"]), "list"),
        ((["odd"], "one"), "list"),
        ((None,), "NoneType"),
    ):
        with pytest.raises(PySparkTypeError, match=f"is of type {kind}. Give") as odd:
            kept.groupBy(*columns)
        assert odd.value.getCondition() == "WINOPS_ARGUMENT"


def test_keep_takes_only_a_dataframe(spark: SparkSession) -> None:
    with pytest.raises(PySparkTypeError, match="takes a DataFrame, not a list"):
        keep([1, 2, 3], rows=3)  # type: ignore[arg-type]


def test_arguments_without_a_name_are_refused(spark: SparkSession) -> None:
    rows = spark.range(3)
    with pytest.raises(PySparkTypeError, match=r"takes only df and policy without.*order_by="):
        keep(rows, "KEEP 2 ROWS", "id")
    with pytest.raises(PySparkTypeError, match="over takes only rows and functions"):
        testing.over([], "lag(x) OVER (ORDER BY ts)", "x int")
    with pytest.raises(PySparkTypeError, match="timeline takes only changes"):
        timeline([], "symbol")
    assert keep(rows, "KEEP 2 ROWS", order_by="id").rows().count() == 2
