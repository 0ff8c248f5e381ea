"""A query that is built and analysed, but not run."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pytest_benchmark.fixture import BenchmarkFixture

from winops import esper, keep


def changes(trades: DataFrame) -> DataFrame:
    return keep(trades, "KEEP 100 ROWS PER (key)", order_by="seq").changes()


def changes_in_keywords(trades: DataFrame) -> DataFrame:
    return keep(trades, rows=100, slack=10, per="key", order_by="seq").changes()


def aggregates_of_esper(trades: DataFrame) -> DataFrame:
    kept = keep(trades, esper("#groupwin(key)#sort(100, price desc)"), order_by="seq")
    return kept.agg(F.avg("price"), F.max("price"))


def yardstick_of_spark(trades: DataFrame) -> DataFrame:
    return trades.groupBy("key").agg(F.avg("price"), F.max("price"))


@pytest.mark.benchmark(group="query")
@pytest.mark.parametrize(
    "build", [changes, changes_in_keywords, aggregates_of_esper, yardstick_of_spark]
)
def test_query(
    benchmark: BenchmarkFixture, trades: DataFrame, build: Callable[[DataFrame], DataFrame]
) -> None:
    built = benchmark.pedantic(build, args=(trades,), rounds=30, warmup_rounds=30)
    assert built.columns
