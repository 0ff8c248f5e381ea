"""Values in calls of the operator, in sessions that parse SQL literals differently."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

import pytest
from pyspark.sql import DataFrame, SparkSession

from tests.support.transports import first_cases
from winops import keep
from winops._literals import Value, array, literal, struct

SETTINGS = {
    "spark.sql.parser.escapedStringLiterals": ("true", "false"),
    "spark.sql.variable.substitute": ("true", "false"),
    "spark.sql.ansi.enabled": ("true", "false"),
    "spark.sql.legacy.parameterSubstitution.constantsOnly": ("true", "false"),
    "spark.sql.ansi.doubleQuotedIdentifiers": ("true", "false"),
}

TEXTS = [
    "",
    "KEEP 2 ROWS",
    "'", "''", '"', "`", "\\", "\\'", "\\u0027", "\n\r\t", "\x00", "%", "_",
    "${spark.app.name}", "{df}", "{{", "}", ":policy", "?", "--", "/*", "$$", "r'x'",
    "schöne Grüße", "日本", "🎈", "X'00'",
]  # fmt: skip
NUMBERS: list[Value] = [
    0, 1, -1, 2**63 - 1, -(2**63) + 1, 0.0, -0.0, 1.5, 1e-05, 5e-324, -1.7976931348623157e308,
    Decimal("1.50"), Decimal("-0.001"), Decimal("12345678901234567890.123456789"), None,
]  # fmt: skip


@pytest.fixture(params=first_cases(["all on", "all off", "as they are"], short=2, on_connect=1))
def session(spark: SparkSession, request: pytest.FixtureRequest) -> Iterator[SparkSession]:
    """Return the session with settings that change how Spark parses literals."""
    before = {name: spark.conf.get(name, None) for name in SETTINGS}
    if request.param != "as they are":
        for name, values in SETTINGS.items():
            spark.conf.set(name, values[request.param == "all off"])
    yield spark
    for name, value in before.items():
        if value is None:
            spark.conf.unset(name)
        else:
            spark.conf.set(name, value)


def test_literals_are_read_as_their_values(session: SparkSession) -> None:
    columns = ", ".join(literal(value) for value in [*TEXTS, *NUMBERS])
    (row,) = session.sql(f"SELECT {columns}").collect()
    assert [repr(value) for value in row] == [repr(value) for value in [*TEXTS, *NUMBERS]]
    # Spark formats DataFrames into the query, and the formatter interprets braces.
    (row,) = session.sql(f"SELECT {columns} FROM {{one}}", one=session.range(1)).collect()
    assert [repr(value) for value in row] == [repr(value) for value in [*TEXTS, *NUMBERS]]


def test_arrays_and_structs_hold_their_values_and_names(session: SparkSession) -> None:
    named: dict[str, Value] = {f"{i} {name}": i for i, name in enumerate(TEXTS)}
    (row,) = session.sql(f"SELECT {array(TEXTS)}, {struct(named)}, {array([])}").collect()
    assert row[0] == TEXTS
    assert row[1].asDict() == named
    assert row[2] == []


@pytest.mark.parametrize("text", TEXTS)
def test_no_character_of_a_text_appears_in_the_query(text: str) -> None:
    assert set(literal(text)) <= set("CAST(X'0123456789abcdef' AS STRING)")


def test_numbers_of_other_classes_are_written_as_numbers() -> None:
    class Odd(int):
        def __str__(self) -> str:
            return "1) --"

        __repr__ = __format__ = __str__  # type: ignore[assignment]

    class Strange(float):
        def __repr__(self) -> str:
            return "1') --"

    assert literal(Odd(7)) == "7L"
    assert literal(Strange(7.5)) == "CAST('7.5' AS DOUBLE)"
    assert literal("\ud800") == literal("?")


@pytest.fixture(scope="module")
def rows(spark: SparkSession) -> DataFrame:
    rows = spark.createDataFrame([(1, "A"), (2, "B"), (3, "A")], "seq long, s string")
    return rows.withColumnRenamed("s", "${s}")


def test_a_call_means_the_same_in_every_session(session: SparkSession, rows: DataFrame) -> None:
    kept = keep(
        rows,
        "KEEP n ROWS",
        params={"n": 1},
        per="${s}",
        order_by="seq",
        max_rows=5,
        key_columns=["seq"],
    )
    assert [row.seq for row in kept.rows().orderBy("seq").collect()] == [2, 3]
    names = ["{x}", "${x}", "\\", "'"]
    several = keep(rows, dict.fromkeys(names, "KEEP 1 ROW"), order_by="seq").changes()
    assert {row["_window"] for row in several.collect()} == set(names)
