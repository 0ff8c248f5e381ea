"""Each code on the right-hand side of the tables of coming-from.md is one that runs."""

from __future__ import annotations

import re
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tests.support.paths import ROOT
from tests.support.transports import first_cases
from winops import Kept, esper, keep, testing

SECTIONS = [
    "Flink SQL",
    "Siddhi",
    "Esper",
    "kdb+ and q",
    "Databricks' rolling windows",
    "pandas",
]
SCHEMA = "k string, id long, ts timestamp, x double, price double"

# Parts of a code that are no code by themselves, such as the name of a function of a frame that
# stands beside them.
WORDS = re.compile(
    r"[a-z_]+(\([a-z_]*(, ?\d)?\))?|x / lag\(x\)|try_divide\(x, lag\(x\)\)|_change_type"
    r"|CASE WHEN .* END"
)


def rows_of(section: str) -> list[tuple[str, str]]:
    page = (ROOT / "docs" / "coming-from.md").read_text(encoding="utf-8")
    _, _, text = page.partition(f"\n## {section}\n")
    cells = re.findall(r"^\| (.+?) \| (.+) \|$", text.partition("\n## ")[0], re.MULTILINE)
    return cells[1:]


def codes(cell: str) -> list[str]:
    return [code.strip() for code in re.findall(r"`+([^`]+)`+", cell)]


def test_the_page_has_a_table_for_each_tool() -> None:
    for section in SECTIONS:
        cells = rows_of(section)
        assert len(cells) >= 9, section
        assert sum(other.startswith("none") for _, other in cells) >= 1, section
        assert sum(bool(codes(other)) for _, other in cells) >= 7, section


@pytest.fixture(scope="module")
def rows(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame([], SCHEMA)


def check(code: str, rows: DataFrame) -> str:
    """Run a code, and return its kind."""
    names: dict[str, Any] = {"F": F, "esper": esper, "rows": rows}
    if code.startswith(("KEEP", "esper(")):
        policy = eval(code, names) if code.startswith("esper(") else code
        kept = keep(rows, policy, order_by="id", time="ts")
        assert kept.describe()
        assert kept.changes().columns[-5:] == rows.columns
        if "(select avg" in code or "sum(x) as" in code:
            assert kept.agg().columns
        return "policy"
    if " OVER " in code and "..." not in code:
        given = [{"k": "a", "id": 1, "x": 2.0, "price": 1.0, "ts": None}]
        assert len(testing.over(given, code, schema=SCHEMA, null_time="drop")) == 0
        return "function"
    if code.startswith("groupBy("):
        assert eval(f"rows.{code}.count()", names).columns
        return "grouping"
    if re.match(r"(per|time|idle|key)=", code):
        assert eval(
            f'keep(rows, "KEEP 2 ROWS", order_by="id", **({{"time": "ts"}} | dict({code})))',
            {**names, "keep": keep},
        )
        return "argument"
    if code.startswith("withWatermark("):
        assert eval(f"rows.{code}", names).columns
        return "watermark"
    if code.startswith("mode="):
        assert eval(
            f'keep(rows, rows=2, order_by="id").agg(F.count("*"), {code})',
            {**names, "keep": keep},
        ).columns
        return "mode"
    if code.endswith("()") and hasattr(Kept, code[:-2]):
        return "output"
    assert WORDS.fullmatch(code), code
    return "word"


@pytest.mark.parametrize("section", first_cases(SECTIONS, short=4, on_connect=1))
def test_each_code_of_a_table_runs(rows: DataFrame, section: str) -> None:
    kinds = [check(code, rows) for _, cell in rows_of(section) for code in codes(cell)]
    assert kinds.count("policy") >= 2
    assert len(kinds) - kinds.count("word") >= 9


def test_a_code_that_does_not_run_is_found(rows: DataFrame) -> None:
    for wrong in ("KEEP 2 LINES", 'esper("#lenght(3)")', "sum(y) OVER (ORDER BY ts)", "x +"):
        with pytest.raises(Exception, match=r"WINOPS|x \+"):
            check(wrong, rows)
