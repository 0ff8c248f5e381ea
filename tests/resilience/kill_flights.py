"""Kills the flights example repeatedly and compares its final output.

The job runs once undisturbed. Then it runs in a separate directory. Its whole process group is
killed (SIGKILL) at random moments, and the same command is started again, until the number of
kills is reached and the job has ended. The change rows must then equal those of the undisturbed
run. A job that ends before the last kill is compared, and another job starts.

    python tests/resilience/kill_flights.py --kills 20 --seed 7
    python tests/resilience/kill_flights.py --kills 2 --days 3 --files 8

The seed gives the moments as fractions of the undisturbed run, so that a slower machine is killed
at similar moments. Exit status: 0 if all rows agree, 1 if not or if a run failed.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

ROOT = Path(__file__).resolve().parents[2]
# Without event time, the change time is that of the batch, which a kill may move.
WINDOWS = {"airports": (), "carriers": ("_change_time",)}
POLL_SECONDS = 0.02


@dataclass(frozen=True)
class Moment:
    """A moment to kill: `seconds` after the start, or after the next first batch."""

    seconds: float
    in_batches: bool

    def __str__(self) -> str:
        since = "a batch began" if self.in_batches else "the start"
        return f"{self.seconds:5.2f} s after {since}"


@dataclass(frozen=True)
class Calm:
    """The durations of the undisturbed run and of its start until the first batch, in seconds."""

    until_first_batch: float
    whole: float

    def moment(self, rng: random.Random, kills: int) -> Moment:
        """Draw a moment: one in four during the job's start, the others while batches run.

        A start includes the repetition of the batch that the last kill interrupted. The fraction
        for batches is such that `kills` kills leave work undone."""
        if rng.random() < 0.25:
            return Moment(rng.uniform(0, 1.3 * self.until_first_batch), in_batches=False)
        work = self.whole - self.until_first_batch
        return Moment(rng.uniform(0, 1.5 * work / kills), in_batches=True)


class Job:
    """The flights example on one output directory."""

    def __init__(self, out: Path, options: list[str]) -> None:
        self.out = out
        self.log = out.with_suffix(".log")
        self._command = [
            sys.executable,
            str(ROOT / "examples" / "flights.py"),
            "--out",
            str(out),
            *options,
        ]

    def run(self) -> Calm:
        """Run to the end.

        Raises
        ------
        RuntimeError
            The job failed.
        """
        began = time.monotonic()
        process = self._start()
        first = None
        while process.poll() is None:
            if first is None and self._begun():
                first = time.monotonic() - began
            time.sleep(POLL_SECONDS)
        whole = time.monotonic() - began
        self._expect_success(process)
        return Calm(first or whole, whole)

    def run_and_kill(self, moment: Moment) -> bool:
        """Start the job, kill it at that moment, and return True if it was still running."""
        known = self._begun()
        process = self._start()
        while moment.in_batches and process.poll() is None and self._begun() == known:
            time.sleep(POLL_SECONDS)
        try:
            process.wait(moment.seconds)
        except subprocess.TimeoutExpired:
            # The JVM belongs to the group too, and no handler of either process can run.
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return True
        self._expect_success(process)
        return False

    def batches(self) -> str:
        """The number of committed batches of each window, for the log."""
        counts = {
            name: len(list(self.out.glob(f"checkpoints/{name}/commits/[0-9]*")))
            for name in WINDOWS
        }
        return ", ".join(f"{count} of {name}" for name, count in counts.items())

    def changes(self, spark: SparkSession, window: str) -> DataFrame:
        """The change rows of committed batches."""
        rows = spark.read.parquet(str(self.out / "changes" / window))
        return rows.drop(*WINDOWS[window])

    def _begun(self) -> set[Path]:
        return set(self.out.glob("checkpoints/*/offsets/[0-9]*"))

    def _start(self) -> subprocess.Popen[bytes]:
        with self.log.open("ab") as log:
            return subprocess.Popen(
                self._command, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
            )

    def _expect_success(self, process: subprocess.Popen[bytes]) -> None:
        if process.returncode != 0:
            tail = self.log.read_text(errors="replace").splitlines()[-40:]
            raise RuntimeError(f"exit status {process.returncode}:\n" + "\n".join(tail))


def disturb(work: Path, options: list[str], calm: Calm, kills: int, seed: int) -> list[Job]:
    """Kill jobs until the number of kills is reached; all jobs have ended on return."""
    rng = random.Random(seed)
    jobs = [Job(work / "killed-1", options)]
    done = 0
    while done < kills:
        moment = calm.moment(rng, kills)
        if jobs[-1].run_and_kill(moment):
            done += 1
            print(
                f"kill {done:>3} of {kills}, {moment}; batches committed: {jobs[-1].batches()}",
                flush=True,
            )
        else:
            print(f"{jobs[-1].out.name} came to its end; the next one begins", flush=True)
            jobs.append(Job(work / f"killed-{len(jobs) + 1}", options))
    jobs[-1].run()
    return jobs


def compare(calm: Job, jobs: list[Job]) -> tuple[int, int]:
    """Compare the change rows of each job with the undisturbed run; return (passed, failed)."""
    spark = (
        SparkSession.builder.appName("kill_flights")
        .master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    failed = 0
    for job in jobs:
        for window in WINDOWS:
            wanted, got = calm.changes(spark, window), job.changes(spark, window)
            missing, extra = wanted.exceptAll(got).count(), got.exceptAll(wanted).count()
            failed += bool(missing or extra)
            print(
                f"{job.out.name} {window}: {got.count():,} change rows of {wanted.count():,},"
                f" {missing:,} missing, {extra:,} too many",
                flush=True,
            )
    spark.stop()
    return len(jobs) * len(WINDOWS) - failed, failed


def main() -> int:
    """Run the program and return the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--work", type=Path, help="an empty directory (default: temporary)")
    args, options = parser.parse_known_args()
    print(f"seed {args.seed}, options of the job: {' '.join(options) or 'none'}", flush=True)
    with tempfile.TemporaryDirectory(prefix="kill-flights-") as temporary:
        work = args.work or Path(temporary)
        work.mkdir(parents=True, exist_ok=True)
        undisturbed = Job(work / "calm", options)
        try:
            calm = undisturbed.run()
            print(
                f"undisturbed: {calm.whole:.1f} s,"
                f" first batch after {calm.until_first_batch:.1f} s",
                flush=True,
            )
            jobs = disturb(work, options, calm, args.kills, args.seed)
        except RuntimeError as error:
            print(f"the job failed with {error}")
            return 1
        passed, failed = compare(undisturbed, jobs)
    print(f"{args.kills} kills: {passed} passed, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
