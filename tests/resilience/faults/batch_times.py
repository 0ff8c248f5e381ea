"""The answer of a processing-time window, computed from the batch times in the offset log."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

import pyarrow.parquet as pq

from tests.resilience.faults.answers import Answer, batches, log_entries
from tests.resilience.faults.jobs import HEARTBEAT, INTERVAL_MILLIS
from tests.support.model import Change, Window, keep_interval

Row = dict[str, Any]
_EPOCH = datetime.fromtimestamp(0, timezone.utc)


class Arrivals(ABC):
    """The rows of a source, addressed by its offsets."""

    @abstractmethod
    def end(self, offset: Mapping[str, Any]) -> int:
        """Return the exclusive end position of an offset."""

    @abstractmethod
    def rows(self, first: int, end: int) -> Iterator[Row]:
        """Return the rows between two positions."""


class FileArrivals(Arrivals):
    """The files of a file source, by the batches of the source's own log."""

    def __init__(self, checkpoint: Path) -> None:
        self._files: dict[int, list[Path]] = defaultdict(list)
        for entry in log_entries(checkpoint / "sources" / "0"):
            path = Path(unquote(urlparse(entry["path"]).path))
            self._files[int(entry["batchId"])].append(path)

    def end(self, offset: Mapping[str, Any]) -> int:
        return int(offset["logOffset"]) + 1

    def rows(self, first: int, end: int) -> Iterator[Row]:
        for number in range(first, end):
            for path in self._files.get(number, ()):
                yield from _read(path)


class TopicArrivals(Arrivals):
    """A topic with one partition that holds the rows of files in order."""

    def __init__(self, files: Path) -> None:
        self._rows = [row for path in sorted(files.glob("*.parquet")) for row in _read(path)]

    def end(self, offset: Mapping[str, Any]) -> int:
        [ends] = offset.values()
        return int(ends["0"])

    def rows(self, first: int, end: int) -> Iterator[Row]:
        yield from self._rows[first:end]


def replayed(checkpoint: Path, arrivals: Arrivals) -> Answer:
    """Replay the batches in the offset log through the model."""
    windows: dict[str, Window] = {}
    rows: dict[int, Row] = {}
    done = passed = 0
    for batch in sorted(batches(checkpoint / "offsets")):
        _, metadata, offset = (checkpoint / "offsets" / str(batch)).read_text().splitlines()
        now = json.loads(metadata)["batchTimestampMs"]
        end = arrivals.end(json.loads(offset))
        for row in arrivals.rows(done, end):
            rows[row["seq"]] = row
            if row["k"] not in windows:
                windows[row["k"]] = keep_interval(INTERVAL_MILLIS)
                windows[row["k"]].advance(passed)
            windows[row["k"]].arrive(now, row["seq"])
        for window in windows.values():
            window.advance(now)
        done, passed = end, max(passed, now)
    return {
        k: [_fact(change, rows) for change in window.changes]
        for k, window in windows.items()
        if k != HEARTBEAT
    }


def _read(path: Path) -> list[Row]:
    return pq.ParquetFile(path).read().to_pylist()


def _fact(change: Change, rows: Mapping[int, Row]) -> str:
    row = rows[change.row]
    attributes = {
        "_change_type": change.kind,
        "_change_time": change.at,
        "_change_step": change.step,
        "_change_seq": change.seq,
        **row,
        "ts": (row["ts"] - _EPOCH) // timedelta(microseconds=1),
    }
    return json.dumps(attributes, separators=(",", ":"))
