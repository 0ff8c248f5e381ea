"""Windows with a primary key: cases by hand, the naive reference, and the operator."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.support import keyed, keyed_cases
from tests.support.keyed_cases import Case

CASES = keyed_cases.load()
RULES = keyed_cases.FOLDER / "README.md"


def named(case: Case) -> str:
    return case["name"].removeprefix("keyed/")


@pytest.mark.parametrize("case", CASES, ids=named)
def test_the_reference_gives_what_a_case_by_hand_expects(case: Case) -> None:
    if "error" in case:
        with pytest.raises(keyed.QueryFails, match=case["error"]):
            keyed_cases.expected(case)
        return
    answer = keyed_cases.expected(case)
    assert in_order(case, answer.changes()) == in_order(case, keyed_cases.numbered(case))
    held = [row for group in answer.groups.values() for row in last_content(group)]
    assert as_set(held) == as_set(case["final"])
    check_values(case, answer)
    check_enriched(case, answer)
    inputs = sum("row" in entry for entry in case["input"])
    counts = answer.counts
    applied = counts.entered + counts.updated + counts.deleted
    assert inputs == applied + counts.late + counts.refused


def in_order(case: Case, changes: list[keyed.Change]) -> list[Any]:
    """Group changes by the group, in which they have an order; others have none."""
    group = keyed_cases.group_of(case)

    def place(change: keyed.Change) -> tuple[str, int, str]:
        name = repr(keyed.values_of(group, change.row))
        return name, -1 if change.seq is None else change.seq, json.dumps(change.row)

    return sorted(changes, key=place)


def as_set(rows: list[keyed.Row]) -> list[str]:
    return sorted(json.dumps(row, sort_keys=True) for row in rows)


def last_content(group: keyed.Group) -> list[keyed.Row]:
    return group.steps[-1].content


def check_values(case: Case, answer: keyed.Answer) -> None:
    steps = [step for group in answer.groups.values() for step in group.steps]
    if any("values" in step for step in case["expect"]):
        found = [keyed_cases.count_and_sum(step.content) for step in steps]
        assert found == [step["values"] for step in case["expect"]]


def check_enriched(case: Case, answer: keyed.Answer) -> None:
    if "corrections" in case:
        found = [
            [row.row, keyed_cases.count_and_sum(row.content)]
            for group in answer.groups.values()
            for row in group.enriched
            if case["corrections"] or not row.is_correction
        ]
        assert found == case["enriched"]


def test_every_rule_of_operations_and_windows_has_a_case() -> None:
    rules = re.findall(r"^\* \*\*(K\d+)\*\*", RULES.read_text(encoding="utf-8"), re.MULTILINE)
    assert rules == [f"K{number}" for number in range(1, 56)]
    tested = {rule for case in CASES for rule in case["rules"]}
    assert tested <= set(rules)
    # Other rules are about splits, restarts and outputs of Spark, which random tests compare.
    assert set(rules) - tested == {"K1", "K28", "K35", "K38", "K43", "K44", "K54", "K55"}


def test_names_of_cases_are_unique() -> None:
    assert len({case["name"] for case in CASES}) == len(CASES) >= 60
