"""Comparison of a query's committed rows with the expected answer."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlparse

import pyarrow.parquet as pq

from tests.resilience.faults.jobs import HEARTBEAT

# A fact: group, position in the group, text of the row.
Fact = tuple[str, int, str]
Answer = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Verdict:
    """The differences between the committed rows and the answer."""

    rows: int = 0
    lost: int = 0
    doubled: int = 0
    wrong: int = 0

    @property
    def good(self) -> bool:
        """True if there are no differences."""
        return not (self.lost or self.doubled or self.wrong)


def answer(facts: Iterable[Fact]) -> Answer:
    """Return each group's rows in order."""
    groups: dict[str, list[Fact]] = defaultdict(list)
    for fact in facts:
        if not fact[0].startswith(HEARTBEAT):
            groups[fact[0]].append(fact)
    return {k: [text for _, _, text in sorted(rows)] for k, rows in groups.items()}


def compare(
    expected: Answer, committed: Iterable[Fact], *, ended: bool, at_least_once: bool
) -> Verdict:
    """Compare the committed rows of each group with a prefix of the group's answer.

    A query that has ended must have committed the whole answer. A sink with at-least-once
    delivery may hold a row several times; all copies must be equal.
    """
    times = Counter(fact for fact in committed if not fact[0].startswith(HEARTBEAT))
    doubled = 0 if at_least_once else sum(times.values()) - len(times)
    lost = wrong = 0
    groups: dict[str, list[Fact]] = defaultdict(list)
    for fact in times:
        groups[fact[0]].append(fact)
    for k in expected.keys() | groups.keys():
        wanted = expected.get(k, ())
        got = [text for _, _, text in sorted(groups.get(k, ()))]
        whole = wanted if ended else wanted[: len(got)]
        missing = (Counter(whole) - Counter(got)).total()
        extra = (Counter(got) - Counter(whole)).total()
        lost += missing
        wrong += extra or (not missing and got != list(whole))
    return Verdict(len(times), lost, doubled, int(wrong))


def read_files(paths: Iterable[Path]) -> list[Fact]:
    """Read the rows of Parquet files."""
    facts: list[Fact] = []
    for path in paths:
        table = pq.ParquetFile(path).read(columns=["k", "position", "fact"])
        columns = (table.column(name).to_pylist() for name in ("k", "position", "fact"))
        facts += zip(*columns, strict=True)
    return facts


class CommittedFiles:
    """The rows of a file sink's committed batches; each file is read once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._read: dict[Path, list[Fact]] = {}

    def facts(self) -> list[Fact]:
        """Read the rows that are committed so far."""
        found: list[Fact] = []
        for entry in log_entries(self._folder / "_spark_metadata"):
            path = Path(unquote(urlparse(entry["path"]).path))
            if path not in self._read:
                self._read[path] = read_files([path])
            found += self._read[path]
        return found


def batches(log: Path) -> set[int]:
    """Return the numbers of the batches that a Spark log stores as files."""
    return {int(path.name.split(".")[0]) for path in log.glob("[0-9]*")}


def log_entries(log: Path) -> list[dict[str, str]]:
    """Read a compacted Spark log, of a file sink or of a file source."""
    while True:
        with suppress(FileNotFoundError):
            # A FileNotFoundError means that Spark compacted the log meanwhile; read again.
            return _log_entries(log)


def _log_entries(log: Path) -> list[dict[str, str]]:
    compact = sorted(int(p.name.split(".")[0]) for p in log.glob("[0-9]*.compact"))
    single = {int(p.name): p for p in log.glob("[0-9]*") if p.name.isdigit()}
    files = []
    if compact:
        files.append(log / f"{compact[-1]}.compact")
    files += [single[n] for n in sorted(single) if not compact or n > compact[-1]]
    return [json.loads(line) for file in files for line in file.read_text().splitlines()[1:]]
