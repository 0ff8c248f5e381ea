"""The measured tables of rows, windows and queries. A new workload is a new entry."""

from __future__ import annotations

from dataclasses import dataclass, replace

from auctions import AUCTIONS
from data import Source
from floors import COUNTED, SORTED, STATELESS, Floor
from peers.peer import Job
from questions import (
    AVERAGE,
    CHANGES,
    MEAN,
    MEAN_LOW_HIGH,
    MEAN_OF_STEPS,
    RUNNING_TOTAL,
    Question,
)
from trades import DELAYED_TRADES, FEED, FILLED_TRADES, SILENT_TRADES, SKEWED_TRADES, TRADES
from winops import WindowPolicy, esper, spl


@dataclass(frozen=True)
class Workload:
    """A stream, its windows, and the query over them.

    Attributes
    ----------
    name
        The short name, on the command line and in the results.
    source
        The rows.
    policy
        The policy of each key's window.
    question
        The query over the windows.
    keys
        The number of groups; 0 if the source has its own keys.
    rows
        The rows per micro-batch.
    floor
        The query for comparison.
    partitions
        The shuffle partitions, of all sides.
    fill
        The sizes of the first micro-batches, which fill the windows.
    warm_up
        The number of micro-batches of `rows` between those and the first timed one. They warm up
        the JVM.
    leaving
        The number of deletes for each insert when the windows are full; the run checks this
        number.
    time
        The column with the event time, for windows by time.
    apply
        The order in which rows with a time are applied.
    delay
        The delay of the watermark.
    window
        The number of rows in a full window, if it is the same for all windows.
    family
        Workloads that differ in one property, to be compared with the first of them.
    blur
        The maximum number of deletes of a micro-batch that may arrive with the next one, because
        the clocks of the candidates differ in resolution; 0 without time.
    job
        The same work for the peers of winops; None without peers.
    over
        The result columns as SQL with OVER clauses, instead of a call of `keep` with `policy`;
        None if the workload is a call.
    is_steady
        Whether each trigger finds new rows, so that Spark runs no micro-batch without rows in
        between to advance time. The time of a micro-batch then passes in the next one.
    """

    name: str
    source: Source
    policy: str | WindowPolicy
    question: Question
    keys: int
    rows: int
    floor: Floor = SORTED
    partitions: int = 2
    fill: tuple[int, ...] = ()
    warm_up: int = 12
    leaving: float = 1.0
    time: str | None = None
    apply: str | None = None
    delay: str = "0 seconds"
    window: int | None = None
    family: str | None = None
    blur: int = 0
    job: Job | None = None
    over: tuple[str, ...] | None = None
    is_steady: bool = False

    def sizes(self, timed: int) -> list[int]:
        """The sizes of all micro-batches, in order."""
        return [*self.fill, *[self.rows] * (self.warm_up + timed)]


def newest(rows: int) -> str:
    """Return the CCL text of a window of this many rows."""
    return f"KEEP {rows} ROWS PER (key)"


MILLION = 1_000_000

