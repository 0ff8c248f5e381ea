"""Orders to fail or delay an operation on a file; FaultyFileSystem executes them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from pathlib import Path

AROUND = ("before", "after")
# `during` leaves a half-written file; `before` prevents the operation, such as an open.
DURING = ("during",)
BEFORE = ("before",)


@dataclass(frozen=True)
class Taken:
    """The process that took an order, with the operation and the file."""

    pid: int
    who: str
    path: str


@dataclass(frozen=True)
class Target:
    """Operations on files whose path matches a pattern."""

    what: str
    operation: str
    pattern: str
    in_task: bool
    moments: tuple[str, ...] = AROUND


_STATE = r"/state/0/\d+/"
COMMIT_TARGETS = (
    Target("commit log", "rename", r"/commits/\d+$", False),
    Target("commit log", "close", r"/commits/\.\d+\..*tmp$", False),
    Target("commit log", "write", r"/commits/\.\d+\..*tmp$", False, DURING),
)
DRIVER_TARGETS = (
    *COMMIT_TARGETS,
    Target("offset log", "rename", r"/offsets/\d+$", False),
    Target("offset log", "write", r"/offsets/\.\d+\..*tmp$", False, DURING),
)
SOURCE_LOG_TARGETS = (
    Target("source's log", "rename", r"/sources/0/\d+(\.compact)?$", False),
    Target("source's log", "write", r"/sources/0/\..*tmp$", False, DURING),
)
SINK_LOG_TARGETS = (
    Target("sink's log", "rename", r"/_spark_metadata/\d+(\.compact)?$", False),
    Target("sink's log", "write", r"/_spark_metadata/\..*tmp$", False, DURING),
)
STATE_TARGETS = (
    Target("state", "create", _STATE + r"\..*(delta|changelog|zip)\..*tmp$", True),
    Target("state", "close", _STATE + r"\..*(delta|changelog|zip)\..*tmp$", True),
    Target("state", "rename", _STATE + r"[^/.]+\.(delta|changelog|zip)$", True),
    Target("state", "write", _STATE + r"\..*(delta|changelog|zip)\..*tmp$", True, DURING),
)
# Without changelog checkpointing, each commit copies RocksDB's own files there.
SST = Target("state", "copy", r"\.sst$", True)
OUTPUT_TARGETS = (
    Target("output", "close", r"/part-[^/]*\.parquet$", True),
    Target("output", "write", r"/part-[^/]*\.parquet$", True, DURING),
)
# Files that a query reads when it is started again.
READ_TARGETS = (
    Target("offset log", "open", r"/offsets/\d+$", False, BEFORE),
    Target("commit log", "open", r"/commits/\d+$", False, BEFORE),
    Target(
        "state", "open", _STATE + r"(SSTs/.*\.sst|[^/.]+\.(delta|changelog|zip))$", True, BEFORE
    ),
)
READ_SOURCE_TARGETS = (
    Target("source's log", "open", r"/sources/0/\d+(\.compact)?$", False, BEFORE),
    Target("rows", "open", r"/rows/\d+\.parquet$", True, BEFORE),
)


class Orders:
    """The orders of one application."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        self._numbers = count()

    def give(self, target: Target, moment: str, action: str) -> str:
        """Order the next such operation to `fail` or `wait`, at one of the target's moments."""
        name = f"{next(self._numbers):04}"
        hidden = self.folder / f"{name}.new"
        hidden.write_text(f"{target.operation}\t{moment}\t{action}\t{target.pattern}\n")
        hidden.rename(self.folder / f"{name}.order")
        return name

    def taken(self, name: str) -> Taken | None:
        """Return the taker of an order, if it was taken."""
        try:
            text = (self.folder / f"{name}.taken").read_text()
        except FileNotFoundError:
            return None
        pid, who, path = text.rstrip("\n").split("\t")
        return Taken(int(pid), who, path)

    def withdraw(self) -> None:
        """Withdraw all orders that were not taken."""
        for order in self.folder.glob("*.order"):
            order.unlink(missing_ok=True)
