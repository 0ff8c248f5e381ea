"""The model that other tests compare with, against the answers of the conformance cases."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Any

from tests.conformance import cases
from tests.support import model
from tests.support.paths import ROOT

CASES = ROOT / "tests" / "data" / "conformance" / "ccl"
COUNT = re.compile(r"KEEP (EVERY )?(\d+) ROWS?(?: SLACK (\d+))?")
INTERVAL = re.compile(r"KEEP (EVERY )?(\d+) (MILLISECOND|SECOND|MINUTE)S?")
MILLIS = {"MILLISECOND": 1, "SECOND": 1_000, "MINUTE": 60_000}


def window(policy: str) -> model.Window | None:
    """Return the model's window for a policy without a group, if the policy has a simple form."""
    if count := COUNT.fullmatch(policy):
        rows = int(count[2])
        return (
            model.keep_every_rows(rows) if count[1] else model.keep_rows(rows, int(count[3] or 1))
        )
    if interval := INTERVAL.fullmatch(policy):
        length = int(interval[2]) * MILLIS[interval[3]]
        make = model.keep_every_interval if interval[1] else model.keep_interval
        return make(length)
    return model.keep_all() if policy in ("", "KEEP ALL") else None


def steps(case: dict[str, Any]) -> list[tuple[int, list[int], list[int]]]:
    """Return the model's answer for a case."""
    group = window(case["policy"])
    assert group is not None
    for entry in case["input"]:
        if "row" in entry:
            group.arrive(entry["at"], entry["row"]["id"])
        else:
            group.advance(entry["at"])
    steps: dict[tuple[int, int], tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for change in group.changes:
        steps[change.step, change.at][change.kind == "delete"].append(change.row)
    return [(at, inserted, deleted) for (_, at), (inserted, deleted) in steps.items()]


def test_the_model_gives_the_expected_answers() -> None:
    simple = [
        case
        for case in cases.load([CASES])
        if "expect" in case and "options" not in case and window(case["policy"])
    ]
    assert len(simple) >= 30
    for case in simple:
        expected = [(e["at"], e["insert"], e["remove"]) for e in case["expect"]]
        assert steps(case) == expected, case["name"]
