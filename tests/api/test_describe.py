"""The text of describe() is the same for parts in the policy's text and in arguments."""

from __future__ import annotations

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession

from tests.support.replay import at
from tests.support.transports import longer_on_connect
from winops import esper, keep, spl


@pytest.fixture(scope="module")
def rows(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame([(1, "A", at(0))], "seq long, symbol string, ts timestamp")


@longer_on_connect
def test_a_group_in_an_argument_is_described_like_one_in_the_text(rows: DataFrame) -> None:
    sentence = "For each `symbol`, keeps the newest 2 rows."
    assert keep(rows, "KEEP 2 ROWS PER (symbol)").describe() == sentence
    assert keep(rows, "KEEP 2 ROWS", per="symbol").describe() == sentence
    assert keep(rows, rows=2, per="symbol").describe() == sentence
    assert keep(rows, "KEEP 2 ROWS PER (symbol)", per="symbol").describe() == sentence
    assert (
        keep(rows, spl("sliding, count(2), partitioned"), per="symbol")
        .describe()
        .startswith("For each `symbol`, keeps the newest 2 rows")
    )
    assert keep(rows, rows=2, per=["symbol", "seq"]).describe() == (
        "For each `symbol` and `seq`, keeps the newest 2 rows."
    )
    unique = keep(rows, esper("#unique(seq)"), per="symbol", order_by="seq").describe()
    assert unique.startswith("For each `symbol` and `seq`, keeps the newest row")
    assert keep(rows, rows=2).describe() == "Keeps the newest 2 rows."


def test_idle_time_and_apply_are_described(rows: DataFrame) -> None:
    idle = keep(rows, rows=2, per="symbol", time="ts", idle="7 days").describe()
    assert idle == (
        "For each `symbol`, keeps the newest 2 rows; removes a group that has no new row for "
        "7 days, and deletes its rows. Applies rows in the order of `ts`; on a stream, when the "
        "watermark has passed them."
    )
    arrival = keep(rows, "KEEP 5 SECONDS", time="ts", apply="arrival").describe()
    assert arrival == (
        "Keeps each row for 5 seconds. Applies rows in the order of arrival; the time of a group "
        "is its greatest `ts` so far."
    )


def test_the_group_of_several_windows_is_described(rows: DataFrame) -> None:
    windows = {"a": "KEEP 1 ROW", "b": "KEEP 2 ROWS"}
    described = keep(rows, windows, per="symbol", order_by="seq").describe()
    assert described.startswith("For each `symbol`, window a keeps the newest row")


@pytest.mark.parametrize("output", ["describe", "Describe"])
def test_the_output_describe_of_sql_is_the_same_text(
    spark: SparkSession, rows: DataFrame, output: str
) -> None:
    policy = "'KEEP 2 ROWS PER (symbol)'"
    query = f"SELECT * FROM keep(TABLE({{t}}), {policy}, output => '{output}')"
    described = spark.sql(query, t=rows)
    assert described.columns == ["description"]
    sentence = keep(rows, "KEEP 2 ROWS PER (symbol)", order_by="seq").describe()
    assert [row.description for row in described.collect()] == [sentence]


@pytest.mark.parametrize("arguments", ["", ", output => 'rows'", ", max_rows => 5"])
def test_a_call_in_sql_without_a_policy_is_refused(
    spark: SparkSession, rows: DataFrame, arguments: str
) -> None:
    with pytest.raises(AnalysisException) as caught:
        spark.sql(f"SELECT * FROM keep(TABLE({{t}}){arguments})", t=rows)
    assert caught.value.getCondition() == "WINOPS_ARGUMENT.MISSING"
    assert "KEEP ALL" in str(caught.value)


def test_a_call_in_sql_may_keep_all(spark: SparkSession, rows: DataFrame) -> None:
    assert spark.sql("SELECT * FROM keep(TABLE({t}), 'KEEP ALL')", t=rows).count() == 1
