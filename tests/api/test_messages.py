"""The messages of refused calls: each one names a valid alternative."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pyspark.errors import AnalysisException, PySparkException, PySparkTypeError
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from tests.support.replay import NewReplay, failure
from winops import apama, esper, keep, spl

SCHEMA = "seq long, symbol string, price double"


@pytest.fixture(scope="module")
def trades(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame([(1, "A", 5.0), (2, "B", 7.0)], SCHEMA)


def said(call: Callable[[], object]) -> str:
    """Return the text of the error that a call raises."""
    with pytest.raises(PySparkException) as caught:
        call()
    return str(caught.value)


@pytest.mark.parametrize(
    ("policy", "python", "sql"),
    [
        ("#length(10)", 'esper("#length(10)")', "esper => '#length(10)'"),
        ("#lenght(10)", 'esper("#lenght(10)")', "esper => '#lenght(10)'"),
        ("length(10)", 'esper("length(10)")', "esper => 'length(10)'"),
        ("win:length(10)", 'esper("win:length(10)")', "esper => "),
        ("select * from Trade#length(10)", 'esper("select', "esper => "),
        ("retain 10", 'apama("retain 10")', "apama => 'retain 10'"),
        ("within 10", 'apama("within 10")', "apama => "),
        ("partition by symbol retain 10", 'apama("partition by', "apama => "),
        ("sliding, count(10)", 'spl("sliding, count(10)")', "spl => 'sliding, count(10)'"),
        ("window w : tumbling, count(2)", 'spl("window w', "spl => "),
        (esper("KEEP 5 ROWS"), "'KEEP 5 ROWS'", "ccl => 'KEEP 5 ROWS'"),
        (esper("sliding, count(10)"), 'spl("sliding', "spl => "),
        (spl("#length(10)"), 'esper("#length(10)")', "esper => "),
        (apama("tumbling, count(10)"), 'spl("tumbling', "spl => "),
        ({"a": "#length(10)"}, 'esper("#length(10)")', "dialect => 'esper'"),
    ],
)
def test_a_text_in_another_language_gets_the_name_of_its_wrapper(
    trades: DataFrame, policy: Any, python: str, sql: str
) -> None:
    text = said(lambda: keep(trades, policy, order_by="seq"))
    assert f"write {python}" in text
    assert sql in text


@pytest.mark.parametrize("policy", ["KEP 10 ROWS", "KEEP 10", esper("#lenght(10)"), spl("count")])
def test_a_mistake_in_a_language_does_not_suggest_another_language(
    trades: DataFrame, policy: Any
) -> None:
    assert "The text is one of" not in said(lambda: keep(trades, policy, order_by="seq"))


@pytest.mark.parametrize(
    ("policy", "clause"),
    [
        ("SELECT * FROM Trade KEEP 100 ROWS", ": KEEP 100 ROWS"),
        ("select * from Trade keep 5 minutes where price > 3;", ": keep 5 minutes"),
        ("CREATE WINDOW W (a long) KEEP 5 ROWS PER (symbol);", ": KEEP 5 ROWS PER (symbol);"),
        ("INSERT INTO W SELECT * FROM Trade KEEP ALL", ": KEEP ALL"),
        ("CREATE WINDOW W (a long)\nKEEP\n5 ROWS", ", such as KEEP 100 ROWS"),
        ("CREATE WINDOW W (a long) KEEP LAST", ", such as KEEP 100 ROWS"),
    ],
)
def test_a_statement_of_ccl_is_reduced_to_its_keep_clause(
    trades: DataFrame, policy: str, clause: str
) -> None:
    text = said(lambda: keep(trades, policy, order_by="seq"))
    assert f"expected KEEP. Give only the KEEP clause{clause}\n" in text
    assert "The text is one of" not in text


@pytest.mark.parametrize("name", ["show", "count", "collect", "writeStream", "withColumn"])
def test_a_method_of_a_dataframe_gets_the_outputs_to_call_first(
    trades: DataFrame, name: str
) -> None:
    kept = keep(trades, rows=2, order_by="seq")
    with pytest.raises(AttributeError, match=r"no DataFrame yet. Call changes\(\), rows\(\)"):
        getattr(kept, name)
    assert not hasattr(kept, name)


@pytest.mark.parametrize("name", ["length", "_show", "__len__"])
def test_other_names_are_unknown_as_usual(trades: DataFrame, name: str) -> None:
    with pytest.raises(AttributeError) as caught:
        getattr(keep(trades, rows=2, order_by="seq"), name)
    assert str(caught.value) == f"'Kept' object has no attribute '{name}'"


@pytest.mark.parametrize(
    ("key", "instead"),
    [
        ("seq desc", 'F.desc("seq")'),
        ("price ASC", 'F.asc("price")'),
        ("price desc nulls last", 'F.desc_nulls_last("price")'),
    ],
)
def test_a_direction_in_a_name_gets_the_function_to_call(
    trades: DataFrame, key: str, instead: str
) -> None:
    assert f"write {instead}" in said(lambda: keep(trades, rows=2, order_by=["symbol", key]))
    rows = trades.withColumnRenamed("seq", key)
    assert keep(rows, rows=2, order_by=key).rows().count() == 2


@pytest.mark.parametrize(
    ("policy", "params", "parts"),
    [
        ("KEEP LAST 5 ROWS", None, ["not LAST", "KEEP 5 ROWS keeps the newest 5 rows"]),
        ("KEEP THE LAST 5 ROWS", None, ["not THE", "KEEP 5 ROWS"]),
        ("KEEP EVERY LAST 5 MINUTES", None, ["not LAST"]),
        ("KEEP n ROWS", None, ['params={"n": 100}', "params => named_struct('n', 100)"]),
        ("KEEP 5 ROWS SLACK n", None, ['params={"n": 100}']),
        ("KEEP symbol ROWS", None, ["symbol is a column", "Write a number"]),
        (esper("#length(n)"), None, ['params={"n": 100}', "named_struct('n', 100)"]),
        (apama("retain n"), None, ['params={"n": 100}']),
        (spl("sliding, count(n)"), None, ['params={"n": 100}']),
        ("KEEP n ROWS", {"n": "five"}, ["n is a text", 'params={"n": 100}']),
        ("KEEP n ROWS", {"n": "5"}, ["n is a text", 'params={"n": 100}']),
        ("KEEP n", {"n": "five"}, ["of parameter n", "such as '10 minutes'"]),
        ("KEEP n + 1 ROWS", {"n": "5"}, ["Give a number, without quotes"]),
        (esper("#length(n)"), {"n": "5"}, ["Give a number, without quotes"]),
    ],
)
def test_a_missing_or_unsuitable_value_gets_an_example(
    trades: DataFrame, policy: Any, params: dict[str, Any] | None, parts: list[str]
) -> None:
    text = said(lambda: keep(trades, policy, params=params, order_by="seq"))
    assert [part for part in parts if part not in text] == []


@pytest.mark.parametrize("interval", ["5", "five", "", "soon"])
def test_an_interval_names_its_keyword(trades: DataFrame, interval: str) -> None:
    text = said(lambda: keep(trades, interval=interval))
    assert "of parameter interval" in text
    assert "such as '10 minutes'" in text


def test_other_objects_get_a_hint_at_the_dataframe_to_pass(trades: DataFrame) -> None:
    kept = keep(trades, rows=2, order_by="seq")
    for given, instead in (
        (kept, "kept.changes()"),
        (trades.groupBy("symbol"), 'per="'),
        ("trades", "spark.table"),
    ):
        with pytest.raises(PySparkTypeError, match="takes a DataFrame") as caught:
            keep(given, rows=2)  # type: ignore[arg-type]
        assert instead in str(caught.value)


def test_missing_aggregates_are_requested_in_python_and_sql(trades: DataFrame) -> None:
    text = said(lambda: keep(trades, rows=2, order_by="seq").agg())
    assert 'agg(F.avg("price"))' in text
    assert "aggregates => TABLE(" in text


def test_an_aggregate_with_over_gets_a_hint_to_omit_it(trades: DataFrame) -> None:
    kept = keep(trades, rows=2, order_by="seq")
    over = F.avg("price").over(Window.partitionBy("symbol").orderBy("seq"))
    for call in (lambda: kept.withColumns({"mean": over}), lambda: kept.agg(over)):
        text = said(call)
        if "MISSING_GROUP_BY" not in text:
            assert "instead of F.avg" in text
    assert "instead of F.avg" in said(lambda: kept.withColumns({"mean": over}))


def test_a_group_is_named_as_in_the_call(spark: SparkSession, trades: DataFrame) -> None:
    rows = trades.withColumn("m", F.create_map("symbol", "price"))
    text = said(lambda: keep(rows, rows=2, per="m"))
    assert "WINOPS_GROUP_TYPE" in text
    conflict = said(lambda: keep(trades, "KEEP 2 ROWS PER (symbol)", per="seq"))
    windows = {"a": "KEEP 2 ROWS PER (symbol)", "b": "KEEP 2 ROWS PER (seq)"}
    for message in (text, conflict, said(lambda: keep(trades, windows))):
        assert "_pyspark" not in message
        assert "spark_catalog" not in message


def test_a_changed_column_is_named(replay: NewReplay, spark: SparkSession) -> None:
    stream = replay(SCHEMA)
    stream.add([(1, "A", 5.0)])
    stream.run(keep(stream.rows(), rows=2, order_by="seq").changes())
    stream.add([(2, "A", 6.0)])
    rows = stream.rows().withColumn("price", F.col("price").cast("long"))
    text = failure(stream.start(keep(rows, rows=2, order_by="seq").changes()))
    assert "WINOPS_POLICY_CHANGED" in text
    assert "In the checkpoint: column price = double" in text
    assert "In this query: column price = long" in text
    assert "column price needs history" in text
    assert "metadata" not in text


@pytest.mark.parametrize(
    "name",
    [
        "keep",
        "winops_state",
        "winops_repartition",
        "winops_forget",
        "winops_version",
        "winops_sample",
    ],
)
def test_describe_function_explains_each_function(spark: SparkSession, name: str) -> None:
    rows = spark.sql(f"DESCRIBE FUNCTION EXTENDED {name}").collect()
    text = "\n".join(row[0] for row in rows)
    assert "N/A" not in text, text
    assert f"Usage: {name}(" in text


def test_describe_function_has_the_arguments_of_keep(spark: SparkSession) -> None:
    text = "\n".join(row[0] for row in spark.sql("DESCRIBE FUNCTION EXTENDED keep").collect())
    assert "max_content" in text
    assert "KEEP 100 ROWS" in text


def test_get_message_returns_the_message_of_a_condition(trades: DataFrame) -> None:
    with pytest.raises(AnalysisException) as caught:
        keep(trades, "KEEP 100 ROWS PER (symbl)")
    message = caught.value.getMessage()
    assert message is not None
    assert "there is no symbl" in message
    with pytest.raises(PySparkException) as failed:
        keep(trades, "KEEP ALL", max_rows=1, order_by="seq").rows().collect()
    assert "WINOPS_MAX_ROWS" in str(failed.value.getMessage())


def test_a_window_that_is_too_large_for_a_value_names_its_limit(trades: DataFrame) -> None:
    kept = keep(trades, spl("tumbling, count(2)"), order_by="seq")
    text = said(lambda: kept.events(max_rows=1).collect())
    assert "WINOPS_CONTENT_SIZE" in text
    assert "events(max_rows=n)" in text
    assert [len(row.rows) for row in kept.events(max_rows=2).collect()] == [1, 1, 2]
