"""What happened in a campaign, counted by kind of fault."""

from __future__ import annotations

import threading
import time
from collections import Counter
from dataclasses import dataclass, field

from tests.faults.answers import Verdict
from tests.faults.kinds import KINDS, Struck
from tests.faults.lives import Life, Place
from tests.faults.stops import shown

# From so many faults on, a campaign has to have them all.
FULL = 200


@dataclass
class Count:
    """What happened with one kind of fault."""

    faults: int = 0
    acted: int = 0
    recoveries: int = 0
    stops: int = 0
    seconds: float = 0.0
    outcomes: Counter[str] = field(default_factory=Counter)
    what: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)


class Tally:
    """Counts of all lanes together; lanes are threads.

    Attributes
    ----------
    left_out
        What could not be had, and was to be broken or moved.
    problems
        What should not have happened.
    """

    def __init__(self, faults: int, seconds: float) -> None:
        self._faults = faults
        self._end = time.monotonic() + seconds
        self._began = time.monotonic()
        self._lock = threading.Lock()
        self.kinds: dict[str, Count] = {}
        self.runs: Counter[str] = Counter()
        self.places: Counter[str] = Counter()
        self.attempts: Counter[str] = Counter()
        self.clock_moves = self.clock_moves_by_batch_time = 0
        self.resumed = 0
        self.left_out: list[str] = []
        self.problems: list[str] = []
        self.rows = self.lost = self.doubled = self.wrong = self.comparisons = 0

    @property
    def seconds(self) -> float:
        """How long it has taken."""
        return time.monotonic() - self._began

    @property
    def total(self) -> int:
        """How many faults there were."""
        return sum(count.faults for count in self.kinds.values())

    @property
    def done(self) -> bool:
        """Whether there were enough, or the time is over."""
        return self.total >= self._faults or time.monotonic() > self._end

    @property
    def full(self) -> bool:
        """Whether there have to be faults of every kind."""
        return self._faults >= FULL

    @property
    def good(self) -> bool:
        """Whether nothing was lost or doubled, all went on, and nothing was left out."""
        differs = self.lost or self.doubled or self.wrong
        return not (differs or self.problems or self.shortfalls)

    @property
    def shortfalls(self) -> list[str]:
        """What the campaign was to do and has not done."""
        found = []
        if self.total < self._faults:
            found.append(f"{self.total} faults, not {self._faults}")
        if self.full:
            found += [f"none that acted: {k.name}" for k in KINDS if not self.has_acted(k.name)]
            found += self.left_out
            if not self.clock_moves_by_batch_time:
                found.append("no clock was moved under a window by batch time")
        return found

    def has_acted(self, kind: str) -> bool:
        """Tell whether a fault of a kind gave a query something to bear."""
        return kind in self.kinds and self.kinds[kind].acted > 0

    def fault(self, kind: str, struck: Struck, seconds: float) -> None:
        """Count a fault after which the query went on."""
        with self._lock:
            count = self.kinds.setdefault(kind, Count())
            count.faults += 1
            count.acted += struck.acted
            count.recoveries += 1
            count.seconds += seconds
            count.outcomes[struck.outcome] += 1
            count.what[f"{struck.what}: {struck.outcome}"] += 1
            if struck.stopped_with is not None:
                count.stops += 1
                count.errors[shown(struck.stopped_with)] += 1
        print(
            f"{self.total:>4} {kind}: {struck.what}: {struck.outcome}, {seconds:.1f} s",
            flush=True,
        )

    def unrecovered(self, kind: str, what: str) -> None:
        """Count a fault after which it did not."""
        with self._lock:
            count = self.kinds.setdefault(kind, Count())
            count.faults += 1
            count.what[what] += 1

    def driver(self, place: Place) -> None:
        """Count a driver."""
        with self._lock:
            self.places[str(place)] += 1

    def clock_moved(self, *, by_batch_time: bool) -> None:
        """Count a fault after which the query had another clock."""
        with self._lock:
            self.clock_moves += 1
            self.clock_moves_by_batch_time += by_batch_time

    def attempts_of(self, life: Life) -> None:
        """Count the tasks of a driver that were not the first, or failed."""
        with self._lock:
            self.resumed += life.resumed
            for attempt in life.unusual_attempts():
                self.attempts[str(attempt)] += 1
                if attempt.own:
                    self.problems.append(f"a task failed in the operator: {attempt}")

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
