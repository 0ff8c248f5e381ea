"""Sort orders other than ascending, in Python and in SQL, on a table and on a stream."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from tests.support.replay import NewReplay
from tests.support.transports import longer_on_connect
from winops import keep

SCHEMA = "k string, seq long, `o{d}d` double"
ROWS = [
    ("a", 3, 0.5),
    ("a", None, 1.5),
    ("b", 1, None),
    ("a", 1, 2.5),
    ("b", 2, 0.5),
    ("a", 2, None),
    ("b", None, 3.5),
    ("b", 2, 0.25),
]
ORDERS: list[tuple[Callable[[], list[str | Column]], str]] = [
    (lambda: ["seq", "o{d}d"], "seq, `o{d}d`"),
    (lambda: [F.desc("seq"), "o{d}d"], "seq DESC, `o{d}d`"),
    (lambda: [F.col("seq").desc(), F.col("o{d}d").asc_nulls_last()],
     "seq DESC, `o{d}d` ASC NULLS LAST"),
    (lambda: [F.asc_nulls_last("seq"), F.desc_nulls_first("o{d}d")],
     "seq ASC NULLS LAST, `o{d}d` DESC NULLS FIRST"),
    (lambda: [F.desc(F.col("seq") % 2), F.coalesce("seq", F.lit(9)), "o{d}d"],
     "seq % 2 DESC, coalesce(seq, 9), `o{d}d`"),
]  # fmt: skip


@pytest.fixture(scope="module")
def rows(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame(ROWS, SCHEMA)


def changes(kept: DataFrame, of: str) -> DataFrame:
    columns = (F.lit(of), "k", "_change_seq", "_change_type", "seq", "`o{d}d`")
    return kept.select(*columns)


def expected(place: int, row: tuple[Any, ...], before: list[tuple[Any, ...]]) -> list[Any]:
    """Return the changes of a window of two rows when a row arrives at the given position."""
    number = place if place < 2 else 2 * place - 2
    inserted = (number, "insert", *row)
    return [inserted] if place < 2 else [inserted, (number + 1, "delete", *before[place - 2])]


def test_columns_order_rows_as_in_sort_and_sql(spark: SparkSession, rows: DataFrame) -> None:
    found, sorted_rows, values = [], [], []
    for make, sql in ORDERS:
        order = make()
        kept = keep(rows, rows=2, per="k", order_by=order)
        clause = sql.replace("{", "{{").replace("}", "}}")
        table = f"TABLE({{t}}) PARTITION BY (k) ORDER BY ({clause})"
        in_sql = spark.sql(f"SELECT * FROM keep({table}, 'KEEP 2 ROWS')", t=rows)
        found += [changes(kept.changes(), f"python {sql}"), changes(in_sql, f"sql {sql}")]
        values.append(kept.agg(F.count("*").alias("n")))
        # The order of Spark's own sort.
        keys = [F.col(f"`{key}`") if isinstance(key, str) else key for key in order]
        place = F.row_number().over(Window.partitionBy("k").orderBy(*keys))
        sorted_rows.append(rows.select(F.lit(sql), "k", place, "seq", "`o{d}d`"))
    wanted = []
    by_group: dict[tuple[str, str], list[tuple[Any, ...]]] = {}
    places = [tuple(row) for row in reduce(DataFrame.union, sorted_rows).collect()]
    for sql, k, place, *row in sorted(places, key=lambda one: one[:3]):
        group = by_group.setdefault((sql, k), [])
        group.append(tuple(row))
        for change in expected(place - 1, tuple(row), group):
            wanted += [(f"{way} {sql}", k, *change) for way in ("python", "sql")]
    given = [tuple(row) for row in reduce(DataFrame.union, found).collect()]
    assert sorted(given, key=repr) == sorted(wanted, key=repr)
    assert reduce(DataFrame.union, values).count() == len(ORDERS) * len(ROWS)


def test_one_column_needs_no_list(rows: DataFrame) -> None:
    kept = keep(rows.where("seq < 3"), rows=1, per="k", order_by=F.desc("seq"))
    assert sorted((row.k, row.seq) for row in kept.rows().collect()) == [("a", 1), ("b", 1)]
    assert "order_by=(" in repr(kept)


@longer_on_connect
def test_a_stream_may_be_ordered_downwards(replay: NewReplay) -> None:
    stream = replay("k string, seq long")
    stream.add([("a", 1), ("a", 3), ("a", 2)], [("a", 6), ("a", 5), ("a", 7)])
    kept = keep(stream.rows(), "KEEP 2 ROWS", per="k", order_by=F.desc("seq"))
    stream.run(kept.changes())
    output = stream.written().sort("_change_seq").collect()
    inserted = [row.seq for row in output if row["_change_type"] == "insert"]
    assert inserted == [3, 2, 1, 7, 6, 5]
    assert [row.seq for row in output if row["_change_type"] == "delete"] == [3, 2, 1, 7]


@pytest.mark.parametrize("table", ["ordered_input", "SELECT * FROM ordered_input"])
def test_order_by_in_sql_is_over_the_table_by_name_or_as_a_query(
    rows: DataFrame, table: str
) -> None:
    rows.createOrReplaceTempView("ordered_input")
    order = "order_by => TABLE(SELECT * FROM ordered_input ORDER BY seq)"
    kept = rows.sparkSession.sql(
        f"SELECT seq FROM keep(TABLE({table}), 'KEEP 1 ROW', {order}, output => 'rows')"
    )
    assert [row.seq for row in kept.collect()] == [rows.agg(F.max("seq")).collect()[0][0]]


@pytest.mark.parametrize(
    ("clause", "arguments", "condition"),
    [
        ("", "order_by => TABLE(SELECT * FROM {o} ORDER BY more)", "VALUE"),
        ("", "order_by => TABLE(SELECT * FROM {t})", "VALUE"),
        ("", "order_by => 'seq'", "VALUE"),
        (
            "PARTITION BY (k) ORDER BY (seq)",
            "order_by => TABLE(SELECT * FROM {t} ORDER BY seq)",
            "DUPLICATE",
        ),
    ],
)
def test_an_invalid_order_is_refused_in_sql(
    spark: SparkSession, rows: DataFrame, clause: str, arguments: str, condition: str
) -> None:
    query = f"SELECT * FROM keep(TABLE({{t}}) {clause}, 'KEEP 2 ROWS', {arguments})"
    with pytest.raises(AnalysisException) as caught:
        spark.sql(query, t=rows, o=rows.withColumn("more", F.lit(1)))
    assert caught.value.getCondition() == f"WINOPS_ARGUMENT.{condition}"


def test_an_invalid_order_is_refused(rows: DataFrame) -> None:
    with pytest.raises(AnalysisException) as caught:
        keep(rows, rows=2, order_by=F.desc("nowhere"))
    assert str(caught.value.getCondition()).startswith("UNRESOLVED_COLUMN")
    with pytest.raises(AnalysisException) as caught:
        keep(rows, rows=2, order_by=F.desc(F.rand()))
    assert str(caught.value.getCondition()).startswith("WINOPS_ARGUMENT")
