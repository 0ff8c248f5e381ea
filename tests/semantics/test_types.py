"""Rows of every type are returned unchanged, and groups equal those of GROUP BY."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tests.support.replay import NewReplay, finish
from tests.support.settings import settings
from tests.support.transports import first_cases, same_on_connect
from winops import Kept, keep

TYPES = {
    "flag": "true",
    "tiny": "1Y",
    "small": "2S",
    "whole": "3",
    "long": "4L",
    "real": "CAST(1.5 AS FLOAT)",
    "double": "2.5D",
    "zero": "-0.0D",
    "nan": "DOUBLE('NaN')",
    "narrow": "CAST(1.25 AS DECIMAL(9, 2))",
    "wide": "CAST(-123456789012345678901234.5678 AS DECIMAL(38, 10))",
    "text": "'größe \U0001f600'",
    "empty": "''",
    "long_text": "repeat('abc', 5000)",
    "collated": "'aA' COLLATE UTF8_LCASE",
    "bytes": "X'00FF10'",
    "day": "DATE'2026-03-29'",
    "instant": "TIMESTAMP'2026-03-29 02:30:00.123456'",
    "local": "TIMESTAMP_NTZ'2026-03-29 02:30:00.123456'",
    "months": "INTERVAL '1-2' YEAR TO MONTH",
    "span": "INTERVAL '1 02:03:04.000005' DAY TO SECOND",
    "array": "array(1, NULL, 3)",
    "map": "map('a', array(1.5D), 'b', NULL)",
    "struct": "named_struct('x', 1, 'y', named_struct('z', array(map('k', DATE'2026-01-01'))))",
    "json": 'parse_json(\'{"a": [1, {"b": null}]}\')',
}


def every_type(spark: SparkSession) -> DataFrame:
    """Return three rows; the second is NULL except for its number."""
    columns = [f"IF(id = 2, NULL, {value}) AS {name}" for name, value in TYPES.items()]
    return spark.sql("\n".join(["SELECT id,", ", ".join(columns), "FROM range(1, 4)"]))


def as_text(df: DataFrame) -> DataFrame:
    """Convert rows whose types have no equality to comparable text."""
    columns = [F.hex(c) if c == "bytes" else F.col(c).cast("string") for c in TYPES]
    return df.select("id", *(c.alias(name) for name, c in zip(TYPES, columns, strict=True)))


def test_a_batch_query_returns_rows_of_every_type_unchanged(spark: SparkSession) -> None:
    rows = every_type(spark).withColumn("nothing", F.lit(None))
    kept = keep(rows, rows=1, order_by="id")
    assert kept.changes().schema.fields[4:] == rows.schema.fields
    assert kept.rows().schema == rows.schema
    expected = as_text(rows).orderBy("id").collect()
    assert as_text(kept.inserts()).orderBy("id").collect() == expected
    assert as_text(kept.deletes()).orderBy("id").collect() == expected[:2]
    assert as_text(kept.rows()).collect() == expected[2:]


@same_on_connect
def test_a_stream_returns_rows_of_every_type_unchanged(
    spark: SparkSession, tmp_path: Path
) -> None:
    rows = every_type(spark)
    source = str(tmp_path / "source")
    for number in (1, 2, 3):
        rows.where(F.col("id") == number).coalesce(1).write.mode("append").parquet(source)
    stream = spark.readStream.schema(rows.schema).option("maxFilesPerTrigger", 1).parquet(source)
    with_nothing = stream.withColumn("nothing", F.lit(None))
    changes = keep(with_nothing, rows=1, order_by="id").changes()
    result = as_text(changes.where("_change_type = 'delete'"))
    query = (
        result.writeStream.option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .start(str(tmp_path / "output"), format="parquet")
    )
    finish(query)
    assert len(query.recentProgress) >= 3
    written = spark.read.parquet(str(tmp_path / "output")).orderBy("id").collect()
    assert written == as_text(rows).orderBy("id").collect()[:2]


@same_on_connect
def test_char_and_varchar_keep_their_types_and_padding(spark: SparkSession) -> None:
    spark.sql("CREATE TABLE padded (id INT, c CHAR(4), v VARCHAR(4)) USING parquet")
    try:
        spark.sql("INSERT INTO padded VALUES (1, 'a', 'b'), (2, NULL, NULL)")
        rows = spark.table("padded")
        kept = keep(rows, rows=1, per=["c", "v"], order_by="id").rows()
        assert kept.schema == rows.schema
        assert sorted(kept.collect()) == sorted(rows.collect())
        assert "a   " in {row.c for row in kept.collect()}
    finally:
        spark.sql("DROP TABLE padded")


def group_sizes(kept: Kept) -> Counter[int]:
    """Return, for each number, the count of groups that have a change with this number."""
    return Counter(row._change_seq for row in kept.changes().select("_change_seq").collect())


@same_on_connect
@pytest.mark.parametrize(
    "values",
    first_cases(
        [
            "('a'), ('A'), (''), (NULL), ('a '), ('a')",
            "(0.0D), (-0.0D), (DOUBLE('NaN')), (-DOUBLE('NaN')), (NULL), (0.0D)",
            "(CAST(1.5 AS DECIMAL(38, 2))), (CAST(1.50 AS DECIMAL(38, 2))), (NULL)",
            "(X'00'), (X'0000'), (X''), (NULL), (X'00')",
            "(TIMESTAMP'2026-01-01'), (TIMESTAMP'2026-01-01 00:00:00.000001'), (NULL)",
            "(INTERVAL '1' DAY), (INTERVAL '24' HOUR), (INTERVAL '2' DAY)",
            "(named_struct('x', 0.0D, 'y', 'a')), (named_struct('x', -0.0D, 'y', 'a')), (NULL), "
            "(named_struct('x', NULL, 'y', NULL)), (named_struct('x', NULL, 'y', NULL))",
            "(array(0.0D, NULL)), (array(-0.0D, NULL)), (array()), (NULL), (array(0.0D))",
            "(true), (false), (NULL), (true)",
            "(1), (2), (NULL), (1), (NULL)",
            "(FLOAT(0)), (-FLOAT(0)), (FLOAT('NaN')), (FLOAT('NaN')), (FLOAT('Infinity'))",
            "(CAST(1 AS DECIMAL(5, 2))), (CAST(1 AS DECIMAL(5, 2))), (CAST(-1 AS DECIMAL(5, 2)))",
            "(DATE'2026-01-01'), (DATE'2026-01-02'), (DATE'2026-01-01')",
            "(array(named_struct('x', -0.0D))), (array(named_struct('x', 0.0D)))",
        ],
        8,
    ),
)
def test_groups_equal_those_of_group_by(spark: SparkSession, values: str) -> None:
    rows = spark.sql(
        f"SELECT k, monotonically_increasing_id() AS seq FROM VALUES {values} AS t(k)"
    )
    sizes = [row["count"] for row in rows.groupBy("k").count().collect()]
    kept = keep(rows, rows=99, per="k", order_by="seq")
    assert group_sizes(kept) == Counter(number for size in sizes for number in range(size))


@same_on_connect
def test_several_columns_form_one_key(spark: SparkSession) -> None:
    rows = spark.createDataFrame(
        [(1, None, "a"), (2, None, None), (3, None, "a"), (4, 0, None), (5, None, None)],
        "seq long, x int, y string",
    )
    assert group_sizes(keep(rows, rows=9, per=["x", "y"], order_by="seq")) == {0: 3, 1: 2}


@same_on_connect
def test_the_sign_of_a_zero_stays_in_the_row(spark: SparkSession) -> None:
    rows = spark.sql("SELECT -0.0D AS k")
    (row,) = keep(rows, rows=1, per="k").rows().selectExpr("CAST(k AS STRING) AS k").collect()
    assert row.k == "-0.0"


@same_on_connect
def test_float_groups_continue_in_the_next_batch(replay: NewReplay) -> None:
    stream = replay("seq long, k double")
    nan = float("nan")
    stream.add([(1, 0.0), (2, nan), (3, None)], [(4, -0.0), (5, -nan), (6, None)])
    stream.run(keep(stream.rows(), rows=1, per="k").changes())
    deleted = stream.written().where("_change_type = 'delete'").orderBy("seq").collect()
    assert [row.seq for row in deleted] == [1, 2, 3]


@same_on_connect
@pytest.mark.parametrize(
    "key",
    [
        "map('a', 1)",
        "named_struct('m', map('a', 1))",
        "array(map('a', 1))",
        "parse_json('1')",
    ],
)
def test_types_that_cannot_be_groups_are_refused(spark: SparkSession, key: str) -> None:
    rows = spark.sql(f"SELECT {key} AS k")
    with pytest.raises(AnalysisException) as caught:
        keep(rows, rows=1, per="k")
    assert caught.value.getCondition() == "WINOPS_GROUP_TYPE"
    assert caught.value.getSqlState() == "42822"


@same_on_connect
@pytest.mark.parametrize(
    ("zone", "changes"),
    first_cases(
        [
            ("America/New_York", ["2026-03-08 07:00:00Z", "2026-11-01 06:00:00Z"]),
            # The shift to summer time is half an hour.
            ("Australia/Lord_Howe", ["2026-04-04 15:00:00Z", "2026-10-03 15:30:00Z"]),
            ("Europe/Berlin", ["2026-03-29 01:00:00Z", "2026-10-25 01:00:00Z"]),
        ],
        2,
    ),
)
def test_intervals_are_not_moved_by_summer_time(
    spark: SparkSession, zone: str, changes: list[str]
) -> None:
    instants = ", ".join(f"(TIMESTAMP'{change}')" for change in changes)
    with settings(spark, {"spark.sql.session.timeZone": zone}):
        rows = spark.sql(
            f"""
            SELECT change, timestamp_micros(unix_micros(change) + n * 1800000000) AS ts
            FROM VALUES {instants} AS t(change) CROSS JOIN (SELECT id - 2 AS n FROM range(6))
            """
        )
        offsets = rows.selectExpr("change", "date_format(ts, 'xxx') AS x").distinct()
        assert offsets.count() == 4
        hour = keep(rows, interval="1 hour", per="change", time="ts", order_by="ts")
        passed = hour.deletes().selectExpr("unix_seconds(_change_time) - unix_seconds(ts) AS s")
        # Time ends with the last row; its two newest rows are not yet an hour old.
        assert [row.s for row in passed.collect()] == [3600] * (6 + 4)
        hours = keep(rows, "KEEP EVERY 1 HOUR", per="change", time="ts", order_by="ts")
        ends = hours.deletes().selectExpr("unix_seconds(_change_time) % 3600 AS s")
        assert {row.s for row in ends.collect()} == {0}


@same_on_connect
def test_a_local_time_is_read_as_utc(spark: SparkSession) -> None:
    with settings(spark, {"spark.sql.session.timeZone": "Asia/Tokyo"}):
        rows = spark.sql("SELECT TIMESTAMP_NTZ'1970-01-01 00:00:05.5' AS ts")
        changes = keep(rows, rows=1, time="ts").changes()
        (row,) = changes.selectExpr(
            "unix_millis(_change_time) AS ms", "typeof(ts) AS t"
        ).collect()
    assert (row.ms, row.t) == (5_500, "timestamp_ntz")
