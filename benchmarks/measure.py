"""Runs a workload's sides in turns and records the times of every batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from data import files
from sides import Counts, Side, Times
from workloads import Workload

FLOOR = "floor"
WINOPS = "winops"
# The micro-batches after the timed ones, in which inserts and deletes are counted.
COUNTED_BATCHES = 2


@dataclass(frozen=True)
class Round:
    """The same micro-batch on all sides, by name."""

    times: dict[str, Times]

    def ratio(self, name: str) -> float:
        """A side's time in units of the floor's time."""
        return self.times[name].add_batch / self.times[FLOOR].add_batch


@dataclass(frozen=True)
class Result:
    """All timed rounds of a workload."""

    workload: Workload
    rounds: list[Round]

    @property
    def candidates(self) -> list[str]:
        """The sides without the floor."""
        return [name for name in self.rounds[0].times if name != FLOOR]

    def ratios(self, name: str) -> list[float]:
        """A side's ratio in each round."""
        return [each.ratio(name) for each in self.rounds]

    def ratio(self, name: str) -> float:
        """The median of the rounds' ratios."""
        return median(self.ratios(name))

    def millis(self, name: str) -> float:
        """The median of a side's times."""
        return median(each.times[name].add_batch for each in self.rounds)

    def nanos_per_row(self, name: str) -> float:
        """A side's time for an input row, in nanoseconds; the median of the rounds."""
        return self.millis(name) * 1e6 / self.workload.rows


def measure(workload: Workload, sides: Sequence[Side], batches: int, cache: Path) -> Result:
    """Time `batches` micro-batches of a workload after those that fill and warm up.

    All sides keep running, so that no batch includes a start or a load of state. Each round
    starts with another side, so that no side always has a warm file cache. After the last round,
    the inserts and the deletes of some more micro-batches are counted.

    Raises
    ------
    RuntimeError
        The number of output rows is wrong, or the windows are not full.
    """
    sizes = workload.sizes(batches)
    all_sizes = [*sizes, *[workload.rows] * COUNTED_BATCHES]
    paths = files(cache, workload.source, workload.keys, all_sizes)
    rounds = []
    totals = dict.fromkeys((side.name for side in sides), 0)
    try:
        for number, (path, size) in enumerate(zip(paths, sizes, strict=False)):
            first = number % len(sides)
            order = [*sides[first:], *sides[:first]]
            taken = {side.name: side.take(path, size) for side in order}
            one = Round({side.name: taken[side.name] for side in sides})
            timed = number >= len(sizes) - batches
            _print(workload, number, timed, one)
            _check(workload, size, one, timed)
            for name, each in one.times.items():
                totals[name] += each.rows_out
            _check_equal(workload, totals)
            if timed:
                rounds.append(one)
        for path in paths[len(sizes) :]:
            _check_counts(
                workload,
                {
                    side.name: side.count(path, workload.rows)
                    for side in sides
                    if side.name != FLOOR
                },
            )
    finally:
        for side in sides:
            side.stop()
    return Result(workload, rounds)


def _print(workload: Workload, number: int, timed: bool, one: Round) -> None:
    times = [
        f"{name} {each.add_batch:,.0f} ms ({one.ratio(name):.2f})"
        for name, each in one.times.items()
    ]
    what = "round" if timed else "warm-up"
    print(f"{workload.name} {what} {number}: {', '.join(times)}", flush=True)


def _check(workload: Workload, size: int, one: Round, timed: bool) -> None:
    winops = one.times[WINOPS]
    inserted, deleted = winops.counted["rowsInserted"], winops.counted["rowsDeleted"]
    wanted = workload.question.rows(inserted, deleted)
    if winops.rows_out != wanted or (inserted != size and workload.apply != "event_time"):
        raise RuntimeError(
            f"{workload.name}: {size:,} rows, of which {inserted:,} arrived,"
            f" gave {winops.rows_out:,} rows instead of {wanted:,}"
        )
    # A few windows of a small run may not be full yet.
    if timed and deleted < 0.9 * workload.leaving * size:
        raise RuntimeError(f"{workload.name}: only {deleted:,} rows left, windows are not full")


def _check_equal(workload: Workload, totals: Mapping[str, int]) -> None:
    """Compare the total numbers of output rows, of which `blur` rows may be delayed."""
    for name, rows in totals.items():
        if name != FLOOR and abs(rows - totals[WINOPS]) > workload.blur:
            raise RuntimeError(
                f"{workload.name}: {rows:,} rows of {name}, {totals[WINOPS]:,} of winops"
            )


def _check_counts(workload: Workload, counts: Mapping[str, Counts]) -> None:
    """Compare the inserts and the deletes of a micro-batch, each separately."""
    winops = counts[WINOPS]
    if workload.apply != "event_time" and winops.inserted != workload.rows:
        raise RuntimeError(
            f"{workload.name}: {winops.inserted:,} inserts for {workload.rows:,} rows"
        )
    for name, each in counts.items():
        # The delayed rows of the batch before are included now, and some of this batch are
        # missing.
        if each.inserted != winops.inserted or (
            abs(each.deleted - winops.deleted) > 2 * workload.blur
        ):
            raise RuntimeError(
                f"{workload.name}: {each.inserted:,} inserts and {each.deleted:,} deletes of"
                f" {name}, {winops.inserted:,} and {winops.deleted:,} of winops"
            )