W1 = Workload(
    "w1",
    TRADES,
    newest(100),
    CHANGES,
    keys=10_000,
    rows=MILLION,
    window=100,
    job=Job("rows", 100),
)
W2 = Workload(
    "w2",
    SKEWED_TRADES,
    newest(100),
    CHANGES,
    keys=MILLION,
    rows=MILLION,
    window=100,
    leaving=0.0,
    job=Job("rows", 100),
)
# The key with the fewest rows has 21 of 32 million rows.
W2B = Workload(
    "w2b",
    SKEWED_TRADES,
    newest(20),
    CHANGES,
    keys=MILLION,
    rows=10_000,
    floor=COUNTED,
    fill=(4 * MILLION,) * 8,
    window=20,
    leaving=0.9,
)
W3 = Workload(
    "w3",
    TRADES,
    newest(10_000),
    CHANGES,
    keys=100,
    rows=MILLION,
    window=10_000,
    job=Job("rows", 10_000),
)
W3B = Workload("w3b", TRADES, newest(MILLION), CHANGES, keys=1, rows=MILLION, window=MILLION)
# A thousand keys are active and a row arrives every 100 microseconds: about a thousand rows per
# key.
W4 = Workload(
    "w4",
    SILENT_TRADES,
    "KEEP 100 SECONDS PER (key)",
    CHANGES,
    keys=1_000,
    rows=MILLION,
    time="ts",
    apply="arrival",
    # The rows of a millisecond, by which the clocks of Spark and Esper differ.
    blur=10,
    job=Job("time", 100_000),
)
# The same, with rows that wait until the watermark has passed them.
W4_ORDERED = replace(W4, name="w4-ordered", apply="event_time", job=None)
W5 = replace(W1, name="w5", question=MEAN_LOW_HIGH, job=Job("aggregates", 100))
_LAST_100 = "(PARTITION BY key ORDER BY ts, seq ROWS BETWEEN 99 PRECEDING AND CURRENT ROW)"
# The aggregates of w5 in the order of event time, as Spark's own window functions.
OVER = replace(
    W5,
    name="over",
    policy="ROWS BETWEEN 99 PRECEDING AND CURRENT ROW",
    time="ts",
    apply="event_time",
    # The last rows of a micro-batch wait for the watermark.
    blur=10,
    # Rows leave frames, which is no change of a row.
    leaving=0.0,
    job=Job("over", 100),
    over=tuple(
        f"{function}(price) OVER {_LAST_100} AS {name}"
        for function, name in (("avg", "mean"), ("min", "low"), ("max", "high"))
    ),
)
# A running total stores one buffer for each key.
OVER_RUNNING = replace(
    OVER,
    name="over-running",
    policy="RANGE UNBOUNDED PRECEDING",
    question=RUNNING_TOTAL,
    keys=MILLION,
    floor=COUNTED,
    window=None,
    job=None,
    over=("sum(qty) OVER (PARTITION BY key ORDER BY ts) AS total",),
)
# Twelve such batches fill two windows of a million rows.
W5_SIZES = [
    Workload(
        f"w5-{window}",
        TRADES,
        newest(window),
        MEAN_LOW_HIGH,
        keys=2,
        rows=200_000,
        window=window,
        family="w5-size",
    )
    for window in (100, 10_000, MILLION)
]
ROWS_SIZES = [
    Workload(
        f"rows-{window}",
        TRADES,
        newest(window),
        CHANGES,
        keys=2,
        rows=200_000,
        window=window,
        family="rows-size",
    )
    for window in (10, 1_000, 100_000, MILLION)
]
W6 = [
    Workload(name, TRADES, esper(text), CHANGES, keys=100, rows=MILLION, window=10_000)
    for name, text in (
        ("w6-sort", "#groupwin(key)#sort(10000, price)"),
        ("w6-rank", "#groupwin(key)#rank(seq % 10000, 10000, price)"),
        ("w6-unique", "#groupwin(key)#unique(seq % 10000)"),
    )
]
W7 = [
    replace(W1, name=f"{name}{beside}", rows=rows, floor=floor, fill=(MILLION,) * 3, job=None)
    for beside, floor in (("", STATELESS), ("-counted", COUNTED))
    for name, rows in (("w7", 1_000), ("w7-empty", 0))
]
# Most sellers never sell ten times; three in four auctions belong to a few sellers.
W8 = Workload(
    "w8",
    AUCTIONS,
    "KEEP 10 ROWS PER (seller)",
    AVERAGE,
    keys=0,
    rows=200_000,
    leaving=0.7,
    window=10,
)
# A row removes the last row of its group or, if the group is new, another group.
CROSS_GROUP = [
    Workload(
        f"cross-group-{keys}",
        FILLED_TRADES,
        spl(f"sliding, count(1), partitioned, partitionCount({keys}); param partitionBy : key;"),
        CHANGES,
        keys=keys,
        rows=1_000,
        floor=COUNTED,
        fill=(keys,),
        window=1,
        family="cross-group",
    )
    for keys in (10_000, 2 * MILLION)
]

