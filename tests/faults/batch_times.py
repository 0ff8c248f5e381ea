"""The answer of a window that goes by the time of batches, from the times in the offset log."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

import pyarrow.parquet as pq

from tests.faults.answers import Answer, log_entries
from tests.faults.jobs import HEARTBEAT, INTERVAL_MILLIS
from tests.support.model import Change, Window, keep_interval

_EPOCH = datetime.fromtimestamp(0, timezone.utc)


def replayed(checkpoint: Path) -> Answer:
    """Replay the batches that have begun, of a file source, through the model."""
    files: dict[int, list[Path]] = defaultdict(list)
    for entry in log_entries(checkpoint / "sources" / "0"):
        files[int(entry["batchId"])].append(Path(unquote(urlparse(entry["path"]).path)))
    begun = {int(p.name) for p in (checkpoint / "offsets").glob("[0-9]*")}
    windows: dict[str, Window] = {}
    rows: dict[int, dict[str, Any]] = {}
    done, passed = -1, 0
    for batch in sorted(begun):
        _, metadata, offset = (checkpoint / "offsets" / str(batch)).read_text().splitlines()
        now = json.loads(metadata)["batchTimestampMs"]
        last = json.loads(offset)["logOffset"]
        for row in _rows(files, range(done + 1, last + 1)):
            rows[row["seq"]] = row
            if row["k"] not in windows:
                windows[row["k"]] = keep_interval(INTERVAL_MILLIS)
                windows[row["k"]].advance(passed)
            windows[row["k"]].arrive(now, row["seq"])
        for window in windows.values():
            window.advance(now)
        done, passed = last, max(passed, now)
    return {
        k: [_fact(change, rows) for change in window.changes]
        for k, window in windows.items()
        if k != HEARTBEAT
    }


def _rows(files: Mapping[int, list[Path]], numbers: range) -> Iterator[dict[str, Any]]:
    for number in numbers:
        for path in files.get(number, ()):
            yield from pq.ParquetFile(path).read().to_pylist()


def _fact(change: Change, rows: Mapping[int, Mapping[str, Any]]) -> str:
    row = rows[change.row]
    told = {
        "_change_type": change.kind,
        "_change_time": change.at,
        "_change_step": change.step,
        "_change_seq": change.seq,
        **row,
        "ts": (row["ts"] - _EPOCH) // timedelta(microseconds=1),
    }
    return json.dumps(told, separators=(",", ":"))
