"""A job, and another product's implementation of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import DataFrame

ROOT = Path(__file__).resolve().parents[2]
JOBS = frozenset({"rows", "time", "aggregates"})
# Guarantees that none of the hand-written queries in Spark gives.
LATE_ROWS = "a row that comes in a later batch than its successors is applied then, uncounted"


@dataclass(frozen=True)
class Job:
    """A query over a stream of trades.

    Attributes
    ----------
    kind
        "rows": changes of the last `size` rows of each key. "time": changes of the rows of the
        last `size` milliseconds of each key. "aggregates": each row with mean, least and
        greatest price of the last `size` rows of its key. "over": the same in the order of
        event time.
    size
        The number of rows or milliseconds.
    key, order, time
        The columns; the peers are written for the columns of trades.
    """

    kind: str
    size: int
    key: str = "key"
    order: str = "seq"
    time: str = "ts"


@dataclass(frozen=True, kw_only=True)
class Peer:
    """Another product's implementation of the jobs.

    Attributes
    ----------
    name
        Its name in the results.
    missing
        The guarantees that it lacks, in comparison with winops.
    jobs
        The kinds of jobs that it supports.
    longest
        The longest window, in rows, that it can run, if its cost per row or batch grows with the
        window. None if unlimited.
    most_keys
        The greatest number of keys that it can run, if its cost grows with them. None if
        unlimited.
    needs
        The file that the build must have written. None if it needs no build.
    """

    name: str
    missing: str
    jobs: frozenset[str] = JOBS
    longest: int | None = None
    most_keys: int | None = None
    needs: Path | None = None

    @property
    def is_built(self) -> bool:
        """True if the peer can run."""
        return self.needs is None or self.needs.exists()


@dataclass(frozen=True, kw_only=True)
class SparkPeer(Peer):
    """A query in the same session as winops.

    Attributes
    ----------
    query
        Creates the query of a job from a stream of trades, or from a table.
    """

    query: Callable[[DataFrame, Job], DataFrame]


@dataclass(frozen=True, kw_only=True)
class ProcessPeer(Peer):
    """A process that reads paths of Parquet files, and answers each with a line of JSON.

    Attributes
    ----------
    command
        Creates the command line for a job, with the heap size in the syntax of ``-Xmx``.
    """

    command: Callable[[Job, str], list[str]]
