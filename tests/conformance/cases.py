"""Conformance cases: one JSON object per line, in files or below folders."""

import json
from collections import Counter
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta, timezone
from pathlib import Path

Case = dict

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)

# Reasons for which expected steps are not compared by any engine. Each reason has a line on the
# page of the dialect.
NO_CHANGE = "steps in which no row comes in or leaves"
BEFORE_FIRST_ROW = "steps before the first row"
AFTER_LAST_ROW = "rows after the last input"
RECLAIMED = "values of groups that a hint drops"
KEY_OF_NONE = "NULL as the key of a group before its first row"


class Unusable(Exception):
    """The cases are unreadable, or a prerequisite to run them is missing."""


def load(paths: list[Path]) -> list[Case]:
    """Read the cases of all files, and of all ``*.jsonl`` files below all folders."""
    found = [case for path in paths for file in _files(path) for case in _read(file)]
    if not found:
        raise Unusable(f"no cases in {', '.join(map(str, paths))}")
    twice = [name for name, count in Counter(case["name"] for case in found).items() if count > 1]
    if twice:
        raise Unusable(f"several cases have the name {twice[0]}")
    return found


def instant(millis: int) -> datetime:
    """Return an instant of a case as a timestamp."""
    return EPOCH + timedelta(milliseconds=millis)


def millis(time: datetime) -> int:
    """Return a timestamp as an instant of a case."""
    return (time.astimezone(timezone.utc) - EPOCH) // timedelta(milliseconds=1)


def group_text(keys: Iterable[object]) -> str:
    """Return a group as events have it: the texts of its keys as JSON."""
    return json.dumps([None if key is None else str(key) for key in keys])


def posted_rows(steps: list[dict]) -> int:
    """Count the rows that steps insert, remove, or report in other events."""
    return sum(
        len(step["insert"])
        + len(step["remove"])
        + sum(len(rows) for kind, rows in step.get("events", []) if kind not in _CHANGES)
        for step in steps
    )


_CHANGES = {"INSERTION", "EVICTION", "PARTITION_EVICTION"}


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    if path.is_dir():
        return sorted(path.rglob("*.jsonl"))
    raise Unusable(f"{path} is neither a file nor a folder")


def _read(file: Path) -> list[Case]:
    lines = file.read_text(encoding="utf-8").splitlines()
    try:
        cases = [_in_our_words(json.loads(line)) for line in lines if line.strip()]
    except json.JSONDecodeError as error:
        raise Unusable(f"{file}: {error}") from error
    for case in cases:
        _refuse_unknown_keys(file, case)
    return [{**case, "topic": file.stem, "left_out": {}} for case in cases]


def _refuse_unknown_keys(file: Path, case: Case) -> None:
    """Refuse a case that has an option or an input which no engine reads."""
    unknown = case.get("options", {}).keys() - {"origin", "delay"}
    for entry in case.get("input", []):
        unknown |= entry.keys() - {"at", "row", "punct"}
        unknown |= {entry.get("punct", "window")} - {"window", "final"}
    if unknown:
        raise Unusable(f"{file}: {case['name']} has unknown keys: {', '.join(sorted(unknown))}")


def _in_our_words(case: Case) -> Case:
    """Convert an Esper case to the output of ``keep``.

    An Esper listener of ``rstream`` receives removed rows as new rows; ``keep`` emits deletes. A
    row that raises an error in Esper is silently not inserted by ``keep``. If every row raises an
    error, ``keep`` may refuse the policy. The input of a refused policy is dropped."""
    if case["dialect"] != "esper":
        return case
    if "error" in case:
        return {key: value for key, value in case.items() if key != "input"}
    expect = [step for step in case["expect"] if "error" not in step]
    if case.get("select") == "rstream":
        expect = [{**step, "insert": step["remove"], "remove": step["insert"]} for step in expect]
    always_fails = bool(case["expect"]) and not expect
    return {**case, "expect": expect, "may_be_refused": always_fails}


def delay(case: Case) -> int | None:
    """Return the watermark delay in milliseconds; None unless the case has out-of-order rows."""
    return case.get("options", {}).get("delay")


def goes_back(case: Case) -> bool:
    """Return True if a row arrives with a timestamp earlier than the clock."""
    times = [entry["at"] for entry in case.get("input", [])]
    return delay(case) is None and times != sorted(times)


def is_moved_by_rows(case: Case) -> bool:
    """Return True if only rows advance the clock past late rows, as a table requires."""
    clock = of_rows = None
    for entry in case["input"]:
        at = entry["at"]
        clock = at if clock is None else max(clock, at)
        if not _is_put(entry):
            continue
        if at < clock and clock != of_rows:
            return False
        of_rows = at if of_rows is None else max(of_rows, at)
    return True


def stamped(case: Case) -> Case:
    """Add the arrival time to each input of a case that goes back; the timestamp is `stamp`."""
    inputs = []
    clock = None
    for entry in case["input"]:
        clock = entry["at"] if clock is None else max(clock, entry["at"])
        inputs.append({**entry, "at": clock, "stamp": entry["at"]})
    return {**case, "input": inputs}


def is_stamped(case: Case) -> bool:
    """Return True if the inputs have arrival times and timestamps."""
    return any("stamp" in entry for entry in case.get("input", []))


def without_silent_beginning(case: Case) -> Case:
    """Remove the steps that a window forces before its first row; ``keep`` does not emit them."""
    if case["dialect"] != "esper" or "error" in case:
        return case
    first = min((entry["at"] for entry in case["input"] if _is_put(entry)), default=None)

    def is_before(step: dict) -> bool:
        return _is_empty(step) and (first is None or step["at"] < first)

    return _without(case, is_before, BEFORE_FIRST_ROW)


def without_empty_steps(case: Case) -> Case:
    """Remove steps without rows: a change stream does not have them."""
    if "expect" not in case or case["dialect"] == "spl":
        return case
    return _without(case, _is_empty, NO_CHANGE)


def cut_at_last_row(case: Case) -> Case:
    """Remove steps after the last row, because a table has no later time."""
    if "input" not in case:
        return case
    puts = [entry for entry in case["input"] if _is_put(entry)]
    end = max((entry["at"] for entry in puts), default=None)
    cut = _without(case, lambda step: end is None or step["at"] > end, AFTER_LAST_ROW)
    return {**cut, "input": puts}


def _without(case: Case, is_left_out: Callable[[dict], bool], reason: str) -> Case:
    left_out = [step for step in case["expect"] if is_left_out(step)]
    if not left_out:
        return case
    count = posted_rows(left_out) if reason == AFTER_LAST_ROW else len(left_out)
    return {
        **case,
        "expect": [step for step in case["expect"] if not is_left_out(step)],
        "left_out": more_left_out(case, reason, count),
    }


def more_left_out(case: Case, reason: str, count: int) -> dict[str, int]:
    """Return the counts of omitted steps, increased for a reason."""
    before = case["left_out"]
    return {**before, reason: before.get(reason, 0) + count} if count else before


def _is_empty(step: dict) -> bool:
    return not step["insert"] and not step["remove"] and not step.get("events")


def _is_put(entry: dict) -> bool:
    return "row" in entry or "punct" in entry
