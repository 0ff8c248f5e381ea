"""Which operation on a file is to fail or to wait; the other side is FaultyFileSystem."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from pathlib import Path

AROUND = ("before", "after")
# A file is half written, then; or is not opened.
DURING = ("during",)
BEFORE = ("before",)


@dataclass(frozen=True)
class Taken:
    """Who took an order: a process, what it was doing, and on which file."""

    pid: int
    who: str
    path: str


@dataclass(frozen=True)
class Target:
    """Operations on files whose path contains a pattern."""

    what: str
    operation: str
    pattern: str
    in_task: bool
    moments: tuple[str, ...] = AROUND


_STATE = r"/state/0/\d+/"
DRIVER_TARGETS = (
    Target("offset log", "rename", r"/offsets/\d+$", False),
    Target("commit log", "rename", r"/commits/\d+$", False),
    Target("commit log", "close", r"/commits/\.\d+\..*tmp$", False),
    Target("offset log", "write", r"/offsets/\.\d+\..*tmp$", False, DURING),
    Target("commit log", "write", r"/commits/\.\d+\..*tmp$", False, DURING),
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
# Without changelog checkpointing RocksDB's own files go there at each commit.
SST = Target("state", "copy", r"\.sst$", True)
OUTPUT_TARGETS = (
    Target("output", "close", r"/part-[^/]*\.parquet$", True),
    Target("output", "write", r"/part-[^/]*\.parquet$", True, DURING),
)
# What a query reads when it is started again.
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
        """Tell who has taken an order."""
        try:
            text = (self.folder / f"{name}.taken").read_text()
        except FileNotFoundError:
            return None
        pid, who, path = text.rstrip("\n").split("\t")
        return Taken(int(pid), who, path)

    def withdraw(self) -> None:
        """Take back all that nobody has taken."""
        for order in self.folder.glob("*.order"):
            order.unlink(missing_ok=True)
