"""Untrusted texts and names can refer only to the columns of the rows."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tests.support.transports import first_cases, interpreted
from winops import apama, esper, keep, spl

TABLE = "secrets_of_others"
FUNCTION = "function_of_others"
VARIABLE = "variable_of_others"


@pytest.fixture(scope="module")
def rows(spark: SparkSession) -> Iterator[DataFrame]:
    """Return rows beside a view, a function and a variable that are unrelated to them."""
    spark.range(3).withColumn("hidden", F.lit("secret")).createOrReplaceTempView(TABLE)
    spark.sql(f"CREATE OR REPLACE TEMPORARY FUNCTION {FUNCTION}(x LONG) RETURNS LONG RETURN x")
    spark.sql(f"DECLARE OR REPLACE VARIABLE {VARIABLE} LONG DEFAULT 1")
    yield spark.createDataFrame([(1, "A"), (2, "B"), (3, "A")], "seq long, symbol string")
    spark.sql(f"DROP TEMPORARY VARIABLE {VARIABLE}")
    spark.sql(f"DROP TEMPORARY FUNCTION {FUNCTION}")
    spark.catalog.dropTempView(TABLE)


LONG = "'" + "a" * 3000 + "'"
OF_CLASS = '{"type": "udt", "class": "java.lang.Object", "sqlType": "string"}'


def nested(before: str, after: str) -> str:
    return before * 30 + "seq" + after * 30


HOSTILE = [
    "java_method('java.lang.System', 'exit', 3) = '1'",
    "reflect('java.lang.Runtime', 'getRuntime') = '1'",
    "try_reflect('java.lang.System', 'getenv', 'HOME') = '1'",
    f"{FUNCTION}(seq) > 0",
    f"session.{FUNCTION}(seq) > 0",
    f"{VARIABLE} > 0",
    f"session.{VARIABLE} > 0",
    f"seq in (select id from {TABLE})",
    f"exists (select 1 from {TABLE})",
    f"(select max(id) from {TABLE}) > 0",
    f"{TABLE}.hidden = 'secret'",
    f"{TABLE}.id > 0",
    "hidden = 'secret'",
    "_metadata.file_path = ''",
    ":policy = 'x'",
    "? = 1",
    "current_user() = 'x'",
    "user() = 'x'",
    "session_user() = 'x'",
    "current_catalog() = 'x'",
    "current_database() = 'x'",
    "current_schema() = 'x'",
    "version() = 'x'",
    "input_file_name() = 'x'",
    "spark_partition_id() = 0",
    "monotonically_increasing_id() = 0",
    "rand() < 0.5",
    "uuid() = 'x'",
    "now() is null",
    "current_date() is null",
    "raise_error('x') is null",
    "winops_version() = 'x'",
    "python_udf(seq) > 0",
    "explode(array(seq)) > 0",
    "row_number() over (order by seq) > 0",
    "repeat(symbol, 1000000000) = 'x'",
    "size(sequence(1, 1000000000)) > 0",
    "rpad(symbol, 2000000000, 'x') = 'x'",
    "format_string('%1000000000d', 1) = 'x'",
    "size(array_insert(array(seq), 1000000000, seq)) > 0",
    "format_number(seq, 2000000000) = 'x'",
    "round(cast(seq, double), 1000000000) > 0",
    "approx_count_distinct(seq, 0.0001) > 0",
    "length(count_min_sketch(seq, 0.000000001, 0.99, 1)) > 0",
    f"from_json(symbol, '{OF_CLASS}') is null",
    f"variant_get(parse_json(symbol), '$', '{OF_CLASS}') is null",
    f"date(replace(replace({LONG}, 'a', {LONG}), 'a', {LONG})) is null",
    f"length({nested('hex(', ')').replace('seq', repr('a'))}) > 0",
    f"rlike('{'a' * 40}', '(a+)+b')",
    nested("case ", " when 1 then 2 when 3 then 4 end") + " > 0",
    nested("nullif(", ", 1)") + " > 0",
    nested("right(", ", 2)") + " > 0",
    "seq > 0) union select (1",
    "seq > 0 /* */ -- \n or 1 = 1",
    "seq > 0; drop table t",
    "'${env:HOME}' = symbol -- ",
    "`symbol` = 'A' or `hidden",
    "\\u0027",
]


@pytest.mark.parametrize("place", ["#expr({})", "select * from S({})#length(3)"])
@pytest.mark.parametrize("expression", HOSTILE)
def test_expressions_reach_only_columns_and_functions_of_values(
    rows: DataFrame, place: str, expression: str
) -> None:
    with pytest.raises(AnalysisException) as refused:
        keep(rows, esper(place.format(expression)), order_by="seq").changes()
    assert str(refused.value.getCondition()).startswith("WINOPS_POLICY."), expression


@pytest.mark.parametrize(
    "policy",
    [
        "#unique({})",
        "#sort(3, {})",
        "#rank({}, 3, seq)",
        "#groupwin({})#length(3)",
        "#ext_timed(cast({}, long), 5 sec)",
        "#timetolive(cast({}, long))",
        "#expr_batch({} = '1')",
        "#length(3)#uni(cast({}, double))",
        "select max({}) from S#length(3)",
        "select count(*) from S#length(3) group by {}",
    ],
)
def test_expressions_in_other_positions_have_the_same_limits(
    rows: DataFrame, policy: str
) -> None:
    call = "java_method('java.lang.System', 'exit', 3)"
    with pytest.raises(AnalysisException) as refused:
        keep(rows, esper(policy.format(call)), order_by="seq").changes()
    assert str(refused.value.getCondition()).startswith("WINOPS_POLICY.")


@pytest.mark.parametrize(
    "policy",
    [
        "#unique({})",
        "#groupwin({})#length(3)",
        "#sort(3, {})",
        "#rank({}, 3, seq)",
        "select max(seq) from S#length(3) group by {}",
        "#length(3)#size({})",
        "#length(3){windows}",
    ],
)
def test_too_many_expressions_are_refused(rows: DataFrame, policy: str) -> None:
    many = ", ".join(f"seq + {n}" for n in range(500))
    windows = "".join(f"#expr(seq > {n})" for n in range(500))
    with pytest.raises(AnalysisException) as refused:
        keep(rows, esper(policy.format(many, windows=windows)), order_by="seq").changes()
    assert refused.value.getCondition() == "WINOPS_POLICY.LIMIT"


@pytest.mark.parametrize(
    "ending",
    first_cases(
        [
            "'), (SELECT 1",
            "${spark.app.name}",
            "\\'",
            "`",
            "{df}",
            "' --",
            '"; DROP TABLE t; --',
            "\n) SELECT *",
            ":policy",
            "\x00",
        ],
        short=4,
        on_connect=2,
    ),
)
def test_texts_cannot_leave_their_literals(rows: DataFrame, ending: str) -> None:
    for policy in (
        "KEEP 2 ROWS" + ending,
        apama("retain 2" + ending),
        spl("sliding" + ending),
    ):
        with pytest.raises(AnalysisException) as refused:
            keep(rows, policy, order_by="seq").changes()
        assert str(refused.value.getCondition()).startswith("WINOPS_POLICY."), policy
    for more in (
        {"time": f"seq{ending}"},
        {"punct": f"symbol{ending}"},
        {"idle": f"7 days{ending}"},
        {"per": f"symbol{ending}"},
        {"order_by": f"seq{ending}"},
        {"params": {f"n{ending}": 1, "m": f"5{ending}"}},
    ):
        policy = "KEEP m SECONDS" if "params" in more else "KEEP 2 ROWS"
        with pytest.raises(PySparkException) as refused:
            keep(rows, policy, **more).changes()
        assert str(refused.value.getCondition()).startswith(("WINOPS_", "UNRESOLVED_")), more


@interpreted
def test_column_names_cannot_leave_their_quotes(spark: SparkSession) -> None:
    odd = [
        "x`) ORDER BY (y",
        "a b",
        "'",
        '"',
        "{df}",
        "{0}",
        "a.b",
        ":policy",
        "?",
        "-- \n",
        "/*",
        "\\",
        "${x}",
    ]
    rows = spark.createDataFrame([(1, "A"), (2, "B"), (3, "A")], "seq long, s string")
    groups = rows.select("seq", *(F.col("s").alias(name) for name in odd))
    kept = keep(groups, rows=1, per=odd, order_by="seq").rows()
    assert kept.columns == ["seq", *odd]
    assert sorted(row[0] for row in kept.collect()) == [2, 3]
    numbers = rows.select(*(F.col("seq").alias(name) for name in odd))
    assert [row[0] for row in keep(numbers, rows=1, order_by=odd).rows().collect()] == [3]
    windows = keep(rows, dict.fromkeys(odd, "KEEP 1 ROW"), order_by="seq").changes()
    assert {row["_window"] for row in windows.collect()} == set(odd)


def test_aggregates_reach_only_the_rows_of_the_call(rows: DataFrame) -> None:
    kept = keep(rows, "KEEP 2 ROWS", order_by="seq")
    for column in (
        F.max(F.expr("java_method('java.lang.System', 'exit', '3')")),
        F.max(F.expr(f"(select max(id) from {TABLE})")),
        F.max("seq") + F.rand(),
        F.max(F.rand()),
        F.concat(F.max("symbol"), F.current_user()),
        F.sum(F.sum("seq")),
    ):
        with pytest.raises(AnalysisException):
            kept.agg(column).collect()


@pytest.fixture(scope="module")
def call(spark: SparkSession, rows: DataFrame) -> Iterator[str]:
    """Return a call up to its policy, which runs with one."""
    rows.createOrReplaceTempView("rows_of_ours")
    start = "SELECT * FROM keep(TABLE(rows_of_ours) WITH SINGLE PARTITION ORDER BY (seq)"
    assert spark.sql(f"{start}, 'KEEP 2 ROWS')").count() == 4
    yield start
    spark.catalog.dropTempView("rows_of_ours")


@pytest.mark.parametrize(
    "arguments",
    [
        f"(SELECT max(hidden) FROM {TABLE})",
        "esper => '#expr(current_user() = symbol)'",
        f"esper => '#expr(seq in (select id from {TABLE}))'",
        "'KEEP n ROWS', params => named_struct('n', rand())",
        f"'KEEP 2 ROWS', output => 'agg', aggregates => TABLE(SELECT max(id) FROM {TABLE})",
        "'KEEP 2 ROWS', class => 'java.lang.Runtime'",
    ],
)
def test_sql_calls_have_the_same_limits_as_python(
    spark: SparkSession, call: str, arguments: str
) -> None:
    with pytest.raises(PySparkException):
        spark.sql(f"{call}, {arguments})").collect()


@interpreted
def test_calls_leave_no_temporary_view(spark: SparkSession, rows: DataFrame) -> None:
    def views() -> set[str]:
        return {row[1] for row in spark.sql("SHOW VIEWS").collect()}

    before = views()
    kept = keep(rows, "KEEP 2 ROWS", order_by="seq")
    kept.changes().collect()
    kept.agg(F.max("seq")).collect()
    kept.withColumns({"n": F.count("*")}).collect()
    kept.describe()
    for wrong in ("KEEP", "KEEP 2 ROWS PER (nowhere)"):
        with pytest.raises(AnalysisException):
            keep(rows, wrong).changes().collect()
    with pytest.raises(AnalysisException):
        kept.agg(F.max("nowhere")).collect()
    assert views() == before
