"""The cases of tests/data/keyed: operations, and the outputs that rules K1 to K55 give."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from tests.support import keyed
from tests.support.keyed import Answer, Call, Operation, Row, Window
from tests.support.paths import ROOT

FOLDER = ROOT / "tests" / "data" / "keyed"

Case = dict[str, Any]

_PER = re.compile(r" PER \(([^)]*)\)$")
_UNITS = {"second": 1_000, "seconds": 1_000, "sec": 1_000, "minutes": 60_000}


def load() -> list[Case]:
    """Read the cases of all files."""
    return [
        json.loads(line)
        for file in sorted(FOLDER.glob("*.jsonl"))
        for line in file.read_text(encoding="utf-8").splitlines()
    ]


def group_of(case: Case) -> tuple[str, ...]:
    """Return the columns of the group, of the policy's text or beside it."""
    found = _PER.search(case["policy"])
    in_text = [name.strip() for name in found[1].split(",")] if found else []
    return tuple(case.get("per", in_text))


def window_of(policy: str, options: dict[str, Any]) -> Window:
    """Return the window of a policy, for the texts that the cases and the random tests have."""
    words = _PER.sub("", policy).replace("(", " ( ").replace(")", " ) ").replace(",", " , ")
    origin = options.get("origin", 0)
    match words.split():
        case ["KEEP", "ALL"] | ["#keepall"]:
            return keyed.keep_all()
        case ["KEEP", "EVERY", count, "ROW" | "ROWS"]:
            return keyed.keep_every_rows(int(count))
        case ["KEEP", count, "ROW" | "ROWS"]:
            return keyed.keep_rows(int(count))
        case ["KEEP", count, "ROW" | "ROWS", "SLACK", slack]:
            return keyed.keep_rows(int(count), int(slack))
        case ["KEEP", "EVERY", count, unit]:
            first = None if origin == "first" else origin
            return keyed.keep_every_interval(int(count) * _UNITS[unit.lower()], first)
        case ["KEEP", count, unit]:
            return keyed.keep_interval(int(count) * _UNITS[unit.lower()])
        case ["#length", "(", count, ")"]:
            return keyed.keep_rows(int(count))
        case ["#time", "(", count, unit, ")"]:
            return keyed.keep_interval(int(count) * _UNITS[unit])
        case ["#unique", "(", column, ")"]:
            return keyed.unique(column)
        case ["#sort", "(", count, ",", *order, ")"]:
            return keyed.sort(int(count), *_order(order))
        case ["#rank", "(", column, ",", count, ",", *order, ")"]:
            return keyed.rank(column, int(count), *_order(order))
    raise ValueError(f"no window of the reference: {policy}")


def _order(words: Sequence[str]) -> list[tuple[str, bool]]:
    columns = [part.split() for part in " ".join(words).split(",")]
    return [(column[0], column[1:] == ["desc"]) for column in columns]


def call_of(case: Case) -> Call:
    """Return the arguments of ``keep`` for the reference."""
    options = case.get("options", {})
    given = {name: case[name] for name in ("op", "updates", "late") if name in case}
    given |= {name: options[name] for name in ("max_rows", "buffer") if name in options}
    window = window_of(case["policy"], options)
    return Call(window, tuple(case["key"]), group=group_of(case), **given)


def operations_of(case: Case) -> list[Operation]:
    """Return the operations in the order in which they are applied."""
    columns = case["schema"]
    rows = [
        (entry["at"], {name: entry["row"].get(name) for name in columns})
        for entry in case["input"]
        if "row" in entry
    ]
    delay = case.get("options", {}).get("delay")
    if delay is not None:
        return keyed.late_by_row(rows, delay)
    return [Operation(at, row, has_time=at is not None) for at, row in rows]


def end_of(case: Case) -> int:
    return max(entry["at"] for entry in case["input"] if entry["at"] is not None)


def expected(case: Case) -> Answer:
    """Compute the answer of the reference."""
    return keyed.run(call_of(case), operations_of(case), end_of(case))


def numbered(case: Case) -> list[keyed.Change]:
    """Return the changes that a case expects, with the numbers of their groups."""
    group = group_of(case)
    steps: dict[Any, int] = {}
    sequence: dict[Any, int] = {}
    changes = []
    for step in case["expect"]:
        name = keyed.values_of(group, step["changes"][0][3])
        number = steps.get(name, 0)
        steps[name] = number + 1
        for kind, reason, change_row, row in step["changes"]:
            seq = sequence.get(name, 0)
            sequence[name] = seq + 1
            changes.append(
                keyed.Change(kind, step["at"], number, seq, change_row, seq, reason, row)
            )
    for kind, reason, at, row in case.get("without_effect", []):
        changes.append(keyed.Change(kind, at, None, None, None, None, reason, row))
    return changes


def count_and_sum(content: Sequence[Row]) -> dict[str, int | None]:
    """Return the aggregates that the cases have, of a window's contents."""
    values = [row["v"] for row in content if row["v"] is not None]
    return {"n": len(content), "sum": sum(values) if values else None}
