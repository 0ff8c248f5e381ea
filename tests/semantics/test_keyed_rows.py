"""Rows with a primary key: updates and deletes, on tables and streams."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.errors import AnalysisException, PySparkValueError
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from tests.support.replay import NewReplay, at
from tests.support.transports import first_cases, interpreted
from winops import esper, keep, testing

pytestmark = interpreted

SCHEMA = "seq long, op string, symbol string, id int, price int, ts timestamp"
ORDER: dict[str, Any] = {"order_by": "seq"}


def rows(spark: SparkSession, *operations: tuple[str, str, int, int | None]) -> DataFrame:
    """Return operations in order: op, symbol, id and price."""
    numbered = [(seq, *one, at(100 + seq)) for seq, one in enumerate(operations)]
    return spark.createDataFrame(numbered, SCHEMA)


def changes(df: DataFrame) -> list[tuple[Any, ...]]:
    """Return the changes of one group in order: type, row number, id and price."""
    return [
        (row["_change_type"], row["_change_row"], row["id"], row["price"])
        for row in df.orderBy("_change_seq").collect()
    ]


def test_an_update_keeps_its_place(spark: SparkSession) -> None:
    df = rows(
        spark,
        ("insert", "A", 1, 10),
        ("insert", "A", 2, 20),
        ("update", "A", 1, 11),
        ("insert", "A", 3, 30),
    )
    kept = keep(df, "KEEP 2 ROWS", key="id", op="op", updates="update", **ORDER)
    assert kept.changes().columns == [
        "_change_type",
        "_change_time",
        "_change_step",
        "_change_seq",
        "_change_row",
        "_change_version",
        "seq",
        "symbol",
        "id",
        "price",
        "ts",
    ]
    assert changes(kept.changes()) == [
        ("insert", 0, 1, 10),
        ("insert", 1, 2, 20),
        ("update_before", 0, 1, 10),
        ("update_after", 0, 1, 11),
        ("insert", 2, 3, 30),
        ("delete", 0, 1, 11),
    ]
    assert sorted(row["id"] for row in kept.rows().collect()) == [2, 3]
    assert "op" not in kept.rows().columns


def test_an_update_is_a_delete_and_an_insert_by_default(spark: SparkSession) -> None:
    df = rows(spark, ("r", "A", 1, 10), ("r", "A", 1, 11), ("d", "A", 1, None))
    kept = keep(df, "KEEP ALL", key=["id"], op="op", **ORDER)
    assert changes(kept.changes()) == [
        ("insert", 0, 1, 10),
        ("delete", 0, 1, 10),
        ("insert", 0, 1, 11),
        ("delete", 0, 1, 11),
    ]
    reasons = kept.changes(reason=True).orderBy("_change_seq").collect()
    assert [row["_change_reason"] for row in reasons] == [
        "arrived",
        "updated",
        "updated",
        "deleted",
    ]


def test_without_op_each_row_is_an_upsert(spark: SparkSession) -> None:
    df = rows(spark, ("", "A", 1, 10), ("", "A", 2, 20), ("", "A", 1, 12)).drop("op")
    kept = keep(df, "KEEP ALL", key="id", **ORDER)
    found = {row["id"]: row["price"] for row in kept.rows().collect()}
    assert found == {1: 12, 2: 20}


def test_a_deleted_row_makes_room(spark: SparkSession) -> None:
    df = rows(
        spark,
        ("c", "A", 1, 1),
        ("c", "A", 2, 2),
        ("d", "A", 1, None),
        ("c", "A", 3, 3),
        ("u", "A", 1, 9),
        ("c", "A", 4, 4),
    )
    kept = keep(df, "KEEP 2 ROWS", key="id", op="op", row_id=False, **ORDER)
    assert "_change_row" not in kept.changes().columns
    found = kept.changes().orderBy("_change_seq").collect()
    assert [(row["_change_type"], row["id"]) for row in found] == [
        ("insert", 1),
        ("insert", 2),
        ("delete", 1),
        ("insert", 3),
        ("insert", 4),
        ("delete", 2),
    ]


def test_aggregates_follow_updates_and_deletes(spark: SparkSession) -> None:
    df = rows(
        spark,
        ("insert", "A", 1, 10),
        ("insert", "A", 2, 20),
        ("update", "B", 2, 5),
        ("delete", "A", 1, None),
    )
    kept = keep(df, "KEEP ALL", key="id", op="op", **ORDER)
    values = kept.agg(
        F.sum("price").alias("sum"), F.max("price").alias("max"), F.countDistinct("symbol")
    ).orderBy("_change_seq")
    assert [tuple(row)[2:] for row in values.collect()] == [
        (10, 10, 1),
        (30, 20, 1),
        (15, 10, 2),
        (5, 5, 1),
    ]
    grouped = kept.groupBy("symbol").agg(F.sum("price").alias("sum"), mode="latest")
    assert {(row["symbol"], row["sum"]) for row in grouped.collect()} == {("A", None), ("B", 5)}


def test_updated_rows_are_enriched_again_on_demand(spark: SparkSession) -> None:
    df = rows(spark, ("insert", "A", 1, 10), ("insert", "A", 2, 20), ("update", "A", 1, 40))
    arguments: dict[str, Any] = {"key": "id", "op": "op", **ORDER}
    plain = keep(df, "KEEP ALL", **arguments).withColumns({"sum": F.sum("price")})
    assert [(row["id"], row["sum"]) for row in plain.orderBy("seq").collect()] == [
        (1, 10),
        (2, 30),
    ]
    kept = keep(df, "KEEP ALL", corrections=True, **arguments)
    corrected = kept.withColumns({"sum": F.sum("price")})
    assert [(row["id"], row["sum"]) for row in corrected.orderBy("seq").collect()] == [
        (1, 10),
        (2, 30),
        (1, 60),
    ]


def test_rows_without_effect_are_emitted_with_the_reason(spark: SparkSession) -> None:
    df = rows(
        spark,
        ("insert", "A", 1, 10),
        ("insert", "A", 1, 11),
        ("update", "A", 2, 20),
        ("delete", "A", 3, 30),
        ("truncate", "A", 1, 0),
        ("insert", "A", None, 1),  # type: ignore[arg-type]
    )
    kept = keep(df, "KEEP ALL", key="id", op="op", late="emit", **ORDER)
    found = kept.changes().orderBy("seq").collect()
    assert [(row["_change_type"], row["_change_reason"]) for row in found] == [
        ("insert", "arrived"),
        ("refused", "key held"),
        ("refused", "not held"),
        ("refused", "not held"),
        ("refused", "op unknown"),
        ("refused", "key missing"),
    ]
    assert [row["_change_seq"] for row in found] == [0, None, None, None, None, None]
    dropped = keep(df.where("seq < 4"), "KEEP ALL", key="id", op="op", **ORDER)
    assert dropped.changes().count() == 1


def test_max_rows_refuses_rows(spark: SparkSession) -> None:
    df = rows(spark, *(("insert", "A", i, i) for i in range(4)))
    kept = keep(df, "KEEP ALL", max_rows=3, late="emit", **ORDER)
    found = kept.changes().where("_change_type = 'refused'").collect()
    assert [(row["id"], row["_change_reason"]) for row in found] == [(3, "max rows")]


def test_changes_of_a_window_are_operations_of_another(spark: SparkSession) -> None:
    df = rows(
        spark,
        ("insert", "A", 1, 10),
        ("insert", "B", 2, 20),
        ("update", "B", 1, 11),
        ("delete", "B", 2, None),
    )
    # The first window knows the symbol that a row had before.
    moves = keep(df, "KEEP ALL", key="id", op="op", updates="update", row_id=False, **ORDER)
    operations = moves.changes().drop("_change_step", "_change_time")
    # The numbers of the first window are a column of the second one's input.
    renamed = operations.withColumnRenamed("_change_seq", "n")
    kept = keep(renamed, "KEEP 5 ROWS PER (symbol)", key="id", op="_change_type", order_by="n")
    assert [(row["symbol"], row["id"]) for row in kept.rows().collect()] == [("B", 1)]


@pytest.mark.parametrize(
    "policy",
    first_cases(
        [
            "KEEP 4 SECONDS PER (symbol)",
            esper("#groupwin(symbol)#sort(2, price)"),
            "KEEP 3 ROWS PER (symbol)",
            esper("#groupwin(symbol)#unique(price)"),
        ],
        2,
        on_connect=1,
    ),
)
def test_a_stream_and_a_table_give_the_same_changes(replay: NewReplay, policy: Any) -> None:
    stream = replay(SCHEMA)
    words = ["insert", "upsert", "update", "delete", "upsert"]
    operations = [
        (seq, words[seq % 5], "AB"[seq % 2], seq * 7 % 6, seq * 5 % 9, at(100 + seq))
        for seq in range(40)
    ]
    stream.add(operations[:7], operations[7:8], operations[8:29], operations[29:])
    arguments: dict[str, Any] = {
        "key": "id",
        "op": "op",
        "updates": "update",
        "time": "ts",
        **ORDER,
    }
    stream.run(keep(stream.rows(("ts", "0 seconds")), policy, **arguments).changes(reason=True))
    table = keep(stream.table(), policy, **arguments).changes(reason=True)
    # The watermark has not passed the last row.
    until = "_change_time < timestamp_millis(139000)"
    testing.assert_same(stream.written().where(until), table.where(until))


@pytest.mark.parametrize(
    ("arguments", "condition"),
    [
        ({"policy": esper("#length_batch(3)"), "key": "id"}, "WINOPS_KEY_WINDOW"),
        ({"policy": {"a": "KEEP ALL", "b": "KEEP 2 ROWS"}, "key": "id"}, "WINOPS_KEY_WINDOW"),
        ({"policy": "KEEP EVERY 3 ROWS", "key": "id", "buffer": 2}, "WINOPS_BUFFER_WINDOW"),
        ({"policy": esper("#unique(id)"), "key": "id", "buffer": 2}, "WINOPS_BUFFER_WINDOW"),
        ({"policy": "KEEP ALL", "key": "ID2"}, "WINOPS_UNKNOWN_COLUMN"),
        ({"policy": "KEEP ALL", "key": "id", "op": "price"}, "WINOPS_ARGUMENT.VALUE"),
        ({"policy": "KEEP ALL", "key": ["id", "id"]}, "WINOPS_ARGUMENT.DUPLICATE"),
    ],
)
def test_calls_that_do_not_fit_are_refused(
    spark: SparkSession, arguments: dict[str, Any], condition: str
) -> None:
    with pytest.raises(AnalysisException) as caught:
        keep(rows(spark, ("insert", "A", 1, 1)), **arguments, **ORDER)
    assert caught.value.getCondition() == condition


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"op": "op", "idle": "1 day"}, "idle is not accepted .* with key and row_id => false"),
        (
            {"op": "op", "idle": "1 day", "row_id": True},
            "row_id has a value .* false together with idle",
        ),
        ({"key": "order_id"}, "has no column order_id, which key names"),
        ({"op": "word"}, "has no column word, which op names"),
        ({"op": "op", "time": "at"}, "has no column at, which time names"),
        ({"op": "op", "per": "op"}, "op has a value .* neither the group nor key"),
        ({"op": "op", "key": ["id", "op"]}, "op has a value .* neither the group nor key"),
        ({"op": "price"}, "a string column; price is INT"),
    ],
)
def test_arguments_that_contradict_each_other_say_why(
    spark: SparkSession, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(AnalysisException, match=message):
        keep(
            rows(spark, ("insert", "A", 1, 1)), "KEEP ALL", **{"key": "id", **ORDER, **arguments}
        )


def test_snapshots_take_no_operations(spark: SparkSession) -> None:
    kept = keep(rows(spark, ("insert", "A", 1, 1)), "KEEP ALL", key="id", op="op", **ORDER)
    assert "key=(id)" in repr(kept)
    with pytest.raises(AnalysisException, match=r"op is .* take no rows with operations"):
        kept.snapshots()


def test_options_of_a_key_need_one(spark: SparkSession) -> None:
    with pytest.raises(PySparkValueError, match="key= is missing"):
        keep(rows(spark, ("insert", "A", 1, 1)), "KEEP ALL", op="op", **ORDER)


def test_columns_of_a_warning_are_no_key(spark: SparkSession) -> None:
    with pytest.raises(PySparkValueError, match="key_columns= only names columns for a warning"):
        keep(rows(spark, ("insert", "A", 1, 1)), "KEEP ALL", op="op", key_columns="id", **ORDER)


def test_a_change_feed_without_op_is_told_to_give_it(spark: SparkSession) -> None:
    feed = rows(spark, ("insert", "A", 1, 1)).withColumnRenamed("op", "_change_type")
    with pytest.raises(AnalysisException, match="give op='_change_type' in Python") as caught:
        keep(feed, "KEEP ALL", key="id", **ORDER)
    assert caught.value.getCondition() == "WINOPS_COLUMN_CONFLICT"
    with pytest.raises(AnalysisException, match="Rename or drop it"):
        keep(feed, "KEEP ALL", **ORDER)


@pytest.mark.parametrize("name", ["op", "_OP", "__op"])
def test_a_column_that_seems_to_say_operations_causes_a_warning(
    spark: SparkSession, name: str
) -> None:
    df = rows(spark, ("insert", "A", 1, 1)).withColumnRenamed("op", name)
    with pytest.warns(UserWarning, match=f"Each row is an upsert.* give op='{name}'") as caught:
        keep(df, "KEEP ALL", key="id", **ORDER)
    assert [w.filename for w in caught if w.category is UserWarning] == [__file__]


@pytest.mark.filterwarnings("error::UserWarning")
def test_other_columns_cause_no_warning(spark: SparkSession) -> None:
    df = rows(spark, ("insert", "A", 1, 1))
    keep(df, "KEEP ALL", key="id", op="op", **ORDER)
    keep(df, "KEEP ALL", **ORDER)
    keep(df.withColumn("op", F.lit(1)), "KEEP ALL", key="id", **ORDER)
    keep(df.withColumnRenamed("op", "operator"), "KEEP ALL", key="id", **ORDER)


def test_over_in_aggregates_is_to_be_left_out(spark: SparkSession) -> None:
    kept = keep(rows(spark, ("insert", "A", 1, 1)), "KEEP ALL", key="id", op="op", **ORDER)
    with pytest.raises(AnalysisException, match=r"leave out \.over.*: keep is the window"):
        kept.withColumns({"sum": F.sum("price").over(Window.partitionBy("symbol"))})


def test_late_rows_are_emitted_by_changes_only(spark: SparkSession) -> None:
    kept = keep(rows(spark, ("insert", "A", 1, 1)), "KEEP ALL", late="emit", **ORDER)
    with pytest.raises(AnalysisException) as caught:
        kept.agg(F.sum("price"))
    assert caught.value.getCondition() == "WINOPS_LATE_OUTPUT"
    assert kept.describe()


def test_numbers_of_rows_without_a_key(spark: SparkSession) -> None:
    df = rows(spark, *(("insert", "A", i, i) for i in range(3)))
    kept = keep(df, "KEEP 1 ROW", row_id=True, **ORDER)
    assert changes(kept.changes()) == [
        ("insert", 0, 0, 0),
        ("insert", 1, 1, 1),
        ("delete", 0, 0, 0),
        ("insert", 2, 2, 2),
        ("delete", 1, 1, 1),
    ]


def test_sql_has_the_same_arguments(spark: SparkSession) -> None:
    df = rows(spark, ("insert", "A", 1, 10), ("d", "A", 1, None))
    df.createOrReplaceTempView("operations")
    found = spark.sql(
        "SELECT _change_type, id FROM keep(TABLE(operations) WITH SINGLE PARTITION "
        "ORDER BY (seq), 'KEEP ALL', key => ARRAY('id'), op => 'op', row_id => false, "
        "late => 'emit') ORDER BY _change_seq"
    )
    assert [tuple(row) for row in found.collect()] == [("insert", 1), ("delete", 1)]
