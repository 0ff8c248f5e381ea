"""Kills queries in real-time mode, most of them within a batch, and compares their output.

    python -m tests.resilience.real_time --kills 20 --seed 7

A query follows files to which rows are appended all the time. Its process group is killed
(SIGKILL) within a batch or about its end, and the next query goes on with the same checkpoint, in
real-time mode or in micro-batches. At the end, a last one processes all rows. Some windows of the
fault campaign take turns. The changes that all queries have written must then be those of a batch
query, for each group in the order of its positions: each repetition must be equal to the first
row with its position. The campaign itself cannot have these kills, because its files are neither
a source nor a sink of real-time mode.

Exit status: 0 if no row was lost or wrong, every query went on, and at least one was killed
within a batch in real time; 2 if the mode is not available.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from tests.resilience.faults.answers import Fact, answer, batches, compare
from tests.resilience.faults.jobs import JOBS, WINDOWS
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


class Life(Job):
    """A query in one mode, on the folder that all queries of a run share."""

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

    @property
    def within_a_batch(self) -> bool:
        """True if a batch has begun and is not committed."""
        return self.last_begun() > self.last_commit()


def moment(rng: random.Random) -> Moment:
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


def disturbed(folder: Path, job: str, kills: int, rng: random.Random) -> int:
    """Kill the queries of a run, and process all rows; return the kills that count.

    These are the kills in real-time mode within a batch.
    """
    feed = Feed(folder / "rows", ROWS_PER_SECOND, rng.randrange(1 << 30))
    feed.start(FIRST_ROWS)
    # Spark refuses micro-batches after a first batch of real-time mode that has not ended.
    Life(folder, job, program.TO_THE_END).run()
    mode, within = MICRO_BATCHES, 0
    for number in range(1, kills + 1):
        mode = rng.choice((REAL_TIME, MICRO_BATCHES)) if mode == REAL_TIME else REAL_TIME
        life, at = Life(folder, job, mode), moment(rng)
        if not life.run_and_kill(at):
            raise RuntimeError("a query without an end has ended")
        within += mode == REAL_TIME and life.within_a_batch
        print(
            f"kill {number:>3} of {kills}, {mode}, {at}; batch {life.last_begun()} begun,"
            f" {life.last_commit()} committed",
            flush=True,
        )
    feed.end()
    Life(folder, job, program.TO_THE_END).run()
    Life(folder, job, program.ANSWER).run()
    return within


def good(folder: Path, job: str) -> bool:
    """Compare the changes of all queries of a run with the answer, and print the comparison."""
    written = facts_of((folder / "changes").iterdir())
    expected = answer(facts_of([folder / "answer"]))
    verdict = compare(expected, written, ended=True, at_least_once=True)
    print(
        f"{job}: {verdict.rows:,} rows, {len(written) - verdict.rows:,} repetitions,"
        f" {verdict.lost:,} lost, {verdict.wrong:,} wrong",
        flush=True,
    )
    return verdict.good


def missing() -> str | None:
    """Return what keeps the kills from running."""
    if SPARK < (4, 3):
        return "real-time mode needs Spark 4.3"
    if not FILES_JAR.exists():
        return f"{FILES_JAR.relative_to(ROOT)} is missing: run `./sbt -Dspark=4.3 jars`"
    return None


def main() -> int:
    """Run the program and return the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--kills-of-run", type=int, default=7, help="of one window")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--work", type=Path, help="an empty directory (default: temporary)")
    args = parser.parse_args()
    if problem := missing():
        print(problem, file=sys.stderr)
        return 2
    rng = random.Random(args.seed)
    windows = rng.sample(REAL_TIME_WINDOWS, len(REAL_TIME_WINDOWS))
    print(f"seed {args.seed}", flush=True)
    failed = within = number = 0
    with tempfile.TemporaryDirectory(prefix="kill-real-time-") as temporary:
        work = args.work or Path(temporary)
        for done in range(0, args.kills, args.kills_of_run):
            number += 1
            job, folder = windows[number % len(windows)], work / f"run-{number}"
            kills = min(args.kills_of_run, args.kills - done)
            try:
                within += disturbed(folder, job, kills, rng)
            except RuntimeError as error:
                print(f"{job}: the query failed with {error}")
                return 1
            failed += not good(folder, job)
    print(f"{args.kills} kills, {within} within a batch in real time: {failed} failed")
    return int(failed > 0 or within == 0)


if __name__ == "__main__":
    sys.exit(main())
