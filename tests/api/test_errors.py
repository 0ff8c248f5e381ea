"""Every error condition that a user can cause: its trigger and its message."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any

import pytest
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tests.support.replay import NewReplay, at, failure
from tests.support.settings import settings
from tests.support.transports import first_cases, interpreted, longer_on_connect
from winops import keep

SCHEMA = "seq long, symbol string, ts timestamp"


@pytest.fixture(scope="module")
def trades(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame([(1, "A", at(0)), (2, "B", at(1))], SCHEMA)


def refusal(call: Callable[[], object], condition: str, state: str) -> str:
    """Assert that a call is refused while the query is built, and return the message."""
    with pytest.raises(AnalysisException) as caught:
        call()
    assert (caught.value.getCondition(), caught.value.getSqlState()) == (condition, state)
    return str(caught.value)


@pytest.mark.parametrize(
    ("policy", "condition", "params", "column"),
    [
        ("KEEP", "SYNTAX", {}, 5),
        ("KEEP 5 ROWS PER", "SYNTAX", {}, 16),
        ("KEEP 5 ROWS PER ()", "SYNTAX", {}, 18),
        ("KEEP ALL PER (symbol)", "SYNTAX", {}, 10),
        ("KEEP 2.5 ROWS", "TYPE", {}, 6),
        ("KEEP 0 ROWS", "RANGE", {}, 6),
        ("KEEP 3 - 5 ROWS", "RANGE", {}, 6),
        ("KEEP N ROWS", "RANGE", {"N": -1}, 6),
        ("KEEP 0 SECONDS", "RANGE", {}, 6),
        ("KEEP 10", "UNIT", {}, 8),
        ("KEEP 1 HOUR 2 HOURS", "DUPLICATE_UNIT", {}, 15),
        ("KEEP EVERY 5 ROWS SLACK 2", "SLACK_EVERY", {}, 19),
        ("KEEP 5 MINUTES SLACK 2", "SLACK_TIME", {}, 16),
        ("KEEP 5 ROWS PER (symbol, symbol)", "DUPLICATE_COLUMN", {}, 26),
        ("KEEP 5 ROWS PER (nowhere)", "UNKNOWN_COLUMN", {}, 18),
        ("KEEP N ROWS", "UNBOUND_PARAMETER", {}, 6),
        ("KEEP seq ROWS", "UNBOUND_PARAMETER", {}, 6),
        ("KEEP " + "(" * 10_000 + "5" + ")" * 10_000 + " ROWS", "LIMIT", {}, None),
        ("KEEP 5 ROWS" + " " * 1_000_000, "LIMIT", {}, None),
    ],
)
def test_an_invalid_policy_is_refused(
    trades: DataFrame, policy: str, condition: str, params: dict[str, Any], column: int | None
) -> None:
    text = refusal(
        lambda: keep(trades, policy, params=params, order_by="seq"),
        f"WINOPS_POLICY.{condition}",
        "42601",
    )
    assert "A valid policy: KEEP" in text
    lines = text.splitlines()
    (caret,) = (i for i, line in enumerate(lines) if line.strip() == "^")
    if column is not None:
        assert f"line 1, column {column}:" in text
        assert lines[caret - 1] == policy
        assert lines[caret].index("^") == column - 1


def test_a_caret_marks_the_line_of_the_mistake(trades: DataFrame) -> None:
    text = refusal(
        lambda: keep(trades, "KEEP\n  5 ROWS\n  PUR (symbol)"), "WINOPS_POLICY.SYNTAX", "42601"
    )
    assert "line 3, column 3:" in text
    assert "\n  PUR (symbol)\n  ^\n" in text


def test_a_long_policy_is_not_printed_as_a_whole(trades: DataFrame) -> None:
    policy = f"KEEP 5 ROWS {'x' * 900}"
    text = refusal(lambda: keep(trades, policy), "WINOPS_POLICY.SYNTAX", "42601")
    assert "x" * 50 in text
    assert "x" * 200 not in text


@pytest.mark.parametrize("clause", ["per", "order_by"])
def test_a_group_or_order_that_is_not_a_column_is_refused(trades: DataFrame, clause: str) -> None:
    text = refusal(
        lambda: keep(trades, rows=2, **{clause: "nowhere"}),
        "WINOPS_UNKNOWN_COLUMN",
        "42703",
    )
    argument = "PARTITION BY (per= in Python)" if clause == "per" else "ORDER BY (order_by="
    assert f"has no column nowhere, which {argument}" in text


def test_a_column_that_the_input_has_twice_is_refused(trades: DataFrame) -> None:
    twice = trades.withColumn("TS", F.col("ts")).join(trades.select("ts"))
    text = refusal(lambda: keep(twice, rows=2, time="ts"), "WINOPS_UNKNOWN_COLUMN", "42703")
    assert "has 2 columns ts, which time names" in text


def test_a_time_that_is_not_a_column_is_refused(trades: DataFrame) -> None:
    text = refusal(lambda: keep(trades, rows=2, time="nowhere"), "WINOPS_UNKNOWN_COLUMN", "42703")
    assert "nowhere" in text
    assert "seq, symbol, ts" in text


@pytest.mark.parametrize("column", ["seq", "symbol", "day"])
def test_a_time_that_is_not_a_timestamp_is_refused(trades: DataFrame, column: str) -> None:
    rows = trades.withColumn("day", F.lit(date(2026, 1, 1)))
    text = refusal(lambda: keep(rows, rows=2, time=column), "WINOPS_TIME_TYPE", "42804")
    assert column in text
    assert "TIMESTAMP" in text


@pytest.mark.parametrize(
    ("policy", "column"),
    [
        ("KEEP 5 ROWS PER (va)", 18),
        ("KEEP 5 ROWS PER (symbol, va)", 26),
        ("KEEP 1 MINUTE PER (symbol, `va`)", 28),
    ],
)
def test_a_group_that_cannot_be_compared_is_refused_at_its_place(
    trades: DataFrame, policy: str, column: int
) -> None:
    rows = trades.withColumn("va", F.expr("parse_json('1')"))
    text = refusal(
        lambda: keep(rows, policy, time="ts").changes().schema, "WINOPS_POLICY.TYPE", "42601"
    )
    assert f"line 1, column {column}:" in text


def test_the_group_of_keep_all_is_given_beside_the_text(trades: DataFrame) -> None:
    text = refusal(
        lambda: keep(trades, "KEEP ALL PER (symbol)", time="ts").changes().schema,
        "WINOPS_POLICY.SYNTAX",
        "42601",
    )
    assert "per= in Python or PARTITION BY in SQL" in text
    assert keep(trades, "KEEP ALL", per="symbol", time="ts").inserts().count() == 2


def test_columns_of_arguments_are_found_in_any_case(trades: DataFrame) -> None:
    """Spark finds them in any case; the text of a policy is case-sensitive."""
    sizes = keep(trades, rows=2, per="Symbol", order_by="SEQ", time="TS").agg(F.count("*"))
    assert sizes.columns == ["symbol", "_change_time", "_change_seq", "count(1)"]
    text = refusal(
        lambda: keep(trades, "KEEP 2 ROWS PER (Symbol)").changes().schema,
        "WINOPS_POLICY.UNKNOWN_COLUMN",
        "42601",
    )
    assert "did you mean symbol?" in text


@pytest.mark.parametrize(
    "policy", ["KEEP 5 SECONDS", "KEEP EVERY 5 SECONDS PER (symbol)", "KEEP 00:05"]
)
def test_a_time_window_over_a_table_needs_a_time_column(trades: DataFrame, policy: str) -> None:
    text = refusal(lambda: keep(trades, policy), "WINOPS_TIME_REQUIRED", "42K0E")
    assert "time =>" in text


def test_idle_groups_of_a_table_need_a_time_column(trades: DataFrame) -> None:
    refusal(lambda: keep(trades, rows=2, idle="1 hour"), "WINOPS_TIME_REQUIRED", "42K0E")


@pytest.mark.parametrize("policy", ["KEEP 5 SECONDS", "KEEP 5 ROWS"])
def test_a_stream_with_a_time_needs_a_watermark(replay: NewReplay, policy: str) -> None:
    rows = replay(SCHEMA).rows()
    text = refusal(lambda: keep(rows, policy, time="ts"), "WINOPS_WATERMARK_REQUIRED", "42K0E")
    assert "withWatermark('ts', '10 seconds')" in text


def test_a_watermark_on_another_column_is_not_enough(replay: NewReplay) -> None:
    rows = replay(f"{SCHEMA}, other timestamp").rows(("other", "1 second"))
    refusal(lambda: keep(rows, rows=2, time="ts"), "WINOPS_WATERMARK_REQUIRED", "42K0E")


@interpreted
@pytest.mark.parametrize(
    "shuffle",
    first_cases(["repartition", "orderBy", "join", "groupBy", "distinct"], short=2, on_connect=1),
)
def test_rows_from_a_shuffle_need_an_order(trades: DataFrame, shuffle: str) -> None:
    rows = {
        "groupBy": lambda: trades.groupBy("symbol", "ts").agg(F.max("seq").alias("seq")),
        "distinct": trades.distinct,
        "join": lambda: trades.join(trades.select("symbol"), "symbol"),
        "repartition": lambda: trades.repartition(3),
        "orderBy": lambda: trades.orderBy("symbol"),
    }[shuffle]()
    text = refusal(lambda: keep(rows, rows=2), "WINOPS_ORDER_REQUIRED", "42K0E")
    assert "order_by" in text
    refusal(
        lambda: keep(rows, rows=2, time="ts", apply="arrival"), "WINOPS_ORDER_REQUIRED", "42K0E"
    )
    assert keep(rows, rows=2, time="ts").rows().count() == 2
    assert keep(rows, rows=2, order_by="seq").rows().count() == 2


@longer_on_connect
def test_rows_before_any_shuffle_need_no_order(trades: DataFrame) -> None:
    rows = trades.where("seq > 0").withColumn("more", F.explode(F.array(F.lit(1), F.lit(2))))
    assert keep(rows.unionByName(rows), rows=3).rows().count() == 3


def test_two_different_groups_are_refused(trades: DataFrame) -> None:
    text = refusal(
        lambda: keep(trades, "KEEP 2 ROWS PER (symbol)", per="seq"),
        "WINOPS_GROUP_CONFLICT",
        "42K0E",
    )
    assert "symbol" in text
    assert "seq" in text


def test_the_same_group_may_be_given_twice(trades: DataFrame) -> None:
    kept = keep(trades, "KEEP 2 ROWS PER (symbol, seq)", per=["seq", "symbol"])
    assert kept.rows().count() == 2


def test_rows_on_a_stream_is_refused(replay: NewReplay) -> None:
    kept = keep(replay(SCHEMA).rows(), rows=2)
    refusal(kept.rows, "WINOPS_ROWS_ON_STREAM", "0A000")


@pytest.mark.parametrize("mode", ["update", "complete"])
def test_output_modes_other_than_append_are_refused(replay: NewReplay, mode: str) -> None:
    stream = replay(SCHEMA)
    changes = keep(stream.rows(), rows=2).changes()
    if mode == "complete":
        changes = changes.groupBy("symbol").count()
    writer = changes.writeStream.format("memory").queryName("refused").outputMode(mode)
    text = refusal(
        writer.option("checkpointLocation", stream.checkpoint).start,
        "WINOPS_OUTPUT_MODE",
        "0A000",
    )
    assert mode in text.lower()


def test_a_continuous_trigger_is_refused(replay: NewReplay) -> None:
    stream = replay(SCHEMA)
    writer = keep(stream.rows(), rows=2).changes().writeStream.format("console")
    trigger = writer.option("checkpointLocation", stream.checkpoint).trigger(
        continuous="1 second"
    )
    refusal(trigger.start, "WINOPS_TRIGGER", "0A000")


def test_another_encoding_of_the_state_is_refused(spark: SparkSession, replay: NewReplay) -> None:
    stream = replay(SCHEMA)
    kept = keep(stream.rows(), rows=2).changes()
    writer = kept.writeStream.format("noop").option("checkpointLocation", stream.checkpoint)
    with settings(spark, {"spark.sql.streaming.stateStore.encodingFormat": "avro"}):
        refusal(writer.start, "WINOPS_STATE_ENCODING", "0A000")


@pytest.mark.parametrize("name", ["_change_type", "_CHANGE_SEQ"])
def test_a_column_with_the_name_of_an_output_column_is_refused(
    trades: DataFrame, name: str
) -> None:
    rows = trades.withColumn(name, F.lit(1))
    text = refusal(lambda: keep(rows, rows=2), "WINOPS_COLUMN_CONFLICT", "42711")
    assert "withColumnRenamed" in text


def test_an_order_by_a_type_without_an_order_is_refused(trades: DataFrame) -> None:
    rows = trades.withColumn("map", F.create_map("symbol", "seq"))
    condition = "DATATYPE_MISMATCH.INVALID_ORDERING_TYPE"
    refusal(lambda: keep(rows, rows=2, order_by="map"), condition, "42K09")


@pytest.mark.parametrize(
    ("arguments", "condition", "text"),
    [
        ("'KEEP 2 ROWS', colour => 'red'", "UNKNOWN", "colour"),
        ("'KEEP 2 ROWS', 'ts'", "UNKNOWN", "'ts'"),
        ("'KEEP 2 ROWS', max_rows => 0", "VALUE", "max_rows"),
        ("'KEEP 2 ROWS', max_rows => 1.5", "VALUE", "max_rows"),
        ("'KEEP 2 ROWS', idle => 'soon'", "VALUE", "idle"),
        ("'KEEP 2 ROWS', idle => '1 month'", "VALUE", "idle"),
        ("'KEEP 2 ROWS', idle => '-1 day'", "VALUE", "idle"),
        ("'KEEP 2 ROWS', apply => 'arrival'", "VALUE", "apply"),
        ("'KEEP 2 ROWS', time => 'ts', apply => 'later'", "VALUE", "apply"),
        ("'KEEP 2 ROWS', time => 'ts', on_null_time => 'ignore'", "VALUE", "on_null_time"),
        ("'KEEP 2 ROWS', output => 'both'", "VALUE", "output"),
        ("'KEEP 2 ROWS', output => 'columns'", "VALUE", "'withColumns'"),
        ("'KEEP 2 ROWS', output => 'description'", "VALUE", "'describe'"),
        ("'KEEP n ROWS', variables => named_struct('n', 2)", "UNKNOWN", "params"),
        ("'KEEP 2 ROWS', origin => 'last'", "VALUE", "origin"),
        ("'KEEP 2 ROWS', params => 5", "VALUE", "params"),
        ("'KEEP 2 ROWS', params => named_struct('n', array(1))", "VALUE", "params"),
        ("5", "VALUE", "policy"),
        ("'KEEP 2 ROWS', policy => 'KEEP 3 ROWS'", "DUPLICATE", "policy"),
        ("'KEEP 2 ROWS', idle => '1 day', idle => '2 days'", "DUPLICATE", "idle"),
    ],
)
def test_invalid_arguments_in_sql_are_refused(
    spark: SparkSession, trades: DataFrame, arguments: str, condition: str, text: str
) -> None:
    said = refusal(
        lambda: spark.sql(f"SELECT * FROM keep(TABLE({{t}}), {arguments})", t=trades),
        f"WINOPS_ARGUMENT.{condition}",
        "22023",
    )
    assert text in said


def test_a_call_without_a_table_is_refused(spark: SparkSession) -> None:
    text = refusal(
        lambda: spark.sql("SELECT * FROM keep('KEEP 2 ROWS')"), "WINOPS_ARGUMENT.MISSING", "22023"
    )
    assert "TABLE(" in text


@pytest.mark.parametrize(
    "clause", ["PARTITION BY (rand())", "PARTITION BY (seq) ORDER BY (rand())"]
)
def test_a_group_or_order_that_is_not_deterministic_is_refused(
    spark: SparkSession, trades: DataFrame, clause: str
) -> None:
    query = f"SELECT * FROM keep(TABLE({{t}}) {clause}, 'KEEP 2 ROWS')"
    refusal(lambda: spark.sql(query, t=trades), "WINOPS_ARGUMENT.VALUE", "22023")


def test_too_many_rows_fail_a_batch_query(trades: DataFrame) -> None:
    kept = keep(trades, "KEEP ALL", max_rows=1)
    with pytest.raises(PySparkException, match=r"WINOPS_MAX_ROWS.* more than 1 rows"):
        kept.rows().collect()


@longer_on_connect
def test_as_many_rows_as_max_rows_are_accepted(trades: DataFrame) -> None:
    assert keep(trades, "KEEP ALL", max_rows=2).rows().count() == 2
    assert keep(trades, "KEEP ALL", max_rows=1, per="symbol").rows().count() == 2


def test_too_many_rows_fail_a_stream(replay: NewReplay) -> None:
    stream = replay(SCHEMA)
    stream.add([(1, "A", at(0))], [(2, "A", at(0))])
    text = failure(
        stream.start(keep(stream.rows(), "KEEP ALL", per="symbol", max_rows=1).changes())
    )
    assert "WINOPS_MAX_ROWS" in text
    assert "max_rows" in text


@longer_on_connect
def test_waiting_rows_count_towards_max_rows(replay: NewReplay) -> None:
    stream = replay(SCHEMA)
    stream.add([(1, "A", at(0)), (2, "A", at(1)), (3, "A", at(2))])
    rows = stream.rows(("ts", "1 hour"))
    kept = keep(rows, rows=1, per="symbol", time="ts", max_rows=2)
    assert "WINOPS_MAX_ROWS" in failure(stream.start(kept.changes()))


def test_a_row_without_a_time_fails_a_batch_query(trades: DataFrame) -> None:
    rows = trades.withColumn("ts", F.when(F.col("seq") == 1, F.col("ts")))
    with pytest.raises(PySparkException, match=r"WINOPS_NULL_TIME.*column `?ts`?"):
        keep(rows, rows=2, time="ts").rows().collect()
    assert keep(rows, rows=2, time="ts", on_null_time="drop").rows().count() == 1


def test_a_row_without_a_time_fails_a_stream(replay: NewReplay) -> None:
    stream = replay(SCHEMA)
    stream.add([(1, "A", None)])
    kept = keep(stream.rows(("ts", "0 seconds")), rows=2, time="ts")
    assert "WINOPS_NULL_TIME" in failure(stream.start(kept.changes()))


def test_no_message_shows_values_of_rows(spark: SparkSession) -> None:
    rows = spark.createDataFrame(
        [("secret", at(0)), ("secret", None)], "symbol string, ts timestamp"
    )
    for kept in (keep(rows, "KEEP ALL", max_rows=1), keep(rows, rows=2, time="ts", per="symbol")):
        with pytest.raises(PySparkException) as caught:
            kept.rows().collect()
        assert "WINOPS_" in str(caught.value)
        assert "secret" not in str(caught.value)
