"""The tests that docs/contributing/bug-classes.md names exist."""

from __future__ import annotations

import re
from collections import defaultdict

import pytest

from tests.support.paths import ROOT
from tests.support.suites import python_tests, scala_tests

PAGE = ROOT / "docs" / "contributing" / "bug-classes.md"
NAMED = re.findall(r"`(\w+): ([^`]+)`", PAGE.read_text())


def names_by_module() -> dict[str, list[str]]:
    """Return the names of all tests, by file name."""
    found: dict[str, list[str]] = defaultdict(list)
    for file in ROOT.glob("jvm/*/src/test/**/*.scala"):
        found[file.stem] += scala_tests(file.read_text())
    for file in ROOT.glob("tests/**/test_*.py"):
        found[file.stem] += python_tests(file.read_text())
    return found


@pytest.fixture(scope="module")
def written() -> dict[str, list[str]]:
    return names_by_module()


@pytest.mark.parametrize(("module", "name"), NAMED, ids=lambda text: text[:60])
def test_a_named_test_exists(written: dict[str, list[str]], module: str, name: str) -> None:
    """Parts of some names are known only at run time."""
    assert any(name in test for test in written[module]), f"{module} has no {name}"


@pytest.mark.parametrize(
    "function", ["test", "testEach", "testStores", "all", "messages", "property"]
)
def test_names_of_tests_are_found(function: str) -> None:
    same_line, next_line = f'{function}("one")', f'  {function}(\n    s"$some others"'
    of_type = f'{function}[(String, Seq[Int])]("typed")'
    source = f'{same_line} {{\n{next_line})(1, 2)\n{of_type}\n  latest("no test")'
    assert scala_tests(source) == ["one", "$some others", "typed"]


def test_every_class_names_a_test() -> None:
    text = PAGE.read_text().replace("\n## Extreme values\n", "")
    classes = re.split(r"^##+ ", text, flags=re.MULTILINE)[1:]
    assert len(classes) > 20
    assert [
        of.splitlines()[0] for of in classes if not re.search(r"^\* `\w+: ", of, re.MULTILINE)
    ] == []
