"""Comparison of an answer with the answer that a case expects."""

import json
from itertools import groupby, zip_longest
from typing import NamedTuple

import values
from cases import Case, posted_rows
from dialects import group_keys

Answer = dict


class Comparison(NamedTuple):
    """The first difference, or None, and the number of equal rows before it."""

    difference: str | None
    rows: int = 0


def compare(case: Case, answer: Answer) -> Comparison:
    """Compare the answer with the expected answer.

    An answer has ``steps`` (and ``final`` where the engine knows it). For values computed over a
    window it has ``posts``, or ``posts_by_group`` where groups have no order. A refused policy
    has an ``error``. A ``failure`` describes an error in running the case.
    With ``groups_in_any_order`` the timers of several groups at one instant have no order.
    ``steps_if_rows_evict`` is another order of ``steps`` that is as good."""
    if "failure" in answer:
        return Comparison(f"failed: {answer['failure']}")
    expected, got = case.get("error"), answer.get("error")
    if got is not None and case.get("may_be_refused"):
        return Comparison(None)
    # Esper has its own error messages, so only the refusal is compared.
    same = bool(expected) == bool(got) if case["dialect"] == "esper" else expected == got
    if not same:
        return Comparison(_differ("refusal", expected or "none", got or "none"))
    if expected is not None:
        return Comparison(None)
    posts = answer.get("posts") or answer.get("posts_by_group") or []
    if fault := values.fault_of_columns(case, posts):
        return Comparison(fault)
    if "posts" in answer:
        return _compare_posts(case, answer["posts"])
    if "posts_by_group" in answer:
        return _compare_by_group(case, answer["posts_by_group"])
    expected, steps = case["expect"], answer["steps"]
    if answer.get("groups_in_any_order"):
        expected, steps = _group_by_group(case, expected), _group_by_group(case, steps)
    found = _compare_steps(case, expected, steps)
    if found.difference and "steps_if_rows_evict" in answer:
        other = _compare_steps(case, expected, answer["steps_if_rows_evict"])
        found = found if other.difference else other
    return Comparison(found.difference or _final_mismatch(case, answer), found.rows)


def _compare_by_group(case: Case, posts: list[dict]) -> Comparison:
    rows = 0
    expected, got = values.by_key(case, case["expect"]), values.by_key(case, posts)
    for key in sorted(expected.keys() | got.keys()):
        pairs = zip_longest(expected.get(key, []), got.get(key, []))
        for number, (one, other) in enumerate(pairs):
            if one is None or other is None or not values.equal(case, one, other):
                return Comparison(
                    _differ(f"value {number} of {key}", _text(one), _text(other)), rows
                )
            rows += 1
    return Comparison(None, rows)


def _compare_posts(case: Case, posts: list[dict]) -> Comparison:
    rows = 0
    same = values.equal_in_any_order if case.get("order") == "any" else values.equal
    for number, (expected, got) in enumerate(zip_longest(case["expect"], posts)):
        if (
            expected is None
            or got is None
            or expected["at"] != got["at"]
            or not all(same(case, expected[side], got[side]) for side in ("insert", "remove"))
        ):
            return Comparison(_differ(f"step {number}", _text(expected), _text(got)), rows)
        rows += posted_rows([got])
    return Comparison(None, rows)


def _compare_steps(case: Case, expect: list[dict], steps: list[dict]) -> Comparison:
    rows = 0
    for number, (expected, got) in enumerate(zip_longest(expect, steps)):
        if expected is None or got is None or not _same_step(case, expected, got):
            return Comparison(_differ(f"step {number}", _text(expected), _text(got)), rows)
        rows += posted_rows([got])
    return Comparison(None, rows)


def _group_by_group(case: Case, steps: list[dict]) -> list[dict]:
    """Sort timer steps of one instant by group; the steps of one group keep their order."""
    keys = group_keys(case)
    groups = {
        entry["row"]["id"]: json.dumps([entry["row"].get(key) for key in keys])
        for entry in case["input"]
        if "row" in entry
    }

    def group(step: dict) -> str:
        ids = [*step["remove"], *(i for _, of_event in step.get("events", []) for i in of_event)]
        return groups[ids[0]] if ids else ""

    ordered: list[dict] = []
    for (_, is_timer), found in groupby(steps, lambda step: (step["at"], not step["insert"])):
        of_instant = list(found)
        ordered += sorted(of_instant, key=group) if is_timer else of_instant
    return ordered


def _same_step(case: Case, expected: dict, got: dict) -> bool:
    if case.get("order") != "any":
        return expected == got
    sides = (
        {key: sorted(value) if isinstance(value, list) else value for key, value in step.items()}
        for step in (expected, got)
    )
    return next(sides) == next(sides)


def _final_mismatch(case: Case, answer: Answer) -> str | None:
    tells_all = case.get("select", "irstream") == "irstream" and "select" not in case["policy"]
    if "final" not in answer or not ("final" in case or tells_all):
        return None
    expected, got = sorted(case.get("final", _retained(case))), sorted(answer["final"])
    return None if expected == got else _differ("content at the end", expected, got)


def _retained(case: Case) -> list:
    inserted = [row for step in case["expect"] for row in step["insert"]]
    removed = {row for step in case["expect"] for row in step["remove"]}
    return [row for row in inserted if row not in removed]


def _text(step: dict | None) -> str:
    return "nothing" if step is None else json.dumps(step)


def _differ(what: str, expected: object, got: object) -> str:
    return f"{what} differs\n  expected {expected}\n  got      {got}"
