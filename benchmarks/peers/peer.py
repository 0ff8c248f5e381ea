"""A job, and somebody else's way of doing it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import DataFrame

ROOT = Path(__file__).resolve().parents[2]
JOBS = frozenset({"rows", "time", "aggregates"})
# What none of the queries in Spark does that are written by hand.
LATE_ROWS = "a row that comes in a later batch than its successors is applied then, uncounted"


@dataclass(frozen=True)
class Job:
    """What is asked of a stream of trades.

    Attributes
    ----------
    kind
        "rows": changes of the last `size` rows of each key. "time": changes of the rows of the
        last `size` milliseconds of each key. "aggregates": each row with mean, least and
        greatest price of the last `size` rows of its key.
    size
        Rows or milliseconds.
    key, order, time
        Columns; the peers are written for the columns of trades.
    """

    kind: str
    size: int
    key: str = "key"
    order: str = "seq"
    time: str = "ts"


@dataclass(frozen=True, kw_only=True)
class Peer:
    """Somebody else's way of doing the jobs.

    Attributes
    ----------
    name
        In the results.
    missing
        What it does not guarantee, in comparison with winops.
    jobs
        Kinds of jobs that it does.
    longest
        Longest window, in rows, that it can be asked for: what it does for each row or batch
        grows with the window. None if any.
    most_keys
        Most keys that it can be asked for, where what it does grows with them. None if any.
    needs
        The file that the build has to have written. None if none.
    """

    name: str
    missing: str
    jobs: frozenset[str] = JOBS
    longest: int | None = None
    most_keys: int | None = None
    needs: Path | None = None

    @property
    def is_built(self) -> bool:
        """Whether it can run."""
        return self.needs is None or self.needs.exists()


@dataclass(frozen=True, kw_only=True)
class SparkPeer(Peer):
    """A query in the session that winops runs in.

    Attributes
    ----------
    query
        Makes the answer to a job from a stream of trades, or from a table.
    """

    query: Callable[[DataFrame, Job], DataFrame]


@dataclass(frozen=True, kw_only=True)
class ProcessPeer(Peer):
    """A process that is given paths of Parquet files, and answers each with a line of JSON.

    Attributes
    ----------
    command
        Makes the command line for a job, with so much heap, in the words of ``-Xmx``.
    """

    command: Callable[[Job, str], list[str]]
