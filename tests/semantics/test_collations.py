"""Strings with collations as group keys, sort keys and keys of windows."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import pytest
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from tests.support.replay import NewReplay, Replay, at, failure
from tests.support.transports import first_cases, same_on_connect
from winops import esper, keep, spl

pytestmark = same_on_connect

SCHEMA = "seq long, ts timestamp, s string, v double"
SPELLINGS = ["a", "B", None, "A", "b ", "á", "", "a", None, "Á", " ", "b", "A ", "B"]
ROWS = [(seq, at(seq), s, float(seq % 5)) for seq, s in enumerate(SPELLINGS)]
COLLATIONS = ["UTF8_LCASE", "UTF8_BINARY_RTRIM", "UNICODE", "UNICODE_CI", "UNICODE_CI_AI"]
FORMS = {
    "text": "s COLLATE {0}",
    "struct": "named_struct('x', s COLLATE {0}, 'y', 1)",
    "array": "array(s COLLATE {0}, NULL)",
    "array of structs": "array(named_struct('x', 0D, 'y', s COLLATE {0}))",
}
# Collations of three kinds in keys of several values, then the other pairs.
FIRST = [
    ("UNICODE_CI_AI", "array of structs"),
    ("UTF8_LCASE", "array"),
    ("UTF8_BINARY_RTRIM", "struct"),
]
PAIRS = [*FIRST, *(pair for pair in product(COLLATIONS, FORMS) if pair not in FIRST)]


def collated(rows: DataFrame, collation: str, form: str = "text") -> DataFrame:
    return rows.withColumn("k", F.expr(FORMS[form].format(collation)))


def as_text(df: DataFrame) -> list[tuple]:
    """Return rows as tuples in a fixed order, with spaces and NULLs of strings visible."""
    return sorted((tuple(str(value) for value in row) for row in df.collect()), key=str)


@pytest.mark.parametrize(("collation", "form"), first_cases(PAIRS, len(FIRST)))
def test_groups_equal_those_of_group_by(spark: SparkSession, collation: str, form: str) -> None:
    """The groups are those of GROUP BY; each is shown as its first row writes it."""
    table = collated(spark.createDataFrame(ROWS, SCHEMA), collation, form)
    kept = keep(table, rows=99, per="k", order_by="seq")
    sizes = kept.agg(F.count("*").alias("n")).groupBy("k").agg(F.max("n").alias("n"))
    firsts = table.groupBy("k").agg(F.min_by("k", "seq").alias("k1"), F.count("*").alias("n"))
    assert as_text(sizes) == as_text(firsts.select("k1", "n"))
    rows = kept.rows().select("seq", "k")
    assert as_text(rows) == as_text(table.select("seq", "k"))


OUTPUTS: dict[str, Callable[[DataFrame], DataFrame]] = {
    "agg of changes": lambda df: keep(
        df, "KEEP 3 SECONDS PER (k)", time="ts", idle="4 seconds"
    ).agg(F.count("*").alias("n"), mode="changes"),
    "parts": lambda df: (
        keep(df, rows=4, time="ts").groupBy("k").agg(F.count("*").alias("n"), F.max("seq"))
    ),
    "unique": lambda df: keep(df, esper("#unique(k)"), time="ts").changes(),
    "rank": lambda df: keep(df, esper("#rank(k, 2, k)"), time="ts").changes(),
    "agg": lambda df: keep(df, "KEEP 2 ROWS PER (k)", time="ts").agg(F.sum("v").alias("t")),
    "parts of changes": lambda df: (
        keep(df, rows=4, time="ts").groupBy("k").agg(F.count("*").alias("n"), mode="changes")
    ),
    "select list": lambda df: keep(
        df,
        esper("select count(*) as n, k from S#groupwin(k)#length(2) group by k"),
        time="ts",
    ).agg(),
    "statistic": lambda df: keep(df, esper("#groupwin(k)#length(2)#uni(v, k)"), time="ts").agg(),
    "snapshots": lambda df: (
        keep(df, rows=2, per="k", time="ts")
        .snapshots()
        .select("k", "_change_step", "content.seq", "content.s")
    ),
    "events": lambda df: keep(
        df, spl("tumbling, count(2), partitioned"), per="k", time="ts"
    ).events(),
    "withColumns": lambda df: keep(df, rows=3, per="k", time="ts").withColumns(
        {"same": F.collect_list("s")}
    ),
    "sort": lambda df: keep(df, esper("#sort(3, k desc, v)"), time="ts").changes(),
    "order": lambda df: keep(df, rows=2, order_by=["k", "seq"], time="ts").changes(),
}


# A row that moves the watermark past all others; it waits itself.
LAST = (99, at(99), "z", 0.0)


def run_in_parts(
    stream: Replay, rows: list[tuple], result: Callable[[DataFrame], DataFrame]
) -> None:
    """Run a query over four micro-batches of rows, with a restart after the second."""
    for cuts in ((slice(0, 4), slice(4, 5)), (slice(5, 11), slice(11, None))):
        stream.add(*(rows[cut] for cut in cuts))
        if cuts[1].stop is None:
            stream.add([LAST])
        stream.run(result(stream.rows(("ts", "0 seconds"))))


@pytest.mark.parametrize("output", first_cases(list(OUTPUTS), 3))
def test_a_restarted_stream_equals_a_table(
    spark: SparkSession, replay: NewReplay, output: str
) -> None:
    """Keys are spelled as on a table, after any cut into micro-batches and a restart."""

    def result(df: DataFrame) -> DataFrame:
        return OUTPUTS[output](
            collated(df, "UNICODE_CI_AI" if "parts" in output else "UTF8_LCASE")
        )

    stream = replay(SCHEMA)
    run_in_parts(stream, ROWS, result)
    # The row that moved the watermark is applied on the table, and its time with it.
    expected, got = as_text(result(stream.table())), as_text(stream.written())
    rest = [row for row in got if row not in expected]
    assert rest == []
    assert len(ROWS) <= len(got) < len(expected)


def test_numbers_are_normalized_beside_a_collated_key(spark: SparkSession) -> None:
    table = collated(spark.createDataFrame(ROWS, SCHEMA), "UTF8_LCASE").withColumn(
        "z", F.lit(-0.0)
    )
    for keys in (["z"], ["k", "z"]):
        values = keep(table, rows=9, per=keys, order_by="seq").agg(F.count("*"))
        assert {str(row.z) for row in values.collect()} == {"0.0"}
    parts = keep(table, rows=9, order_by="seq").groupBy("k", "z").agg(F.count("*"))
    assert {str(row.z) for row in parts.collect()} == {"0.0"}


def spelled(table: DataFrame, policy: str) -> list[str]:
    kept = keep(table, esper(policy), order_by="seq").rows()
    return [row.s for row in sorted(kept.collect(), key=lambda row: row.seq)]


def test_windows_compare_keys_by_their_collation(spark: SparkSession) -> None:
    rows = [
        (1, at(1), "b", 1.0),
        (2, at(2), "A", 1.0),
        (3, at(3), "B", 1.0),
        (4, at(4), "c", 1.0),
    ]
    table = collated(spark.createDataFrame(rows, SCHEMA), "UNICODE_CI")
    assert spelled(table, "#unique(k)") == ["A", "B", "c"]
    assert spelled(table, "#firstunique(k)") == ["b", "A", "c"]
    assert spelled(table, "#sort(3, k)") == ["b", "A", "B"]
    assert spelled(table, "#sort(2, k desc)") == ["B", "c"]
    assert spelled(table, "#rank(k, 1, k desc)") == ["c"]
    binary = table.withColumn("k", F.col("s"))
    assert spelled(binary, "#sort(3, k)") == ["b", "A", "B"]
    assert spelled(binary, "#unique(k)") == ["b", "A", "B", "c"]


def test_a_restart_with_another_collation_is_refused(replay: NewReplay) -> None:
    stream = replay(SCHEMA)
    stream.add(ROWS[:4])
    stream.run(keep(collated(stream.rows(), "UTF8_LCASE"), rows=2, per="k").changes())
    stream.add(ROWS[4:])
    other = keep(collated(stream.rows(), "UNICODE_CI"), rows=2, per="k").changes()
    assert "WINOPS_POLICY_CHANGED" in failure(stream.start(other))


@pytest.mark.parametrize(
    ("collation", "form"),
    first_cases([pair for pair in PAIRS if pair[1] in ("text", "array of structs")], 1),
)
def test_window_functions_of_a_stream_equal_those_of_a_table(
    spark: SparkSession, replay: NewReplay, collation: str, form: str
) -> None:
    def functions(df: DataFrame) -> DataFrame:
        df = collated(df, collation, form)
        partition = Window.partitionBy("k").orderBy("ts")
        ordered = Window.partitionBy(F.col("v") > 2).orderBy("ts", "k", "seq")
        return df.select(
            "seq",
            "k",
            F.lag("s").over(partition.orderBy("ts", "seq")).alias("before"),
            F.count("*").over(partition).alias("n"),
            F.first("seq").over(ordered.rowsBetween(-2, 0)).alias("first"),
            F.rank().over(Window.partitionBy("k").orderBy("ts", "k")).alias("rank"),
        )

    rows = [(seq, at(seq // 3), s, v) for seq, _, s, v in ROWS]
    stream = replay(SCHEMA)
    run_in_parts(stream, rows, functions)
    expected = as_text(functions(stream.table()).where("seq < 99"))
    assert as_text(stream.written()) == expected
