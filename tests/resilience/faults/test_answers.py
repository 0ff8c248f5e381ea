"""The campaign's comparison detects lost, duplicated and wrong rows."""

from __future__ import annotations

import pytest

from tests.resilience.faults.answers import Fact, Verdict, compare
from tests.support.transports import same_on_connect

EXPECTED = {"a": ["one", "two", "three"], "b": ["four"]}
ONE, TWO, THREE = ("a", 0, "one"), ("a", 1, "two"), ("a", 2, "three")
FOUR = ("b", 0, "four")


@same_on_connect
@pytest.mark.parametrize(
    ("committed", "ended", "verdict"),
    [
        ([ONE, TWO], False, Verdict(2)),
        ([ONE, TWO, THREE, FOUR], True, Verdict(4)),
        ([ONE, TWO, FOUR], True, Verdict(3, lost=1)),
        ([ONE, THREE], False, Verdict(2, lost=1, wrong=1)),
        ([ONE, ONE, TWO], False, Verdict(2, doubled=1)),
        ([("a", 0, "two"), ("a", 1, "one")], False, Verdict(2, wrong=1)),
        ([ONE, ("a", 1, "other")], False, Verdict(2, lost=1, wrong=1)),
        ([FOUR, ("c", 0, "none's")], False, Verdict(2, wrong=1)),
    ],
)
def test_lost_duplicated_and_wrong_rows_are_counted(
    committed: list[Fact], ended: bool, verdict: Verdict
) -> None:
    found = compare(EXPECTED, committed, ended=ended, at_least_once=False)
    assert found == verdict


@same_on_connect
def test_a_row_may_be_written_twice_only_with_the_same_values() -> None:
    assert compare(EXPECTED, [ONE, ONE], ended=False, at_least_once=True).good
    changed = compare(EXPECTED, [ONE, ("a", 0, "other")], ended=False, at_least_once=True)
    assert not changed.good
