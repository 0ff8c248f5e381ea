"""What is measured: a table of rows, windows and questions. A new workload is a new entry."""

from __future__ import annotations

from dataclasses import dataclass

from auctions import AUCTIONS
from data import Source
from questions import AVERAGE, CHANGES, MEAN_LOW_HIGH, Question
from trades import TRADES


@dataclass(frozen=True)
class Workload:
    """A stream, what is retained of it, and what is asked of that.

    Attributes
    ----------
    name
        Short name, on the command line and in the results.
    source
        The rows.
    window
        How many of the newest rows are kept of each key.
    question
        What comes out.
    keys
        Number of groups; rows are spread over them evenly, at random. 0 where the source has
        its own.
    rows
        Rows per micro-batch.
    partitions
        Shuffle partitions, of candidate and floor.
    warm_up
        Micro-batches before the first timed one. They fill the windows and warm the JVM.
    leaving
        Rows that leave for each that arrives, once the windows are as full as they get; the run
        checks that so many left.
    family
        Workloads that differ in one thing, to be compared with the first of them.
    """

    name: str
    source: Source
    window: int
    question: Question
    keys: int
    rows: int
    partitions: int = 2
    warm_up: int = 12
    leaving: float = 1.0
    family: str | None = None

    @property
    def policy(self) -> str:
        """CCL text."""
        return f"KEEP {self.window} ROWS PER ({self.source.key})"


W1 = Workload("w1", TRADES, window=100, question=CHANGES, keys=10_000, rows=1_000_000)
W5 = Workload("w5", TRADES, window=100, question=MEAN_LOW_HIGH, keys=10_000, rows=1_000_000)
# Twelve batches of these fill two windows of a million rows.
W5_SIZES = [
    Workload(
        f"w5-{window}",
        TRADES,
        window,
        MEAN_LOW_HIGH,
        keys=2,
        rows=200_000,
        family="w5-size",
    )
    for window in (100, 10_000, 1_000_000)
]
# Most sellers never sell ten times, and three in four auctions are those of a few.
W8 = Workload("w8", AUCTIONS, 10, AVERAGE, keys=0, rows=200_000, leaving=0.7)

HEADLINE = (W1, W5)
WORKLOADS = {workload.name: [workload] for workload in (W1, W5, *W5_SIZES, W8)}
WORKLOADS["w5-size"] = W5_SIZES
