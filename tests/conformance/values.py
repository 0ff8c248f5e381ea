"""Expected values that are computed over a window."""

import math
import re
from collections import defaultdict

from cases import KEY_OF_NONE, RECLAIMED, Case, more_left_out, posted_rows
from dialects import groupwin_keys

Row = dict

DERIVED = re.compile(r"#(size|uni|linest|correl|weighted_avg)\b")
NAN = "NaN"


def computes(case: Case) -> bool:
    """Return True if the case expects computed values instead of rows."""
    other = "columns" in case or case.get("emit") == "values"
    derived = DERIVED.search(case["policy"])
    return case["dialect"] == "esper" and "error" not in case and bool(derived or other)


def names(case: Case) -> list[str] | None:
    """Return the names of a case's select list, in its order; None if it has none."""
    if "columns" not in case:
        return None
    items, depth = [""], 0
    for character in case["columns"]:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "," and depth == 0:
            items.append("")
        else:
            items[-1] += character
    named = (re.split(r"\sas\s", item.strip(), flags=re.IGNORECASE)[-1] for item in items)
    return [name.strip(" `") for name in named]


def fault_of_columns(case: Case, steps: list[dict]) -> str | None:
    """Return the columns of values that are not those of the list in its order, or None."""
    expected = names(case)
    rows = [row for step in steps for side in ("insert", "remove") for row in step[side]]
    wrong = next((list(row) for row in rows if list(row) != expected), None)
    if expected is None or wrong is None:
        return None
    return f"the columns are {', '.join(wrong)}, and the list has {', '.join(expected)}"


def by_key(case: Case, steps: list[dict]) -> dict[str, list]:
    """Group values by side and by group or part."""
    found = defaultdict(list)
    for step in steps:
        for side in ("insert", "remove"):
            for row in step[side]:
                found[str((side, *key(case, row)))].append({"at": step["at"], **row})
    return dict(found)


def key(case: Case, row: Row) -> tuple:
    """Return the group or part of a row of values, within which Spark has an order."""
    names = [case["group_by"]] if "group_by" in case else []
    if DERIVED.search(case["policy"]) and not _is_merged(case):
        names += groupwin_keys(case["policy"])
    return tuple(row.get(name) for name in names)


def without_reclaimed(case: Case) -> Case:
    """Remove the deleted values of a group that a hint removes; ``keep`` emits no delete for it.

    They precede the values that the arriving row replaces.
    """
    if "hint" not in case or not computes(case):
        return case
    steps = [
        {**step, "remove": step["remove"][max(0, len(step["remove"]) - len(step["insert"])) :]}
        for step in case["expect"]
    ]
    count = posted_rows(case["expect"]) - posted_rows(steps)
    return {**case, "expect": steps, "left_out": more_left_out(case, RECLAIMED, count)}


def with_keys_of_groups(case: Case) -> Case:
    """Replace NULL by the group's key in the first values that a group replaces.

    Esper selects NULL for the key of a group without rows.
    """
    if not computes(case) or not DERIVED.search(case["policy"]) or _is_merged(case):
        return case
    keys = groupwin_keys(case["policy"])
    count = 0
    steps = []
    for step in case["expect"]:
        removed = []
        for number, row in enumerate(step["remove"]):
            new = step["insert"][number] if number < len(step["insert"]) else row
            lacking = {
                name: new[name] for name in keys if row[name] is None and new[name] is not None
            }
            count += bool(lacking)
            removed.append({**row, **lacking})
        steps.append({**step, "remove": removed})
    if count == 0:
        return case
    return {**case, "expect": steps, "left_out": more_left_out(case, KEY_OF_NONE, count)}


def comparable(case: Case) -> Case:
    """Return a case without the values that no engine gives, and with the keys of groups."""
    return with_keys_of_groups(without_reclaimed(case))


def equal(case: Case, expected: object, got: object) -> bool:
    """Compare rows, lists of rows, and values; doubles are compared up to rounding."""
    if isinstance(expected, dict) and isinstance(got, dict):
        expected, got = _settled(case, expected), _settled(case, got)
        same = expected.keys() == got.keys()
        return same and all(equal(case, expected[name], got[name]) for name in expected)
    if isinstance(expected, list) and isinstance(got, list):
        pairs = zip(expected, got, strict=False)
        return len(expected) == len(got) and all(equal(case, *pair) for pair in pairs)
    if isinstance(expected, float) or isinstance(got, float):
        if isinstance(expected, bool | str | None) or isinstance(got, bool | str | None):
            return _text(expected) == _text(got)
        return math.isclose(expected, got, rel_tol=1e-9, abs_tol=_tolerance(case))
    return expected == got


def equal_in_any_order(case: Case, expected: list[Row], got: list[Row]) -> bool:
    """Compare lists of rows as multisets."""
    rest = list(got)
    for row in expected:
        match = next((one for one in rest if equal(case, row, one)), None)
        if match is None:
            return False
        rest.remove(match)
    return not rest


def _settled(case: Case, row: Row) -> Row:
    """Normalize values that depend on a variance of 0 up to rounding, such as a slope."""
    still = {
        name
        for name in ("variance", "XVariance", "YVariance")
        if isinstance(row.get(name), float) and abs(row[name]) <= _tolerance(case)
    }
    changed: Row = {}
    if "variance" in still:
        changed |= {"stddev": 0.0, "stddevpa": 0.0}
    if "XVariance" in still:
        changed |= {"slope": NAN, "YIntercept": NAN}
    for axis in ("X", "Y"):
        if f"{axis}Variance" in still:
            deviation = f"{axis}StandardDeviation"
            changed |= {f"{deviation}Pop": 0.0, f"{deviation}Sample": 0.0}
    return {**row, **changed}


def _tolerance(case: Case) -> float:
    return 1e-9 * _greatest(case)


def _greatest(case: Case) -> float:
    """Return the greatest magnitude among the inputs."""
    numbers = [
        abs(value)
        for entry in case["input"]
        for value in entry.get("row", {}).values()
        if isinstance(value, int | float) and not isinstance(value, bool)
    ]
    return max(numbers, default=0.0)


def _text(value: object) -> object:
    if isinstance(value, float) and (math.isnan(value) or math.isinf(value)):
        return NAN if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")
    return value


def _is_merged(case: Case) -> bool:
    """Return True if a derived window follows the merge of the groups."""
    return bool(re.search(r"#merge\([^)]*\)#", case["policy"]))
