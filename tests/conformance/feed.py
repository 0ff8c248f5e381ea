"""Writes the inputs of cases where Spark reads them: one file for each batch of a stream."""

import json
import os
import random
from pathlib import Path

from cases import Case

SCHEMA = "_case string, _position long, _millis long, _row string, _punct string"

# What moves the clock belongs to no case.
HEARTBEAT = ""


def write_table(cases: list[Case], folder: Path) -> None:
    """Write the rows of all cases."""
    lines = [line for case in cases for line in _lines(case) if line["_case"] != HEARTBEAT]
    _write(folder, 0, lines)


def write_stream(cases: list[Case], folder: Path, batches: int, seed: int) -> None:
    """Write the inputs of all cases in the order of time, cut at random into batches.

    One watermark passes over all cases, so it is their common time that is cut. At the end it
    passes everything, in a batch of its own so that it is seen.
    """
    chosen = random.Random(seed)
    lines = sorted(
        (line for case in cases for line in _lines(case)), key=lambda line: line["_millis"]
    )
    cuts = sorted(chosen.randrange(len(lines) + 1) for _ in range(batches - 1))
    bounds = zip([0, *cuts], [*cuts, len(lines)], strict=True)
    for number, (start, end) in enumerate(bounds):
        batch = lines[start:end]
        # Within a batch the order of arrival must not matter.
        chosen.shuffle(batch)
        _write(folder, number, batch)
    last = lines[-1]["_millis"] if lines else 0
    for number in (batches, batches + 1):
        _write(folder, number, [_line(HEARTBEAT, 0, last + 1000, None, {})])


def _lines(case: Case) -> list[dict]:
    return [
        _line(case["name"], position, entry["at"], json.dumps(entry.get("row", {})), entry)
        if "row" in entry or "punct" in entry
        else _line(HEARTBEAT, position, entry["at"], None, {})
        for position, entry in enumerate(case["input"])
    ]


def _line(case: str, position: int, millis: int, row: str | None, entry: dict) -> dict:
    return {
        "_case": case,
        "_position": position,
        "_millis": millis,
        "_row": row,
        "_punct": entry.get("punct"),
    }


def _write(folder: Path, number: int, lines: list[dict]) -> None:
    file = folder / f"{number:05}.json"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    # A file source takes the files in the order of these times.
    os.utime(file, (number + 1, number + 1))
