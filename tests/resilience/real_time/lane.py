"""A lane of the campaign whose queries are in real-time mode when they are killed.

A query follows files to which rows are appended all the time. Its process group is killed
(SIGKILL) within a batch or about its end, and the next query goes on with the same checkpoint, in
real-time mode or in micro-batches. At the end of a run, a last one processes all rows. The
changes that all queries have written must then be those of a batch query, for each group in the
order of its positions: each repetition must be equal to the first row with its position. The
sources and sinks of the other lanes have no real-time mode.
"""

from __future__ import annotations

import itertools
import json
import random
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tests.resilience.faults.answers import Fact, Verdict, answer, batches, compare
from tests.resilience.faults.counts import FaultCounts
from tests.resilience.faults.jobs import JOBS, WINDOWS
from tests.resilience.faults.kinds import AFTER_REAL_TIME, IN_REAL_TIME, Struck
from tests.resilience.kills import Job, Moment
from tests.resilience.real_time import program
from tests.resilience.real_time.program import BATCH, FILES_JAR, MICRO_BATCHES, REAL_TIME
from tests.resilience.real_time.rows import Feed
from tests.support.paths import ROOT
from tests.support.versions import SPARK

# Windows in the order of arrival: rows of event time wait for a later batch.
REAL_TIME_WINDOWS = tuple(
    name for name in WINDOWS if JOBS[name].takes_history and not JOBS[name].timed
)
FIRST_ROWS = 200
ROWS_PER_SECOND = 200


class RealTimeLane:
    """Runs one window after another, and kills its queries."""

    name = "real-time"

    def __init__(self, folder: Path, counts: FaultCounts, rng: random.Random) -> None:
        self._folder = folder
        self._counts = counts
        self._rng = rng

    def work(self, faults_of_run: int) -> None:
        """Kill queries until the number of faults is reached."""
        self._folder.mkdir(parents=True)
        windows = self._rng.sample(REAL_TIME_WINDOWS, len(REAL_TIME_WINDOWS))
        for number, job in enumerate(itertools.cycle(windows)):
            if self._counts.done:
                break
            self._disturb(
                RealTimeRun(self._folder / f"run-{number}", job, self._rng), faults_of_run
            )

    def _disturb(self, run: RealTimeRun, faults: int) -> None:
        self._counts.runs[f"{run.job}; in real time"] += 1
        what = f"{run.job} in {run.folder}"
        try:
            run.start()
            for _ in range(faults):
                if self._counts.done:
                    break
                began = time.monotonic()
                killed = run.kill()
                self._counts.fault(killed.kind, killed.struck, time.monotonic() - began)
            self._counts.compared(run.end(), what)
        except RuntimeError as error:
            self._counts.problem(f"{what}: {error}")


@dataclass(frozen=True)
class Killed:
    """A kill of a query in a mode, and whether it was within a batch."""

    mode: str
    within_a_batch: bool

    @property
    def kind(self) -> str:
        """The kind of the fault."""
        return IN_REAL_TIME if self.mode == REAL_TIME else AFTER_REAL_TIME

    @property
    def struck(self) -> Struck:
        """The fault as the campaign counts it."""
        where = "within a batch" if self.within_a_batch else "between batches"
        return Struck(f"driver {where}", "killed", acted=self.within_a_batch)


class RealTimeRun:
    """A window in a folder with its rows, its checkpoint, and the output of all its queries."""

    def __init__(self, folder: Path, job: str, rng: random.Random) -> None:
        self.folder = folder
        self.job = job
        self._rng = rng
        self._mode = MICRO_BATCHES
        self._feed = Feed(folder / "rows", ROWS_PER_SECOND, rng.randrange(1 << 30))

    def start(self) -> None:
        """Process the first rows.

        Raises
        ------
        RuntimeError
            The query failed.
        """
        self._feed.start(FIRST_ROWS)
        # Spark refuses micro-batches after a first batch of real-time mode that has not ended.
        self._life(program.TO_THE_END).run()

    def kill(self) -> Killed:
        """Start the next query and kill it.

        Raises
        ------
        RuntimeError
            The query failed or ended.
        """
        after_real_time = self._rng.choice((REAL_TIME, MICRO_BATCHES))
        self._mode = after_real_time if self._mode == REAL_TIME else REAL_TIME
        life = self._life(self._mode)
        if not life.run_and_kill(_moment(self._rng)):
            raise RuntimeError("a query without an end has ended")
        return Killed(self._mode, life.last_begun() > life.last_commit())

    def end(self) -> Verdict:
        """Process all rows, and compare the output of all queries with the answer.

        Raises
        ------
        RuntimeError
            The query failed.
        """
        self._feed.end()
        self._life(program.TO_THE_END).run()
        self._life(program.ANSWER).run()
        expected = answer(facts_of([self.folder / "answer"]))
        written = facts_of((self.folder / "changes").iterdir())
        return compare(expected, written, ended=True, at_least_once=True)

    def _life(self, mode: str) -> _Life:
        return _Life(self.folder, self.job, mode)


class _Life(Job):
    """A query in one mode."""

    def __init__(self, folder: Path, job: str, mode: str) -> None:
        module = "tests.resilience.real_time.program"
        command = [sys.executable, "-m", module, str(folder), job, mode]
        super().__init__(folder, command, "changes/*")

    def last_begun(self) -> int:
        """Return the last batch of which the sink has a file, or -1."""
        return max((int(mark.name.split("-")[0]) for mark in self.begun()), default=-1)

    def last_commit(self) -> int:
        """Return the last committed batch, or -1."""
        return max(batches(self.folder / "checkpoint" / "commits"), default=-1)


def _moment(rng: random.Random) -> Moment:
    """Draw a moment: one in four about the end of the first batch, the others anywhere in it."""
    if rng.random() < 0.25:
        return Moment(rng.uniform(0.95 * BATCH, 1.2 * BATCH), in_batches=True)
    return Moment(rng.uniform(0, BATCH), in_batches=True)


def facts_of(files: Iterable[Path]) -> list[Fact]:
    """Read the facts of files, except a last line that a kill has cut."""
    return [
        tuple(json.loads(line))
        for file in files
        for line in file.read_text().splitlines(keepends=True)
        if line.endswith("\n")
    ]


def missing() -> str | None:
    """Return what keeps a lane of this kind from running."""
    if SPARK < (4, 3):
        return "real-time mode needs Spark 4.3"
    if not FILES_JAR.exists():
        return f"{FILES_JAR.relative_to(ROOT)} is missing: run `./sbt -Dspark=4.3 jars`"
    return None
