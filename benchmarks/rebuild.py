r"""Measures what it costs to add an aggregate to a query with state.

    python benchmarks/rebuild.py
    python benchmarks/rebuild.py --keys 1000 --rounds 1

A stream fills windows and emits their greatest price. In each round it restarts, and a copy of
its checkpoint starts with a mean as a further aggregate, which the first micro-batch computes
from the stored rows. A query with the mean and a new checkpoint reads all rows again. A ratio is
that of the times of one round.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from statistics import median
from typing import Any

from pyspark.sql import SparkSession

from data import files
from questions import HIGH_AND_MEAN_OF_STEPS, HIGH_OF_STEPS
from results import versions
from sessions import session
from sides import QuerySide, Times
from trades import TRADES_IN_TURNS
from workloads import MILLION, Workload, newest

ROOT = Path(__file__).resolve().parents[1]
# The lines of the results: four micro-batches of one size, and all up to the second of them.
ORDINARY = "micro-batch"
RESTARTED = "first after a restart with the same query"
CHANGED = "first after a restart with the mean"
AFTERWARDS = "micro-batch with the mean"
REPLAYED = "all rows, into a new checkpoint"
# The micro-batches of the stream in each round; the last one is timed, because the first one
# loads the state.
BATCHES = 3
Round = dict[str, Times]


def _sum(times: list[Times]) -> Times:
    """Return the times and counters of several micro-batches together."""
    names = times[0].counted
    return Times(
        sum(each.add_batch for each in times),
        sum(each.whole_trigger for each in times),
        sum(each.rows_out for each in times),
        {name: sum(each.counted[name] for each in times) for name in names},
        sum(each.changelog_bytes for each in times),
    )


class Rounds:
    """The stream, and the rounds over it.

    Attributes
    ----------
    rows
        The number of rows that the stream has read.
    """

    def __init__(
        self, spark: SparkSession, args: argparse.Namespace, work: Path, fill: list[int]
    ) -> None:
        self._spark = spark
        self._work = work
        self._high = Workload(
            "rebuild", TRADES_IN_TURNS, newest(args.rows), HIGH_OF_STEPS, args.keys, args.batch
        )
        self._mean = replace(self._high, question=HIGH_AND_MEAN_OF_STEPS)
        # The changed query reads one micro-batch more than the stream.
        sizes = [*fill, *[args.batch] * ((BATCHES + 1) * args.rounds + 1)]
        self._paths = files(args.data, TRADES_IN_TURNS, args.keys, sizes)
        self._sizes = sizes
        self._stream = QuerySide("stream", spark, self._high, work)
        self._read = 0
        for _ in fill:
            self._next()

    @property
    def rows(self) -> int:
        """The number of rows that the stream has read."""
        return sum(self._sizes[: self._read])

    def _next(self) -> Times:
        times = self._take(self._stream, self._read)
        self._read += 1
        return times

    def _take(self, side: QuerySide, number: int) -> Times:
        return side.take(self._paths[number], self._sizes[number])

    def run(self, number: int) -> Round:
        """Run a round, and return the times by name."""
        taken = {ORDINARY: [self._next() for _ in range(BATCHES)][-1]}
        self._stream.pause()
        changed = QuerySide(
            f"changed-{number}", self._spark, self._mean, self._work, self._stream.source
        )
        # Spark may still maintain the state, and renames its temporary files.
        ignored = shutil.ignore_patterns("*.tmp*")
        shutil.copytree(self._stream.checkpoint, changed.checkpoint, ignore=ignored)
        taken[RESTARTED] = self._next()
        self._stream.pause()
        taken[CHANGED] = self._take(changed, self._read - 1)
        taken[AFTERWARDS] = self._take(changed, self._read)
        changed.stop()
        new = QuerySide(f"new-{number}", self._spark, self._mean, self._work)
        replayed = [self._take(new, each) for each in range(self._read)]
        taken[REPLAYED] = _sum(replayed)
        new.stop()
        for name in (RESTARTED, CHANGED):
            if taken[name].rows_out != replayed[-1].rows_out:
                raise RuntimeError(
                    f"{name}: {taken[name].rows_out:,} rows instead of {replayed[-1].rows_out:,}"
                )
        return taken


def _megabytes(of: Callable[[Times], int], rounds: list[Round], name: str) -> str:
    return f"{median(of(each[name]) for each in rounds) / MILLION:,.1f}"


def _lines(rounds: list[Round]) -> list[str]:
    lines = [
        "| | time, to a micro-batch | spread | changelog, MB | state written, MB"
        " | state read, MB |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    for name in rounds[0]:
        ratios = [each[name].whole_trigger / each[ORDINARY].whole_trigger for each in rounds]
        lines.append(
            f"| {name} | **{median(ratios):.2f}** | {min(ratios):.2f} to {max(ratios):.2f}"
            f" | {_megabytes(lambda times: times.changelog_bytes, rounds, name)}"
            f" | {_megabytes(lambda times: times.counted['stateBytesWritten'], rounds, name)}"
            f" | {_megabytes(lambda times: times.counted['stateBytesRead'], rounds, name)} |"
        )
    return lines


def main() -> None:
    """Fill the windows, and run the rounds."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--keys", type=int, default=100_000, help="number of groups (default: 100000)"
    )
    parser.add_argument("--rows", type=int, default=100, help="rows of a window (default: 100)")
    parser.add_argument(
        "--batch", type=int, help="rows of a micro-batch (default: one for each group)"
    )
    parser.add_argument("--rounds", type=int, default=3, help="timed rounds (default: 3)")
    artifacts = ROOT / "artifacts" / "benchmarks"
    parser.add_argument("--data", type=Path, default=artifacts / "data", help="input files")
    parser.add_argument("--out", type=Path, default=artifacts, help="where the results go")
    args = parser.parse_args()
    args.batch = args.batch or args.keys

    spark = session(2)
    held = args.keys * args.rows
    fill = [min(MILLION, held - first) for first in range(0, held, MILLION)]
    with tempfile.TemporaryDirectory(prefix="winops-rebuild-") as work:
        running = Rounds(spark, args, Path(work), fill)
        rounds: list[Round] = []
        for number in range(args.rounds):
            rounds.append(running.run(number))
            times = [f"{name} {each.whole_trigger:,.0f} ms" for name, each in rounds[-1].items()]
            print(f"round {number}: {', '.join(times)}", flush=True)
    taken_with = versions(spark)
    lines = [
        *_lines(rounds),
        "",
        f"{args.keys:,} groups of {args.rows:,} rows, micro-batches of {args.batch:,} rows;"
        f" the last new checkpoint read {running.rows:,} rows.",
        "",
        ", ".join(f"{name} {version}" for name, version in taken_with.items()),
        "",
    ]
    measured: dict[str, Any] = {
        "versions": taken_with,
        "keys": args.keys,
        "rows": args.rows,
        "batch": args.batch,
        "rounds": [{name: asdict(times) for name, times in each.items()} for each in rounds],
    }
    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / "rebuild.json").write_text(json.dumps(measured, indent=2) + "\n")
    (args.out / "rebuild.md").write_text("\n".join(lines))
    print("\n" + "\n".join(lines))
    spark.stop()


if __name__ == "__main__":
    main()
