"""From the values that a window has after its steps to what a case expects to be posted."""

import math
import re
from collections import defaultdict

from cases import Case
from dialects import groupwin_keys

Row = dict

DERIVED = re.compile(r"#(size|uni|linest|correl|weighted_avg)\b")
NAN = "NaN"
# What a statistic is worth of no rows, where that is not NaN.
OF_NOTHING = {"size": 0, "datapoints": 0, "dataPoints": 0, "n": 0, "total": 0.0}
SUMS = re.compile(r"[XY]Sum|sum[XY]+(Sq)?")


def computes(case: Case) -> bool:
    """Tell whether the case is about values computed over a window, and not about its rows."""
    other = "columns" in case or case.get("emit") == "values"
    derived = DERIVED.search(case["policy"])
    return case["dialect"] == "esper" and "error" not in case and bool(derived or other)


def posts(case: Case, steps: list[dict]) -> list[dict]:
    """Give what is posted at each step, out of the ``values`` after it.

    Values are posted with those before them: those of the same group or part, or of nothing when
    there were none. A number of rows is posted when it changes only.
    """
    before: dict[tuple, Row] = {}
    posted = []
    for step in steps:
        inserted, removed = [], []
        for group in step.get("dropped", []):
            removed += [last for key in [_key(case, group)] if (last := before.pop(key, None))]
        for row in step["values"]:
            key = _key(case, row)
            last = before.get(key) or _of_nothing(case, row)
            if "#size" in case["policy"] and last["size"] == row["size"]:
                continue
            inserted.append(row)
            removed.append(last)
            before[key] = row
        if inserted:
            posted.append({"at": step["at"], **_selected(case, inserted, removed)})
    return posted


def by_key(case: Case, steps: list[dict]) -> dict[str, list]:
    """Arrange posts by group or part, without those that repeat what was posted before.

    Rows of several groups have no order among each other in Spark, and nothing is told there of
    a group before its first row, so that a repeated value says nothing.
    """
    found = defaultdict(list)
    last: dict[tuple, Row] = {}
    # A group that Esper's hints drop is dropped without a word.
    sides = ("insert",) if "hint" in case else ("insert", "remove")
    for step in steps:
        for side in sides:
            for row in step[side]:
                key = (side, *_key(case, row))
                if key in last and equal(case, last[key], row):
                    continue
                if key not in last and equal(case, _of_nothing(case, row), row):
                    continue
                last[key] = row
                found[str(key)].append({"at": step["at"], **row})
    return dict(found)


def equal(case: Case, expected: object, got: object) -> bool:
    """Compare rows, lists of them and values; doubles up to rounding."""
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
    """Compare lists of rows of which each is there once."""
    rest = list(got)
    for row in expected:
        match = next((one for one in rest if equal(case, row, one)), None)
        if match is None:
            return False
        rest.remove(match)
    return not rest


def _settled(case: Case, row: Row) -> Row:
    """Settle what depends on a variance that is 0 up to rounding: there is no slope then."""
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
    """Give the greatest magnitude of what can be computed of the inputs."""
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


def _selected(case: Case, inserted: list[Row], removed: list[Row]) -> dict:
    selector = case.get("select", "irstream")
    return {
        "insert": [] if selector == "rstream" else inserted,
        "remove": [] if selector == "istream" else removed,
    }


def _key(case: Case, row: Row) -> tuple:
    names = [case["group_by"]] if "group_by" in case else []
    if DERIVED.search(case["policy"]) and not _is_merged(case):
        names += groupwin_keys(case["policy"])
    return tuple(row.get(name) for name in names)


def _is_merged(case: Case) -> bool:
    """Tell whether a derived window stands behind the end of the groups."""
    return bool(re.search(r"#merge\([^)]*\)#", case["policy"]))


def _of_nothing(case: Case, row: Row) -> Row:
    """Give the row for a window without rows: a count is 0, the rest is null or NaN."""
    derived = DERIVED.search(case["policy"])
    if not derived:
        counts = re.findall(r"count\([^)]*\) as (\w+)", case["columns"])
        kept = [case.get("group_by")]
        return {
            name: 0 if name in counts else (value if name in kept else None)
            for name, value in row.items()
        }
    beside = _beside(case)
    keys = groupwin_keys(case["policy"])
    empty: Row = {}
    for name, value in row.items():
        if name in beside or ("*" in beside and name in case["schema"]):
            empty[name] = None
        elif name in keys:
            empty[name] = value
        else:
            empty[name] = OF_NOTHING.get(name, 0.0 if SUMS.fullmatch(name) else NAN)
    return empty


def _beside(case: Case) -> list[str]:
    """Give the columns that stand beside those of a derived window."""
    numbers = {"size": 0, "uni": 1}
    found = re.search(
        r"#(size|uni|linest|correl|weighted_avg)\(([^#]*)\)(?=#|\s|$)", case["policy"]
    )
    if not found:
        return []
    names = [name.strip() for name in found.group(2).split(",")]
    return names[numbers.get(found.group(1), 2) :]
