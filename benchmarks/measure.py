"""Runs a workload's two sides in turns and keeps every batch's time."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from statistics import median

from pyspark.sql import SparkSession

from data import files
from sides import SIDES, Side, Times
from workloads import Workload


@dataclass(frozen=True)
class Round:
    """The same micro-batch on both sides."""

    candidate: Times
    floor: Times

    @property
    def ratio(self) -> float:
        """Candidate's time in units of the floor's."""
        return self.candidate.add_batch / self.floor.add_batch


@dataclass(frozen=True)
class Result:
    """All timed rounds of a workload."""

    workload: Workload
    rounds: list[Round]

    @property
    def ratio(self) -> float:
        """Median of the rounds' ratios."""
        return median(each.ratio for each in self.rounds)

    @property
    def nanos_per_row(self) -> float:
        """Candidate's time for an input row, in nanoseconds; the median of the rounds."""
        return self.candidate_millis * 1e6 / self.workload.rows

    @property
    def candidate_millis(self) -> float:
        """Median of the candidate's times."""
        return median(each.candidate.add_batch for each in self.rounds)

    @property
    def floor_millis(self) -> float:
        """Median of the floor's times."""
        return median(each.floor.add_batch for each in self.rounds)


def measure(
    spark: SparkSession, workload: Workload, batches: int, cache: Path, work: Path
) -> Result:
    """Time `batches` micro-batches of a workload after its warm-up.

    Both queries stay up, so that no batch pays for starting one or for loading state, and they
    take turns at going first, so that neither always meets the other's warm file cache.

    Raises
    ------
    RuntimeError
        Another number of rows came out than has to, or the windows are not full.
    """
    paths = files(
        cache, workload.source, workload.keys, workload.rows, workload.warm_up + batches
    )
    sides = [Side(name, spark, workload, work) for name in SIDES]
    rounds = []
    try:
        for number, path in enumerate(paths):
            order = sides if number % 2 == 0 else sides[::-1]
            one = Round(**{side.name: side.take(path) for side in order})
            timed = number >= workload.warm_up
            print(
                f"{workload.name} {'round' if timed else 'warm-up'} {number}:"
                f" candidate {one.candidate.add_batch:,} ms, floor {one.floor.add_batch:,} ms,"
                f" ratio {one.ratio:.2f}",
                flush=True,
            )
            if timed:
                _check(workload, one.candidate)
                rounds.append(one)
    finally:
        for side in sides:
            side.stop()
    return Result(workload, rounds)


def _check(workload: Workload, times: Times) -> None:
    inserted, deleted = times.counted["rowsInserted"], times.counted["rowsDeleted"]
    wanted = workload.question.rows(workload.rows, deleted)
    if (inserted, times.rows_out) != (workload.rows, wanted):
        raise RuntimeError(
            f"{workload.name}: {workload.rows:,} rows, of which {inserted:,} arrived,"
            f" gave {times.rows_out:,} rows instead of {wanted:,}"
        )
    # A few windows of a small run may not be full yet.
    if deleted < 0.9 * workload.leaving * workload.rows:
        raise RuntimeError(f"{workload.name}: only {deleted:,} rows left, windows are not full")
