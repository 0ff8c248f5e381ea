"""The operator's task returns the answers that the conformance cases expect."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from types import SimpleNamespace

import pytest

from tests.support.paths import ROOT
from tests.support.transports import same_on_connect

CASES = ROOT / "tests" / "data" / "conformance"

NAMES = [
    json.loads(line)["name"]
    for file in sorted(CASES.rglob("*.jsonl"))
    for line in file.read_text("utf-8").splitlines()
]


@pytest.fixture(scope="module")
def runner() -> Iterator[SimpleNamespace]:
    """The modules that run a case, and the cases by name, without the steps left out."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "tests" / "conformance"))
        cases, values, compare, task = map(import_module, ("cases", "values", "compare", "task"))
        known = map(values.comparable, map(cases.without_silent_beginning, cases.load([CASES])))
        yield SimpleNamespace(
            cases={case["name"]: case for case in known},
            posted_rows=cases.posted_rows,
            compare=compare.compare,
            answers=task.answers,
        )


@same_on_connect
@pytest.mark.parametrize("name", NAMES)
def test_a_case(runner: SimpleNamespace, name: str) -> None:
    """A stream that stores its state after every input returns every expected row.

    A stream in a few micro-batches and a table return the same rows, see ``task``.
    """
    (case,), (answer,) = runner.answers([runner.cases[name]])
    found = runner.compare(case, answer)
    assert found.difference is None, found.difference
    assert found.rows == runner.posted_rows(case.get("expect", []))


def test_the_numbers_of_the_cases(runner: SimpleNamespace) -> None:
    """The cases have as many rows as before, and leave out as many."""
    cases = runner.cases.values()
    assert len(cases) == len(NAMES) == 1022
    assert sum(runner.posted_rows(case.get("expect", [])) for case in cases) == 37056
    left_out: Counter = Counter()
    for case in cases:
        left_out.update(case["left_out"])
    assert left_out == {
        "values of groups that a hint drops": 10,
        "steps before the first row": 35,
        "NULL as the key of a group before its first row": 11,
    }
    assert len({case["error"] for case in cases if "error" in case}) > 9