# The most rows of a micro-batch with one or two rows of each group that it touches.
SPARSE_ROWS = 100_000


def _sparse(window: int, keys: int, question: Question = CHANGES, name: str = "") -> Workload:
    filling = window * keys
    return Workload(
        name or f"sparse-{window}",
        TRADES,
        newest(window),
        question,
        keys=keys,
        rows=min(SPARSE_ROWS, keys),
        floor=COUNTED,
        # A fifth more rows than the windows have, because keys are random.
        fill=(MILLION,) * -(-filling * 6 // (5 * MILLION)),
        warm_up=10,
        leaving=0.8,
        window=window,
        job=Job("rows", window) if question is CHANGES else None,
    )


SPARSE = [
    _sparse(window, keys)
    for window, keys in (
        (20, 100_000),
        (100, 100_000),
        (250, 80_000),
        (600, 33_000),
        (10_000, 2_000),
    )
]
SPARSE_MORE = [
    _sparse(20, MILLION, name="sparse-million"),
    _sparse(100, 100_000, MEAN, "sparse-mean"),
    _sparse(100, 100_000, MEAN_OF_STEPS, "sparse-agg"),
    _sparse(10_000, 2_000, MEAN, "sparse-mean-10000"),
]
# Each of 100,000 keys has a row every ten seconds.
SPARSE_TIME = replace(
    _sparse(100, 100_000),
    name="sparse-time",
    policy="KEEP 1000 SECONDS PER (key)",
    time="ts",
    apply="arrival",
    blur=10,
    window=None,
    job=None,
    is_steady=True,
)
SPARSE_TIME_ORDERED = replace(SPARSE_TIME, name="sparse-time-ordered", apply="event_time")
# Each micro-batch brings ten seconds of rows, of which half have waited for half an hour or more.
DISORDER = Workload(
    "disorder",
    DELAYED_TRADES,
    newest(100),
    CHANGES,
    keys=20_000,
    rows=20_000,
    floor=COUNTED,
    fill=(MILLION,) * 8,
    warm_up=6,
    leaving=0.8,
    time="ts",
    apply="event_time",
    delay="1 hour",
    window=100,
    blur=20_000,
    is_steady=True,
)
FEEDS = [
    replace(W1, name="feed-w1", source=FEED, leaving=0.9, job=None),
    replace(W3, name="feed-w3", source=FEED, leaving=0.9, job=None),
    replace(
        W4,
        name="feed-w4",
        source=FEED,
        policy="KEEP 100 SECONDS PER (key)",
        apply="event_time",
        job=None,
    ),
    replace(W5, name="feed-w5", source=FEED, leaving=0.9, job=None),
]
# The windows of w6-sort are full; then each micro-batch brings some twenty rows of each key.
SPARSE_SORT = replace(
    W6[0], name="sparse-sort", rows=2_000, floor=COUNTED, fill=(MILLION, MILLION // 5)
)

HEADLINE = (W1, W5)
STREAMS = (
    W1,
    W2,
    W2B,
    W3,
    W3B,
    W4,
    W4_ORDERED,
    W5,
    OVER,
    OVER_RUNNING,
    *W5_SIZES,
    *ROWS_SIZES,
    *W6,
    *W7,
    W8,
    *SPARSE,
    *SPARSE_MORE,
    SPARSE_TIME,
    SPARSE_TIME_ORDERED,
    DISORDER,
    *FEEDS,
    SPARSE_SORT,
    *CROSS_GROUP,
)
WORKLOADS = {workload.name: [workload] for workload in STREAMS} | {
    "w5-size": W5_SIZES,
    "rows-size": ROWS_SIZES,
    "w6": W6,
    "sparse": SPARSE,
    "feed": FEEDS,
    "cross-group": CROSS_GROUP,
}
