"""Windows over a static DataFrame."""

from __future__ import annotations

import json
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F
from pyspark.sql.types import LongType, StringType, TimestampType

from tests.support.replay import at
from tests.support.settings import READ_TASKS, settings
from tests.support.transports import first_cases, interpreted, same_on_connect
from winops import Kept, keep

pytestmark = interpreted

TRADES = [
    (1, "A", 5.0, at(0)),
    (2, "B", 7.0, at(1)),
    (3, "A", 6.0, at(2)),
    (4, "A", 4.0, at(3)),
    (5, "A", 8.0, at(10)),
    (6, "B", 9.0, at(12)),
]


@pytest.fixture(scope="module")
def trades(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame(TRADES, "seq long, symbol string, price double, ts timestamp")


def story(kept: Kept, **where: Any) -> list[str]:
    """Return the changes of one group as words such as +1 and -1, grouped by step."""
    changes = kept.changes()
    for column, value in where.items():
        changes = changes.where(F.col(column) == value)
    steps: dict[int, str] = {}
    for row in sorted(changes.collect(), key=lambda row: row._change_seq):
        sign = "+" if row._change_type == "insert" else "-"
        steps[row._change_step] = steps.get(row._change_step, "") + f"{sign}{row.seq}"
    return list(steps.values())


def sequences(df: DataFrame) -> list[int]:
    return sorted(row.seq for row in df.select("seq").collect())


@pytest.mark.parametrize(
    ("policy", "steps"),
    [
        ("KEEP 2 ROWS", ["+1", "+2", "+3-1", "+4-2", "+5-3", "+6-4"]),
        ("KEEP 2 ROWS SLACK 2", ["+1", "+2", "+3", "+4-1-2", "+5", "+6-3-4"]),
        ("KEEP EVERY 2 ROWS", ["+1", "+2", "+3-1-2", "+4", "+5-3-4", "+6"]),
        ("KEEP ALL", ["+1", "+2", "+3", "+4", "+5", "+6"]),
        ("", ["+1", "+2", "+3", "+4", "+5", "+6"]),
        ("KEEP 2 SECONDS", ["+1", "+2", "-1", "+3", "-2", "+4", "-3", "-4", "+5", "-5", "+6"]),
        ("KEEP EVERY 2 SECONDS", ["+1", "+2", "-1-2", "+3", "+4", "-3-4", "+5", "-5", "+6"]),
    ],
)
def test_each_window_has_its_changes(trades: DataFrame, policy: str, steps: list[str]) -> None:
    assert story(keep(trades, policy, order_by="seq", time="ts")) == steps


def test_each_group_has_a_window_of_its_own(trades: DataFrame) -> None:
    kept = keep(trades, "KEEP 2 ROWS PER (symbol)", order_by="seq")
    assert story(kept, symbol="A") == ["+1", "+3", "+4-1", "+5-3"]
    assert story(kept, symbol="B") == ["+2", "+6"]
    assert sequences(kept.rows()) == [2, 4, 5, 6]


def test_change_columns_come_before_those_of_the_rows(trades: DataFrame) -> None:
    changes = keep(trades, rows=2, order_by="seq").changes()
    assert [(f.name, f.dataType) for f in changes.schema.fields[:4]] == [
        ("_change_type", StringType()),
        ("_change_time", TimestampType()),
        ("_change_step", LongType()),
        ("_change_seq", LongType()),
    ]
    assert changes.schema.fields[4:] == trades.schema.fields


def test_without_time_changes_of_a_batch_query_have_no_time(trades: DataFrame) -> None:
    changes = keep(trades, rows=2, order_by="seq").changes()
    assert changes.where("_change_time IS NOT NULL").count() == 0


def test_a_change_has_the_time_of_its_row_or_timer(trades: DataFrame) -> None:
    changes = keep(trades, "KEEP 2500 MILLISECONDS", order_by="seq", time="ts").changes()
    times = {
        (row._change_type, row.seq): row.ms
        for row in changes.select(
            "_change_type", "seq", F.unix_millis("_change_time").alias("ms")
        ).collect()
    }
    assert times["insert", 5] == 10_000
    assert times["delete", 1] == 2_500
    assert times["delete", 4] == 5_500


@same_on_connect
@pytest.mark.parametrize(
    "policy",
    first_cases(["KEEP 3 SECONDS", "KEEP 2 ROWS SLACK 2", "KEEP EVERY 2 ROWS", "KEEP ALL"], 2),
)
def test_rows_are_the_inserts_without_the_deletes(trades: DataFrame, policy: str) -> None:
    kept = keep(trades, policy, per="symbol", order_by="seq", time="ts")
    left = kept.inserts().select("seq").exceptAll(kept.deletes().select("seq"))
    assert sequences(kept.rows()) == sequences(left)
    assert kept.rows().schema == trades.schema


def test_inserts_and_deletes_are_the_two_kinds_of_changes(trades: DataFrame) -> None:
    kept = keep(trades, rows=2, order_by="seq")
    assert sequences(kept.inserts()) == [1, 2, 3, 4, 5, 6]
    assert sequences(kept.deletes()) == [1, 2, 3, 4]
    assert kept.inserts().columns == kept.changes().columns


@same_on_connect
def test_the_newest_rows_are_those_of_a_window_function(spark: SparkSession) -> None:
    rows = spark.range(3000, numPartitions=4).select(
        "id", F.pmod(F.xxhash64("id"), F.lit(37)).alias("key"), F.xxhash64("id").alias("order")
    )
    newest = Window.partitionBy("key").orderBy(F.desc("order"))
    expected = rows.withColumn("rank", F.row_number().over(newest)).where("rank <= 5")
    kept = keep(rows, rows=5, per="key", order_by="order").rows()
    assert kept.exceptAll(expected.drop("rank")).count() == 0
    assert kept.count() == expected.count() == 37 * 5


@same_on_connect
@pytest.mark.parametrize(
    "arguments",
    first_cases(
        [
            {"rows": 3, "per": "key", "time": "ts", "order_by": "tied"},
            {"rows": 1, "per": "key"},
            {"rows": 100, "order_by": "tied"},
            {"rows": 4, "per": "key", "order_by": "tied"},
        ],
        3,
    ),
)
def test_rows_dropped_before_the_shuffle_make_no_difference(
    spark: SparkSession, arguments: dict[str, Any]
) -> None:
    # The changes need all rows, so this query drops none before the shuffle.
    rows = spark.range(6000, numPartitions=7).selectExpr(
        "id",
        "IF(id % 50 = 0, NULL, pmod(hash(id), 40)) AS key",
        "IF(id % 17 = 0, NULL, pmod(hash(id + 1), 30)) AS tied",
        "timestamp_millis(pmod(hash(id + 2), 5000)) AS ts",
    )
    kept = keep(rows, **arguments)
    left = kept.inserts().select("id").exceptAll(kept.deletes().select("id"))
    assert [row.id for row in kept.rows().select("id").orderBy("id").collect()] == [
        row.id for row in left.orderBy("id").collect()
    ]


def test_a_row_without_a_time_is_an_error_though_others_are_newer(spark: SparkSession) -> None:
    rows = spark.range(100, numPartitions=3).selectExpr(
        "id AS seq", "IF(id = 40, NULL, timestamp_seconds(id)) AS ts"
    )
    with pytest.raises(PySparkException, match="WINOPS_NULL_TIME"):
        keep(rows, rows=2, time="ts").rows().collect()
    assert sequences(keep(rows, rows=2, time="ts", on_null_time="drop").rows()) == [98, 99]


def test_keywords_give_the_changes_of_the_equivalent_policy(trades: DataFrame) -> None:
    by_text = keep(trades, "KEEP 1 ROW SLACK 2 PER (symbol)", order_by="seq")
    by_keywords = keep(trades, rows=1, slack=2, per=["symbol"], order_by=["seq"])
    assert (
        story(by_text, symbol="A")
        == story(by_keywords, symbol="A")
        == ["+1", "+3", "+4-1-3", "+5"]
    )
    every = keep(trades, interval=timedelta(seconds=2), every=True, order_by="seq", time="ts")
    assert story(every) == story(keep(trades, "KEEP EVERY 2 SECONDS", order_by="seq", time="ts"))


def test_sql_gives_the_changes_of_python(spark: SparkSession, trades: DataFrame) -> None:
    trades.createOrReplaceTempView("trades")
    by_sql = spark.sql(
        "SELECT * FROM keep(TABLE(trades) PARTITION BY (symbol) ORDER BY (seq), 'KEEP 2 ROWS')"
    )
    by_python = keep(trades, "KEEP 2 ROWS", per="symbol", order_by="seq").changes()
    assert by_sql.schema == by_python.schema
    assert by_sql.exceptAll(by_python).count() == by_python.exceptAll(by_sql).count() == 0


def test_sql_orders_by_expressions_and_descending(spark: SparkSession, trades: DataFrame) -> None:
    query = """
        SELECT * FROM keep(
          TABLE({t}) WITH SINGLE PARTITION ORDER BY (-price DESC, seq),
          'KEEP 2 ROWS',
          output => 'rows')
    """
    assert sequences(spark.sql(query, t=trades)) == [5, 6]


@pytest.mark.parametrize(
    ("policy", "params"),
    [
        ("KEEP N ROWS", {"N": 2}),
        ("KEEP N * 2 - 2 ROWS SLACK S", {"N": 2, "S": 1}),
        ("KEEP N ROWS", {"N": 2, "unused": "text"}),
    ],
)
def test_counts_may_be_parameters(
    trades: DataFrame, policy: str, params: dict[str, int | str]
) -> None:
    assert sequences(keep(trades, policy, params=params, order_by="seq").rows()) == [5, 6]


@pytest.mark.parametrize(
    ("policy", "params"),
    [
        ("KEEP W", {"W": "2 seconds"}),
        ("KEEP W", {"W": timedelta(seconds=2)}),
        ("KEEP W SECONDS", {"W": 2}),
        ("KEEP W SECONDS", {"W": 2.0}),
        ("KEEP W SECONDS", {"W": Decimal("2.0")}),
        ("KEEP W", {"W": "00:00:02"}),
    ],
)
def test_intervals_may_be_parameters(
    trades: DataFrame, policy: str, params: dict[str, Any]
) -> None:
    kept = keep(trades, policy, params=params, time="ts", order_by="seq")
    assert story(kept)[:4] == ["+1", "+2", "-1", "+3"]


def test_intervals_count_from_an_origin(trades: DataFrame) -> None:
    def ends(origin: Any) -> list[int]:
        kept = keep(trades, "KEEP EVERY 5 SECONDS", origin=origin, time="ts", order_by="seq")
        rows = kept.deletes().select(F.unix_millis("_change_time").alias("ms")).distinct()
        return sorted(row.ms for row in rows.collect())

    assert ends(None) == ends(0) == [5_000]
    assert ends(1_000) == [1_000, 6_000, 11_000]
    assert ends(-4_000) == [1_000, 6_000, 11_000]
    assert ends("first") == [5_000]


def test_intervals_may_count_from_the_first_row_of_a_group(trades: DataFrame) -> None:
    later = trades.where("seq >= 2")
    kept = keep(later, "KEEP EVERY 5 SECONDS", origin="first", time="ts", order_by="seq")
    assert story(kept) == ["+2", "+3", "+4", "-2-3-4", "+5", "-5", "+6"]


def test_an_idle_group_is_removed(trades: DataFrame) -> None:
    kept = keep(trades, "KEEP 3 ROWS", order_by="seq", time="ts", idle="5 seconds")
    rows = kept.changes().where("seq >= 4").orderBy("_change_time", "_change_seq").collect()
    emitted = [(row._change_type, row.seq, row._change_step, row._change_seq) for row in rows]
    assert emitted == [
        ("insert", 4, 3, 3),
        ("delete", 4, 4, 7),
        ("insert", 5, 0, 0),
        ("insert", 6, 1, 1),
    ]


def test_rows_without_order_keep_the_order_of_their_source(spark: SparkSession) -> None:
    rows = spark.range(100, numPartitions=1).select(F.col("id").alias("seq"))
    assert sequences(keep(rows, rows=3).rows()) == [97, 98, 99]


@same_on_connect
def test_ties_in_the_order_are_broken_by_the_place_in_the_source(spark: SparkSession) -> None:
    # The order by the bytes of the rows is the other way round.
    rows = spark.range(100, numPartitions=7).select(
        (99 - F.col("id")).alias("seq"), F.lit(1).alias("one")
    )
    kept = keep(rows, rows=3, order_by="one")
    inserts = kept.inserts().orderBy("_change_seq")
    assert [row.seq for row in inserts.collect()] == [*range(99, -1, -1)]
    assert sequences(kept.rows()) == [0, 1, 2]


@same_on_connect
@pytest.mark.parametrize("tasks", ["1", "5"])
def test_files_are_read_in_the_order_of_their_names(
    spark: SparkSession, tmp_path: Path, tasks: str
) -> None:
    for name, first, end in (("a", 0, 160), ("b", 160, 1_600), ("c", 1_600, 1_700)):
        lines = [json.dumps({"seq": seq}) for seq in range(first, end)]
        (tmp_path / f"{name}.json").write_text("\n".join(lines))
    with settings(spark, {READ_TASKS: tasks}):
        rows = spark.read.schema("seq long").json(str(tmp_path))
        assert sequences(keep(rows, rows=1).rows()) == [1_699]
        # A Python function reads rows ahead.
        plus = F.udf(lambda seq: seq + 1, "long")
        assert sequences(keep(rows.select(plus("seq").alias("seq")), rows=1).rows()) == [1_700]
        both = rows.where("seq < 1000").union(rows.where("seq < 9"))
        assert sequences(keep(both, rows=2).rows()) == [7, 8]


def test_rows_of_the_client_keep_their_order(spark: SparkSession) -> None:
    rows = [(seq,) for seq in range(3_000)]
    for frame in (
        spark.createDataFrame(rows, "seq long"),
        spark.createDataFrame(pd.DataFrame(rows, columns=["seq"])),
        spark.createDataFrame(rows, "seq long").cache(),
    ):
        assert sequences(keep(frame, rows=2).rows()) == [2_998, 2_999]


@pytest.mark.parametrize(
    "name",
    ["a.b", "a`b", "{df}", "{0}", ":policy", "two words", "größe", "select", "'quoted'", "-- x"],
)
def test_columns_may_have_any_name(spark: SparkSession, name: str) -> None:
    rows = spark.createDataFrame([(1, 1, 9), (1, 2, 8), (2, 3, 7)], [name, name + "2", "seq"])
    kept = keep(rows, rows=1, per=name, order_by=name + "2")
    assert sequences(kept.rows()) == [7, 8]


def test_the_time_column_may_have_any_name(spark: SparkSession, trades: DataFrame) -> None:
    odd = trades.withColumnRenamed("ts", "t.s `'")
    assert story(keep(odd, interval="2 seconds", time="t.s `'", order_by="seq"))[2] == "-1"


def test_several_columns_group_and_order(trades: DataFrame) -> None:
    kept = keep(
        trades.withColumn("dear", F.col("price") > 5.5),
        rows=1,
        per=["symbol", "dear"],
        order_by=["price", "seq"],
    )
    assert sequences(kept.rows()) == [1, 5, 6]


def test_a_table_without_rows_gives_no_changes(trades: DataFrame) -> None:
    empty = trades.where("seq > 100")
    for kept in (
        keep(empty, rows=2, order_by="seq"),
        keep(empty, interval="1 second", time="ts", per="symbol"),
    ):
        assert kept.changes().collect() == kept.rows().collect() == []


def test_one_result_may_be_used_twice(trades: DataFrame) -> None:
    changes = keep(trades, rows=2, order_by="seq").changes()
    pairs = changes.alias("a").join(
        changes.alias("b"), F.expr("a._change_seq = b._change_seq + 1")
    )
    assert pairs.count() == changes.count() - 1
    assert changes.unionByName(changes).count() == 2 * changes.count()


def test_columns_may_be_dropped_and_filtered_after(trades: DataFrame) -> None:
    kept = keep(trades, "KEEP 2 ROWS PER (symbol)", order_by="seq")
    prices = kept.changes().where("price > 5").select("price")
    assert sorted(row.price for row in prices.collect()) == [6.0, 6.0, 7.0, 8.0, 9.0]
    counts = kept.changes().groupBy("_change_type").count()
    assert sorted(counts.collect()) == [("delete", 2), ("insert", 6)]


def test_the_plan_shows_the_policy_group_and_order(
    trades: DataFrame, capsys: pytest.CaptureFixture[str]
) -> None:
    keep(trades, "keep 2 rows slack 3", per="symbol", order_by="seq").changes().explain()
    plan = capsys.readouterr().out
    for part in ("Keep [", "KEEP 2 ROWS SLACK 3", "symbol", "seq"):
        assert part in plan


def test_repr_shows_the_arguments_of_keep(trades: DataFrame) -> None:
    kept = keep(trades, "KEEP N ROWS", params={"N": 2}, per="symbol", order_by="seq", max_rows=9)
    assert repr(kept) == "Kept[KEEP N ROWS, N=2, per=(symbol), order_by=(seq), max_rows=9]"
    with pytest.raises(AttributeError):
        kept.policy = "KEEP 3 ROWS"  # type: ignore[attr-defined]


def test_a_group_by_the_primary_key_causes_a_warning(trades: DataFrame) -> None:
    with pytest.warns(UserWarning, match="primary key"):
        keep(trades, "KEEP 2 ROWS PER (symbol, seq)", order_by="seq", key_columns="seq")
    with pytest.warns(UserWarning, match="primary key") as caught:
        keep(trades, rows=2, per=["symbol", "seq"], order_by="seq", key_columns=["seq"])
    assert [w.filename for w in caught if w.category is UserWarning] == [__file__]


@pytest.mark.filterwarnings("error::UserWarning")
def test_other_groups_cause_no_warning(trades: DataFrame) -> None:
    keep(trades, "KEEP 2 ROWS PER (symbol)", order_by="seq", key_columns="seq")
    keep(trades, "KEEP N ROWS", params={"N": 2}, order_by="seq", key_columns=["seq", "symbol"])
    keep(trades, "KEEP 2 ROWS PER (seq)", order_by="seq")
