"""Kills the flights example repeatedly and compares its final output.

The job runs once undisturbed. Then it runs in a separate directory. Its whole process group is
killed (SIGKILL) at random moments, and the same command is started again, until the number of
kills is reached and the job has ended. The change rows must then equal those of the undisturbed
run. A job that ends before the last kill is compared, and another job starts.

    python -m tests.resilience.kill_flights --kills 20 --seed 7
    python -m tests.resilience.kill_flights --kills 2 --days 3 --files 8

The seed gives the moments as fractions of the undisturbed run, so that a slower machine is killed
at similar moments. Exit status: 0 if all rows agree, 1 if not or if a run failed.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from tests.resilience.kills import Job, disturb
from tests.support.paths import ROOT

# Without event time, the change time is that of the batch, which a kill may move.
WINDOWS = {"airports": (), "carriers": ("_change_time",)}


class Flights(Job):
    """The flights example on one output directory."""

    def __init__(self, out: Path, options: list[str]) -> None:
        program = str(ROOT / "examples" / "flights.py")
        command = [sys.executable, program, "--out", str(out), *options]
        super().__init__(out, command, "checkpoints/*/offsets/[0-9]*")

    def progress(self) -> str:
        """The number of committed batches of each window, for the log."""
        counts = {
            name: len(list(self.folder.glob(f"checkpoints/{name}/commits/[0-9]*")))
            for name in WINDOWS
        }
        return ", ".join(f"{count} of {name}" for name, count in counts.items())

    def changes(self, spark: SparkSession, window: str) -> DataFrame:
        """The change rows of committed batches."""
        rows = spark.read.parquet(str(self.folder / "changes" / window))
        return rows.drop(*WINDOWS[window])


def compare(calm: Flights, jobs: list[Flights]) -> tuple[int, int]:
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
                f"{job.folder.name} {window}: {got.count():,} change rows of {wanted.count():,},"
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
        undisturbed = Flights(work / "calm", options)
        try:
            calm = undisturbed.run()
            print(
                f"undisturbed: {calm.whole:.1f} s,"
                f" first batch after {calm.until_first_batch:.1f} s",
                flush=True,
            )
            rng = random.Random(args.seed)
            jobs = disturb(
                lambda number: Flights(work / f"killed-{number}", options),
                lambda: calm.moment(rng, args.kills),
                args.kills,
            )
        except RuntimeError as error:
            print(f"the job failed with {error}")
            return 1
        passed, failed = compare(undisturbed, jobs)
    print(f"{args.kills} kills: {passed} passed, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
