"""What happened in a campaign, counted by kind of fault."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.faults.answers import Verdict
from tests.faults.kinds import Struck
from tests.faults.lives import Life, Place


@dataclass
class Count:
    """What happened with one kind of fault."""

    faults: int = 0
    recoveries: int = 0
    stops: int = 0
    seconds: float = 0.0
    what: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)


class Tally:
    """Counts of all lanes together; lanes are threads."""

    def __init__(self, faults: int, seconds: float) -> None:
        self._faults = faults
        self._end = time.monotonic() + seconds
        self._began = time.monotonic()
        self._lock = threading.Lock()
        self.kinds: dict[str, Count] = {}
        self.runs: Counter[str] = Counter()
        self.places: Counter[str] = Counter()
        self.attempts: Counter[str] = Counter()
        self.resumed = 0
        self.notes: list[str] = []
        self.problems: list[str] = []
        self.rows = self.lost = self.doubled = self.wrong = self.comparisons = 0

    @property
    def total(self) -> int:
        """How many faults there were."""
        return sum(count.faults for count in self.kinds.values())

    @property
    def done(self) -> bool:
        """Whether there were enough, or the time is over."""
        return self.total >= self._faults or time.monotonic() > self._end

    @property
    def good(self) -> bool:
        """Whether nothing was lost or doubled, and all went on after each fault."""
        differs = self.lost or self.doubled or self.wrong
        return not (differs or self.problems) and self.total > 0

    def fault(self, kind: str, struck: Struck, seconds: float) -> None:
        """Count a fault after which the query went on."""
        with self._lock:
            count = self.kinds.setdefault(kind, Count())
            count.faults += 1
            count.recoveries += 1
            count.seconds += seconds
            count.what[struck.what] += 1
            if struck.errors is not None:
                count.stops += 1
                count.errors[" > ".join(struck.errors)] += 1
        print(f"{self.total:>4} {kind}: {struck.what}, {seconds:.1f} s", flush=True)

    def unrecovered(self, kind: str, what: str) -> None:
        """Count a fault after which it did not."""
        with self._lock:
            count = self.kinds.setdefault(kind, Count())
            count.faults += 1
            count.what[what] += 1

    def driver(self, place: Place) -> None:
        """Count a driver."""
        with self._lock:
            self.places[f"{place.master}, clock {place.clock_days:+} days"] += 1

    def attempts_of(self, life: Life) -> None:
        """Count the tasks of a driver that were not the first, or failed."""
        with self._lock:
            self.resumed += life.resumed
        if not life.attempts.exists():
            return
        with self._lock:
            for line in life.attempts.read_text().splitlines():
                _, _, attempt, kind, status = line.split("\t")
                which = "first" if attempt == "0" else "later"
                self.attempts[f"{kind}, {which} attempt, {status}"] += 1

    def compared(self, verdict: Verdict, what: str) -> None:
        """Count a comparison."""
        with self._lock:
            self.comparisons += 1
            self.rows += verdict.rows
            self.lost += verdict.lost
            self.doubled += verdict.doubled
            self.wrong += verdict.wrong
            if not verdict.good:
                self.problems.append(f"{what}: {verdict}")

    def problem(self, text: str) -> None:
        """Note what should not have happened."""
        with self._lock:
            self.problems.append(text)

    def table(self) -> str:
        """Give it as text."""
        lines = [f"{'kind of fault':<34}{'faults':>8}{'stops':>8}{'recovered':>11}{'seconds':>9}"]
        for kind, c in sorted(self.kinds.items()):
            lines.append(
                f"{kind:<34}{c.faults:>8}{c.stops:>8}{c.recoveries:>11}{c.seconds:>9.0f}"
            )
        recovered = sum(c.recoveries for c in self.kinds.values())
        stops = sum(c.stops for c in self.kinds.values())
        took = time.monotonic() - self._began
        lines.append(f"{'together':<34}{self.total:>8}{stops:>8}{recovered:>11}{took:>9.0f}")
        lines.append("")
        lines.append(
            f"{self.comparisons} comparisons of {self.rows:,} rows: {self.lost} lost,"
            f" {self.doubled} doubled, {self.wrong} wrong"
        )
        lines += _listed("tasks that were not the first, or failed", self.attempts)
        lines += _listed("runs", self.runs)
        lines += _listed("drivers", self.places)
        for kind, c in sorted(self.kinds.items()):
            lines += _listed(f"{kind}: where", c.what)
            lines += _listed(f"{kind}: stopped with", c.errors)
        if self.resumed:
            lines.append(f"started again for Spark's Kafka source: {self.resumed} times")
        lines += [f"note: {note}" for note in self.notes]
        lines += [f"PROBLEM: {problem}" for problem in self.problems]
        return "\n".join(lines)

    def json(self) -> dict[str, Any]:
        """Give it as what JSON can hold."""
        return {
            "seconds": round(time.monotonic() - self._began, 1),
            "faults": self.total,
            "kinds": {
                kind: {
                    "faults": c.faults,
                    "stops": c.stops,
                    "recoveries": c.recoveries,
                    "seconds": round(c.seconds, 1),
                    "what": dict(c.what),
                    "errors": dict(c.errors),
                }
                for kind, c in sorted(self.kinds.items())
            },
            "comparisons": self.comparisons,
            "rows": self.rows,
            "lost": self.lost,
            "doubled": self.doubled,
            "wrong": self.wrong,
            "runs": dict(self.runs),
            "drivers": dict(self.places),
            "attempts": dict(self.attempts),
            "resumed": self.resumed,
            "notes": self.notes,
            "problems": self.problems,
        }

    def write(self, folder: Path) -> None:
        """Write both into a folder."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "faults.txt").write_text(self.table() + "\n")
        (folder / "faults.json").write_text(json.dumps(self.json(), indent=2) + "\n")


def _listed(title: str, counts: Counter[str]) -> list[str]:
    if not counts:
        return []
    return [title, *(f"{n:>8}  {what}" for what, n in counts.most_common())]
