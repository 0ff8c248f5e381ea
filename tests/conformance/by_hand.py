"""Runs cases on ``winops.testing``, one input after the other."""

from datetime import datetime

import values
from cases import Case, delay, goes_back, group_text, instant, millis, stamped
from changes import Event, numbering_fault, steps
from compare import Answer
from dialects import DIALECTS, group_keys, origin
from pyspark.errors import AnalysisException
from spark_engines import parameters, refusal

from winops import testing


def reason_not_to_run(case: Case) -> str | None:
    """Return the reason why a case cannot run here, or None."""
    if values.computes(case):
        return "values, which changes do not have"
    marks = any("punct" in entry for entry in case.get("input", []))
    if delay(case) is not None and marks:
        return "punctuation behind a watermark, which a test moves by hand"
    keys = group_keys(case)
    if any(key not in case["schema"] for key in keys):
        return "groups by expressions, which only Spark evaluates"
    return None


def answers(cases: list[Case]) -> tuple[list[Case], list[Answer]]:
    """Answer cases by hand, and return the cases with the rows of their steps alone."""
    cases = [stamped(case) if goes_back(case) else case for case in cases]
    return [_without_events(case) for case in cases], [_answer(case) for case in cases]


def _without_events(case: Case) -> Case:
    """Leave out what only ``events()`` gives."""
    if case["dialect"] != "spl" or "expect" not in case:
        return case
    expect = [
        {side: step[side] for side in ("at", "insert", "remove")}
        for step in case["expect"]
        if step["insert"] or step["remove"]
    ]
    return {**case, "expect": expect}


def _answer(case: Case) -> Answer:
    marks = any("punct" in entry for entry in case.get("input", []))
    has_marks = marks or "punct()" in case["policy"]
    behind = delay(case)
    columns = [*case["schema"].items(), ("_position", "long"), ("_punct", "string")]
    try:
        window = testing.window(
            DIALECTS[case["dialect"]].policy(case),
            schema=", ".join(
                f"`{name}` {kind}" for name, kind in [*columns, ("_at", "timestamp")]
            ),
            start=None if behind is not None else instant(_start(case)),
            time=None if behind is None else "_at",
            params=parameters(case),
            origin=origin(case),
            punct="_punct" if has_marks else None,
        )
    except AnalysisException as error:
        return refusal(error)
    found = []
    latest = _start(case)
    for position, entry in enumerate(case.get("input", [])):
        at = entry["at"]
        latest = max(latest, at)
        is_row = "row" in entry or "punct" in entry
        if not is_row:
            found += window.advance(_later(window.now, at))
        if is_row:
            row = {
                **entry.get("row", {}),
                "_position": position,
                "_punct": entry.get("punct"),
                "_at": instant(at),
            }
            found += window.add(row, at=None if behind is not None else _later(window.now, at))
            if behind is not None:
                found += window.advance(_later(window.now, latest - behind))
    if behind is not None:
        found += window.advance(_later(window.now, latest + 1))
    events = [_event(case, change) for change in found]
    # Steps of IBM Streams that only report contents have numbers too.
    fault = numbering_fault(case, events) if case["dialect"] != "spl" else None
    if fault:
        return {"failure": fault}
    ordered = (steps(case, events), steps(case, events, rows_evict=True))
    if case["dialect"] == "spl":
        ordered = tuple(
            [{side: step[side] for side in ("at", "insert", "remove")} for step in some]
            for some in ordered
        )
    return {
        "steps": ordered[0],
        "steps_if_rows_evict": ordered[1],
        "groups_in_any_order": case["dialect"] == "spl",
    }


def _event(case: Case, change: testing.Change) -> Event:
    keys = group_keys(case)
    assert change.time is not None
    kind = "INSERTION" if change.type == "insert" else "EVICTION"
    if change.reason.startswith("group"):
        kind = "PARTITION_EVICTION"
    return Event(
        case["name"],
        group_text(change.row.get(key) for key in keys),
        kind,
        millis(change.time),
        change.step,
        change.seq,
        [change.row["_position"]],
        [change.row["id"]],
    )


def _start(case: Case) -> int:
    return min((entry["at"] for entry in case.get("input", [])), default=0)


def _later(now: datetime | None, at: int) -> datetime:
    return instant(at) if now is None else max(now, instant(at))
