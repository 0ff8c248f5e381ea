"""The two streams of the example: their windows and their queries."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Any, TextIO

from pyspark.sql import SparkSession
from pyspark.sql.streaming import StreamingQuery

from stream_lib.files import read_stream
from winops import Kept, keep

DELAY_MINUTES = 10
POLL_SECONDS = 0.5


@dataclass(frozen=True)
class Window:
    """A retention window of this example.

    Attributes
    ----------
    name
        Name of the query and of its directories.
    policy
        CCL text.
    arguments
        Further arguments of :func:`winops.keep`.
    """

    name: str
    policy: str
    arguments: dict[str, Any]


AIRPORTS = Window(
    "airports", "KEEP 60 MINUTES PER (origin)", {"time": "departure", "order_by": ["seq"]}
)
CARRIERS = Window("carriers", "KEEP 20 ROWS PER (carrier)", {"order_by": ["departure", "seq"]})
WINDOWS = (AIRPORTS, CARRIERS)


def changes_path(out: Path, window: Window) -> Path:
    """Directory of the change rows of `window`."""
    return out / "changes" / window.name


def start(spark: SparkSession, data: Path, out: Path, window: Window) -> StreamingQuery:
    """Start the query of `window`: one file per batch, until all files are read.

    A query that was interrupted or killed continues from its checkpoint.
    """
    return (
        _kept(spark, data, window)
        .changes(reason=True)
        .writeStream.queryName(window.name)
        .format("parquet")
        .option("path", str(changes_path(out, window)))
        .option("checkpointLocation", str(out / "checkpoints" / window.name))
        .trigger(availableNow=True)
        .start()
    )


def describe(spark: SparkSession, data: Path, window: Window) -> str:
    """Return what `window` does, in English."""
    return _kept(spark, data, window).describe()


def _kept(spark: SparkSession, data: Path, window: Window) -> Kept:
    departures = read_stream(spark, data).withWatermark("departure", f"{DELAY_MINUTES} minutes")
    return keep(departures, window.policy, **window.arguments)


def follow(
    spark: SparkSession,
    queries: Sequence[StreamingQuery],
    files: int,
    look: Callable[[], None] = lambda: None,
    to: TextIO = sys.stderr,
) -> bool:
    """Print a line per batch until all queries have ended, or Ctrl-C stops them.

    `look` is called from time to time while they run.

    Returns
    -------
    bool
        True if all queries ended.

    Raises
    ------
    pyspark.errors.StreamingQueryException
        A query failed.
    """
    stopping = Event()
    # Spark's own handler cancels the jobs of the queries, which then fail instead of ending.
    before = signal.signal(signal.SIGINT, lambda *_: stopping.set())
    try:
        shown = {query.name: 0 for query in queries}
        running = list(queries)
        while running and not stopping.wait(POLL_SECONDS):
            # The state is read before the progress, so that the last batch is not missed.
            active = [query for query in running if query.isActive]
            look()
            for query in running:
                progress = query.recentProgress
                for batch in progress[shown[query.name] :]:
                    print(_line(query.name, batch, files), file=to, flush=True)
                shown[query.name] = len(progress)
                if query not in active:
                    query.awaitTermination()
            running = active
        if running:
            # An interrupted batch will run again, so its stack traces are not useful.
            spark.sparkContext.setLogLevel("OFF")
        for query in running:
            query.stop()
    finally:
        signal.signal(signal.SIGINT, before)
    return not running


def _line(name: str, batch: Any, files: int) -> str:
    state = batch["stateOperators"][0]["customMetrics"] if batch["stateOperators"] else {}
    changes = state.get("rowsInserted", 0) + state.get("rowsDeleted", 0)
    # After the last file a batch without rows follows, which only advances the watermark.
    place = f"{batch['batchId'] + 1} of {files}" if batch["numInputRows"] else "of time"
    return (
        f"{name:<9} batch {place:<10}"
        f"{batch['numInputRows']:>8,} rows{state.get('rowsHeld', 0):>8,} held"
        f"{changes:>9,} changes{batch['durationMs']['triggerExecution']:>8,} ms"
    )
