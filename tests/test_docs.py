"""Everything that the documentation shows runs, and gives what it says."""

from __future__ import annotations

import doctest
import importlib
import json
import pkgutil
import re
import warnings
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import winops
from tests.support.markdown import blocks
from winops import _errors

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
MODULES = sorted(f"winops.{found.name}" for found in pkgutil.iter_modules(winops.__path__))
CONDITIONS = ROOT / "jvm/spark/src/main/resources/error/winops-error-conditions.json"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_blocks_of_a_page(
    spark: SparkSession, page: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names: dict[str, Any] = {"spark": spark}
    for block in blocks(page):
        capsys.readouterr()
        with warnings.catch_warnings():
            # The session is there already, and takes no static settings any more.
            warnings.simplefilter("ignore", UserWarning)
            if block.language == "sql":
                spark.sql(block.code).collect()
            else:
                exec(compile(block.code, str(page), "exec"), names)
        if block.printed is not None:
            assert capsys.readouterr().out == block.printed


@pytest.mark.parametrize("module", ["winops", *MODULES])
def test_the_examples_of_a_module(spark: SparkSession, module: str) -> None:
    loaded = importlib.import_module(module)
    results = doctest.testmod(loaded, extraglobs={"spark": spark})
    assert results.failed == 0
    if module in ("winops", "winops._keep", "winops._kept", "winops._session"):
        assert results.attempted > 0


def test_the_quickstart_is_that_of_the_readme() -> None:
    first = blocks(ROOT / "README.md")[0]
    assert first.language == "python"
    assert (ROOT / "examples" / "quickstart.py").read_text() == first.code


def test_every_error_condition_is_documented() -> None:
    own = {value for name, value in vars(_errors).items() if name.isupper()}
    spark_side = json.loads(CONDITIONS.read_text())
    page = (ROOT / "docs" / "errors.md").read_text()
    assert set(re.findall(r"^### (WINOPS_\w+)$", page, re.MULTILINE)) == own | set(spark_side)
    documented = set(re.findall(r"^\| `(WINOPS_\w+\.\w+)` ", page, re.MULTILINE))
    assert documented == {
        f"{name}.{kind}"
        for name, entry in spark_side.items()
        for kind in entry.get("subClass", {})
    }
    for name, entry in spark_side.items():
        section = page.split(f"### {name}\n")[1].split("\n#")[0]
        assert f"SQLSTATE {entry['sqlState']}" in section


def test_links_between_pages_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#]+)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_every_rule_of_restarts_has_tests_that_are_there() -> None:
    page = (ROOT / "docs" / "restarts.md").read_text()
    rules = re.findall(r"^\| (?!Change )\S.*$", page, re.MULTILINE)
    assert len(rules) > 25
    for rule in rules:
        named = re.findall(r"`(\w+\.py)::(\w+)`|`(\w+Suite): ([^`]+)`", rule.split(" | ")[-1])
        assert named, rule
        for file, function, suite, text in named:
            if file:
                assert f"\ndef {function}(" in (ROOT / "tests" / file).read_text(), rule
            else:
                (source,) = (ROOT / "jvm").glob(f"*/src/test/**/{suite}.scala")
                assert f'test("{text}")' in source.read_text(), rule


def test_everything_public_is_documented() -> None:
    for name in winops.__all__:
        thing = getattr(winops, name)
        assert "Examples\n" in thing.__doc__, name
