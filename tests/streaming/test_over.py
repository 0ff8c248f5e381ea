"""Window functions of Spark's own over a stream give the rows of a table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random
from typing import Any

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession, Window, WindowSpec
from pyspark.sql import functions as F

from tests.support.replay import NewReplay, at, failure
from winops import read_state

SCHEMA = "seq long, symbol string, ts timestamp, price double"


def by_time() -> WindowSpec:
    # A window needs a session.
    return Window.partitionBy("symbol").orderBy("ts", "seq")


def rows_of(random: Random, first: int, count: int) -> list[tuple[Any, ...]]:
    """Return out-of-order rows over twenty seconds, with ties in time and rows without price."""
    return [
        (
            first + i,
            random.choice("ABC"),
            at(1_000 + random.randrange(20)),
            random.choice([None, *(x / 4 for x in range(9))]),
        )
        for i in range(count)
    ]


@contextmanager
def setting(spark: SparkSession, name: str, value: str) -> Iterator[None]:
    key = f"spark.winops.over.{name}"
    spark.conf.set(key, value)
    try:
        yield
    finally:
        spark.conf.unset(key)


def differences(left: DataFrame, right: DataFrame) -> list[Any]:
    return left.exceptAll(right).collect() + right.exceptAll(left).collect()


def functions(rows: DataFrame) -> DataFrame:
    return (
        rows.withColumn("mean", F.avg("price").over(by_time().rowsBetween(-4, 0)))
        .withColumn("before", F.lag("price", 2, -1.0).over(by_time()))
        .withColumn("place", F.row_number().over(by_time()))
        .withColumn("change", F.col("price") - F.first("price").over(by_time()))
        .withColumn("next", F.lead("seq").over(by_time()))
    )


def sql(spark: SparkSession) -> Callable[[DataFrame], DataFrame]:
    def of(rows: DataFrame) -> DataFrame:
        rows.createOrReplaceTempView("over_rows")
        return spark.sql(
            """
            SELECT *, sum(price) OVER (PARTITION BY symbol ORDER BY ts) AS total,
              count(*) OVER (PARTITION BY symbol ORDER BY ts
                RANGE BETWEEN INTERVAL 3 SECONDS PRECEDING
                AND INTERVAL 1 SECOND FOLLOWING) AS near,
              rank() OVER (PARTITION BY symbol ORDER BY ts) AS place
            FROM over_rows
            """
        )

    return of


@pytest.mark.parametrize("form", ["dataframe", "sql"])
def test_a_flushed_stream_gives_the_rows_of_a_table(
    replay: NewReplay, spark: SparkSession, form: str
) -> None:
    random = Random(7)
    query = functions if form == "dataframe" else sql(spark)
    stream = replay(SCHEMA)
    rows = rows_of(random, 0, 60)
    stream.add(rows[:20], rows[20:50], rows[50:])
    with setting(spark, "atEnd", "flush"):
        stream.run(query(stream.rows(("ts", "1 day"))))
    assert differences(stream.written(), query(stream.table())) == []


def test_one_operator_for_functions_of_one_order(replay: NewReplay, spark: SparkSession) -> None:
    stream = replay(SCHEMA)
    stream.add(rows_of(Random(1), 0, 20))
    query = stream.run(functions(stream.rows(("ts", "1 second"))))
    assert [o["operatorName"] for o in query.recentProgress[-1]["stateOperators"]] == ["keep"]
    stored = read_state(spark, stream.checkpoint)
    assert {"seq", "price"} <= set(stored.columns)


def test_what_a_stream_cannot_compute_is_refused(replay: NewReplay, spark: SparkSession) -> None:
    stream = replay(SCHEMA)
    stream.add(rows_of(Random(1), 0, 5))
    rows = stream.rows(("ts", "1 second"))
    refused = {
        "ntile": F.ntile(4).over(by_time()),
        "all rows of the partition": F.sum("price").over(Window.partitionBy("symbol")),
        "ascending": F.lag("price").over(Window.partitionBy("symbol").orderBy(F.desc("ts"))),
        "watermark": F.lag("price").over(Window.partitionBy("symbol").orderBy("seq")),
    }
    for reason, column in refused.items():
        with pytest.raises(AnalysisException, match=f"WINOPS_OVER.*{reason}"):
            stream.start(rows.select("*", column.alias("value")))
    with (
        setting(spark, "enabled", "false"),
        pytest.raises(AnalysisException, match="NON_TIME_WINDOW_NOT_SUPPORTED_IN_STREAMING"),
    ):
        stream.start(rows.select("*", F.lag("price").over(by_time()).alias("value")))


def test_rows_in_the_order_of_arrival(replay: NewReplay, spark: SparkSession) -> None:
    stream = replay(SCHEMA)
    stream.add(*([(i, "AB"[i % 2], at(1_000 - i), i / 2)] for i in range(6)))
    with setting(spark, "arrivalOrder", "true"):
        before = F.lag("seq").over(Window.partitionBy("symbol").orderBy("seq"))
        stream.run(stream.rows().select("seq", before.alias("before")))
    assert [tuple(row) for row in stream.written().orderBy("seq").collect()] == [
        (i, None if i < 2 else i - 2) for i in range(6)
    ]


def test_rows_without_a_time(replay: NewReplay, spark: SparkSession) -> None:
    stream = replay(SCHEMA)
    stream.add([(1, "A", None, 1.0), (2, "A", at(1), 1.0)], [(3, "A", at(9), 1.0)])
    ordered = Window.orderBy("ts", "seq")

    def place() -> DataFrame:
        rows = stream.rows(("ts", "1 second"))
        return rows.select("seq", F.row_number().over(ordered).alias("place"))

    assert "WINOPS_NULL_TIME" in failure(stream.start(place()))
    with setting(spark, "nullTime", "drop"):
        stream.run(place())
    assert [tuple(row) for row in stream.written().collect()] == [(2, 1)]
