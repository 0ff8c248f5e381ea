"""The operations that a killed program reads, and the contents of its windows at the end."""

from __future__ import annotations

import json
import os
import random
from itertools import pairwise
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame

from tests.support import keyed, moving_rows
from tests.support.keyed import Call, Operation
from winops import Kept, keep

SCHEMA = "seq long, op string, g string, id long, v long"
FILES = 24
ROWS = 1_200
KEYS = 40
# The columns of a row that the sinks are compared by.
COLUMNS = ("g", "id", "v")
# Rows return from behind the window, so a sink gets them again.
_NEWEST, _BEHIND = 4, 3

Content = list[list[Any]]


def write(folder: Path, seed: int) -> Content:
    """Write the operations into a new folder, and return what the windows hold at the end."""
    rows = moving_rows.operations(random.Random(seed), ROWS, KEYS)
    folder.mkdir(parents=True)
    # A row that moves to another group is two operations.
    cuts = [len(rows) * number // FILES for number in range(FILES + 1)]
    for number, (start, end) in enumerate(pairwise(cuts)):
        lines = [json.dumps({"seq": seq, **rows[seq]}) for seq in range(start, end)]
        path = folder / f"{number:04d}.json"
        path.write_text("\n".join(lines), encoding="utf-8")
        # The file source takes files in the order of their modification times.
        os.utime(path, (1_400_000_000 + number, 1_400_000_000 + number))
    call = Call(
        keyed.keep_rows(_NEWEST), ("id",), op="op", group=("g",), late="emit", buffer=_BEHIND
    )
    answer = keyed.run(call, [Operation(None, row) for row in rows])
    held = [held.row for group in answer.groups.values() for held in group.held]
    return in_order([row[name] for name in COLUMNS] for row in held)


def in_order(rows: Any) -> Content:
    """Sort rows, so that two contents can be compared."""
    return sorted(([*row] for row in rows), key=repr)


def windows(stream: DataFrame) -> Kept:
    """Return the windows over the operations."""
    return keep(
        stream,
        f"KEEP {_NEWEST} ROWS PER (g)",
        key="id",
        op="op",
        order_by="seq",
        buffer=_BEHIND,
    )
