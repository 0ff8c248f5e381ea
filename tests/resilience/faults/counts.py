"""Counts of a campaign by kind of fault."""

from __future__ import annotations

import threading
import time
from collections import Counter
from dataclasses import dataclass, field

from tests.resilience.faults.answers import Verdict
from tests.resilience.faults.kinds import IN_REAL_TIME, KINDS, Struck
from tests.resilience.faults.lives import Life, Place
from tests.resilience.faults.stops import shown

# The number of faults from which a campaign must include all kinds.
FULL = 200
# The number of kills in real-time mode of which one must be within a batch.
SOME = 5


@dataclass
class Count:
    """Counts for one kind of fault."""

    faults: int = 0
    acted: int = 0
    recoveries: int = 0
    stops: int = 0
    seconds: float = 0.0
    outcomes: Counter[str] = field(default_factory=Counter)
    what: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)


class FaultCounts:
    """Counts of all lanes; each lane is a thread.

    Attributes
    ----------
    left_out
        Resources to break or move that were not available.
    problems
        Unexpected events.
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
        """Elapsed time in seconds."""
        return time.monotonic() - self._began

    @property
    def total(self) -> int:
        """Total number of faults."""
        return sum(count.faults for count in self.kinds.values())

    @property
    def done(self) -> bool:
        """True if the number of faults is reached or the time is over."""
        return self.total >= self._faults or time.monotonic() > self._end

    @property
    def full(self) -> bool:
        """True if the campaign requires faults of every kind."""
        return self._faults >= FULL

    @property
    def good(self) -> bool:
        """True if no row is lost or duplicated, all queries went on, and nothing was omitted."""
        differs = self.lost or self.doubled or self.wrong
        return not (differs or self.problems or self.shortfalls)

    @property
    def shortfalls(self) -> list[str]:
        """The unmet requirements of the campaign."""
        found = []
        if self.total < self._faults:
            found.append(f"{self.total} faults, not {self._faults}")
        in_real_time = self.kinds.get(IN_REAL_TIME, Count())
        if in_real_time.faults >= SOME and not in_real_time.acted:
            found.append("no query was killed within a batch of real-time mode")
        if self.full:
            found += [f"none that acted: {k.name}" for k in KINDS if not self.has_acted(k.name)]
            found += self.left_out
            if not self.clock_moves_by_batch_time:
                found.append("no clock was moved under a window by batch time")
        return found

    def has_acted(self, kind: str) -> bool:
        """Return True if a fault of this kind had an effect on a query."""
        return kind in self.kinds and self.kinds[kind].acted > 0

    def fault(self, kind: str, struck: Struck, seconds: float) -> None:
        """Count a fault after which the query continued."""
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
        """Count a fault after which the query did not continue."""
        with self._lock:
            count = self.kinds.setdefault(kind, Count())
            count.faults += 1
            count.what[what] += 1

    def driver(self, place: Place) -> None:
        """Count a driver."""
        with self._lock:
            self.places[str(place)] += 1

    def clock_moved(self, *, by_batch_time: bool) -> None:
        """Count a fault that moved the query's clock."""
        with self._lock:
            self.clock_moves += 1
            self.clock_moves_by_batch_time += by_batch_time

    def attempts_of(self, life: Life) -> None:
        """Count a driver's task attempts that were retries, speculative or failed."""
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
        """Record an unexpected event."""
        with self._lock:
            self.problems.append(text)
