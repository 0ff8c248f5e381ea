"""Conformance cases: one JSON object a line, in files or below folders."""

import json
from collections import Counter
from pathlib import Path

Case = dict


class Unusable(Exception):
    """The cases cannot be read, or what is needed to run them is not there."""


def load(paths: list[Path]) -> list[Case]:
    """Read the cases of all files, and of all ``*.jsonl`` files below all folders."""
    found = [case for path in paths for file in _files(path) for case in _read(file)]
    if not found:
        raise Unusable(f"no cases in {', '.join(map(str, paths))}")
    twice = [name for name, count in Counter(case["name"] for case in found).items() if count > 1]
    if twice:
        raise Unusable(f"several cases have the name {twice[0]}")
    return found


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    if path.is_dir():
        return sorted(path.rglob("*.jsonl"))
    raise Unusable(f"{path} is neither a file nor a folder")


def _read(file: Path) -> list[Case]:
    lines = file.read_text(encoding="utf-8").splitlines()
    try:
        return [_in_our_words(json.loads(line)) for line in lines if line.strip()]
    except json.JSONDecodeError as error:
        raise Unusable(f"{file}: {error}") from error


def _in_our_words(case: Case) -> Case:
    """Read an Esper case as ``keep`` tells it.

    A listener of ``rstream`` gets the rows that leave as its new rows; here they are deletes. A
    row that raises an error there is not admitted here, without a word; where every row does, the
    policy itself may be refused. What is put to a policy that is refused does not matter.
    """
    if case["dialect"] != "esper":
        return case
    if "error" in case:
        return {key: value for key, value in case.items() if key != "input"}
    expect = [step for step in case["expect"] if "error" not in step]
    if case.get("select") == "rstream":
        expect = [{**step, "insert": step["remove"], "remove": step["insert"]} for step in expect]
    always_fails = bool(case["expect"]) and not expect
    return {**case, "expect": expect, "may_be_refused": always_fails}


def runs_in_spark(case: Case) -> bool:
    """Whether the rows can be put to Spark as they are.

    A row that comes late is dropped there by a watermark that moves between batches and not, as
    in a case, from row to row; and a delay of the watermark says which rows come late.
    """
    return "late" not in case["name"] and "delay" not in case.get("options", {})


def without_empty_steps(case: Case) -> Case:
    """Leave out steps in which nothing happens: a change stream does not have them."""
    if "expect" not in case:
        return case
    told = [step for step in case["expect"] if any(step[key] for key in ("insert", "remove"))]
    return case if case["dialect"] == "spl" else {**case, "expect": told}


def cut_at_last_row(case: Case) -> Case:
    """Leave out what happens after the last row: there is no later time in a table."""
    if "input" not in case:
        return case
    rows = [entry["at"] for entry in case["input"] if _is_put(entry)]
    end = max(rows, default=None)
    return {
        **case,
        "input": [entry for entry in case["input"] if _is_put(entry)],
        "expect": [step for step in case["expect"] if end is not None and step["at"] <= end],
    }


def _is_put(entry: dict) -> bool:
    return "row" in entry or "punct" in entry
