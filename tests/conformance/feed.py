"""Writes the inputs of cases as files for Spark: one file for each batch of a stream."""

import json
import os
import random
from pathlib import Path

from cases import Case, delay

SCHEMA = "_case string, _position long, _millis long, _row string, _punct string"

# Rows that only move the clock belong to no case.
HEARTBEAT = ""


def write_table(cases: list[Case], folder: Path) -> None:
    """Write the rows of all cases."""
    lines = [line for case in cases for line in _lines(case) if line["_case"] != HEARTBEAT]
    _write(folder, 0, lines)


def write_stream(cases: list[Case], folder: Path, batches: int, seed: int) -> None:
    """Write the inputs of all cases in time order, cut at random into batches.

    All cases share one watermark, so their merged input is cut. At the end, two batches advance
    the watermark past all rows; the second one lets the query see it.
    """
    chosen = random.Random(seed)
    lines = sorted(
        (line for case in cases for line in _lines(case)), key=lambda line: line["_millis"]
    )
    cuts = sorted(chosen.randrange(len(lines) + 1) for _ in range(batches - 1))
    bounds = zip([0, *cuts], [*cuts, len(lines)], strict=True)
    for number, (start, end) in enumerate(bounds):
        batch = lines[start:end]
        # The order of arrival within a batch must not matter.
        chosen.shuffle(batch)
        _write(folder, number, batch)
    last = lines[-1]["_millis"] if lines else 0
    for number in (batches, batches + 1):
        _write(folder, number, [_line(HEARTBEAT, 0, last + 1000, None, {})])


def write_late_stream(case: Case, folder: Path, batches: int, seed: int) -> None:
    """Write the inputs of a case with a watermark delay, in order of arrival, cut into batches.

    A batch drops rows by the watermark at the start of the batch before it, so a batch without
    rows precedes each late row. The other batches are cut at random. An instant without a row is
    an instant that the watermark reaches.
    """
    behind = delay(case) or 0
    chosen = random.Random(seed)
    files: list[list[dict]] = [[]]
    cuts = {chosen.randrange(len(case["input"]) + 1) for _ in range(batches - 1)}
    watermark = None
    for number, (entry, line) in enumerate(zip(case["input"], _lines(case), strict=True)):
        is_row = "row" in entry
        is_late = is_row and watermark is not None and entry["at"] < watermark
        if is_late:
            files.append([_line(HEARTBEAT, number, entry["at"], None, {})])
        if is_late or number in cuts:
            files.append([])
        reached = entry["at"] - behind if is_row else entry["at"]
        watermark = reached if watermark is None else max(watermark, reached)
        if not is_row:
            files[-1].append(_line(HEARTBEAT, number, entry["at"] + behind, None, {}))
        if line["_case"] != HEARTBEAT:
            files[-1].append(line)
    # The last watermark passes all rows. A further batch lets the query see it.
    last = max(entry["at"] for entry in case["input"]) + behind + 1000
    files += [[_line(HEARTBEAT, 0, last, None, {})], [_line(HEARTBEAT, 0, last, None, {})]]
    for number, lines in enumerate(files):
        chosen.shuffle(lines)
        _write(folder, number, lines)


def write_followed(case: Case, file: Path, end: int) -> None:
    """Write the inputs of a case in order of arrival, and move the clock to its end."""
    lines = [*_lines(case), _line(HEARTBEAT, 0, end, None, {})]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def _lines(case: Case) -> list[dict]:
    return [
        _line(
            case["name"],
            position,
            entry.get("stamp", entry["at"]),
            json.dumps(entry.get("row", {})),
            entry,
        )
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
    # A file source takes the files in the order of their modification times.
    os.utime(file, (number + 1, number + 1))
