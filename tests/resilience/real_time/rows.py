"""The rows of the kills: lines that a thread appends to files while queries are killed."""

from __future__ import annotations

import random
import threading
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TextIO

from pyspark.sql import DataFrame

# The files, each of which is a partition of the source.
PARTS = 2
GROUPS = 10
PRICES = 40
PAUSE_SECONDS = 0.02


def parsed(lines: DataFrame) -> DataFrame:
    """Return the rows of lines, from a stream or a table, with the columns that jobs take."""
    return lines.selectExpr("split(value, ',') AS parts").selectExpr(
        "parts[0] AS k",
        "CAST(parts[1] AS BIGINT) AS seq",
        "CAST(parts[2] AS INT) AS price",
        "timestamp_seconds(CAST(parts[1] AS BIGINT)) AS ts",
    )


class Feed:
    """Appends rows to the files of a folder; all rows of a group are in one file.

    Parameters
    ----------
    folder
        A folder that does not exist yet.
    rate
        The rows per second.
    """

    def __init__(self, folder: Path, rate: int, seed: int) -> None:
        folder.mkdir(parents=True)
        self._paths = [folder / str(part) for part in range(PARTS)]
        self._rows_at_once = max(1, round(rate * PAUSE_SECONDS))
        self._rng = random.Random(seed)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._feed, daemon=True)
        self.rows = 0

    def start(self, rows: int) -> None:
        """Append the first rows at once, and further ones until the end."""
        with ExitStack() as stack:
            self._append(self._opened(stack), rows)
        self._thread.start()

    def end(self) -> None:
        """Append no further row."""
        self._ended.set()
        self._thread.join()

    def _feed(self) -> None:
        with ExitStack() as stack:
            files = self._opened(stack)
            while not self._ended.wait(PAUSE_SECONDS):
                self._append(files, self._rows_at_once)

    def _opened(self, stack: ExitStack) -> list[TextIO]:
        return [stack.enter_context(path.open("a", buffering=1)) for path in self._paths]

    def _append(self, files: Sequence[TextIO], rows: int) -> None:
        for _ in range(rows):
            group, price = self._rng.randrange(GROUPS), self._rng.randrange(PRICES)
            files[group % PARTS].write(f"group-{group},{self.rows},{price}\n")
            self.rows += 1
