"""What is measured: a table of data shapes and policies. A new workload is a new entry."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Workload:
    """A stream and what is retained of it.

    Attributes
    ----------
    name
        Short name, on the command line and in the results.
    policy
        CCL text.
    keys
        Number of groups; rows are spread over them evenly, at random.
    rows
        Rows per micro-batch.
    partitions
        Shuffle partitions, of candidate and floor.
    warm_up
        Micro-batches before the first timed one. They fill the windows and warm the JVM.
    changes_per_row
        Change rows per input row once all windows are full; the run checks that the operator
        really gave them.
    """

    name: str
    policy: str
    keys: int
    rows: int
    partitions: int = 2
    warm_up: int = 12
    changes_per_row: float = 2.0


WORKLOADS = {
    workload.name: workload
    for workload in (
        Workload(
            name="w1",
            policy="KEEP 100 ROWS PER (key)",
            keys=10_000,
            rows=1_000_000,
        ),
    )
}
