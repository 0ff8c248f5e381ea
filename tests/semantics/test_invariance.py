"""The same rows give the same changes for any cut, restart, partitioning and state store.

Several hundred small cases run in one query, each as its own group, under all kinds of windows. A
batch query and streams of all configurations are compared with a model.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from functools import reduce
from itertools import pairwise
from typing import Any, NamedTuple

import pytest
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F

from tests.support import model
from tests.support.model import Change
from tests.support.replay import NewReplay, at
from tests.support.settings import HDFS, PARTITIONS, READ_TASKS, ROCKSDB, StreamSetup, settings
from tests.support.transports import first_cases, longer_on_connect, same_on_connect
from winops import keep

SCHEMA = "seq long, sample int, ts timestamp"
CASES = 300
START = 100_000
SPAN = 60_000
DELAY = 5_000
END = START + 10 * SPAN
HEARTBEAT = -1


class Tick(NamedTuple):
    """A row: `seq` is its position in the order of arrival, `ms` its time."""

    seq: int
    sample: int
    ms: int


class Case(NamedTuple):
    """A window, for the operator and for the model."""

    name: str
    arguments: Mapping[str, Any]
    window: Callable[[], model.Window]


def idle(window: model.Window, milliseconds: int) -> model.Window:
    window.idle = milliseconds
    return window


# Windows without a clock, in order of arrival.
UNTIMED = [
    Case("rows", {"policy": "KEEP 3 ROWS"}, lambda: model.keep_rows(3)),
    Case("slack", {"policy": "KEEP 3 ROWS SLACK 2"}, lambda: model.keep_rows(3, 2)),
    Case("every rows", {"policy": "KEEP EVERY 4 ROWS"}, lambda: model.keep_every_rows(4)),
]
# Windows by event time, whose rows wait for the watermark.
TIMED = [
    Case("rows in time", {"policy": "KEEP 3 ROWS SLACK 2"}, lambda: model.keep_rows(3, 2)),
    Case("interval", {"policy": "KEEP 7 SECONDS"}, lambda: model.keep_interval(7_000)),
    Case(
        "every interval",
        {"policy": "KEEP EVERY 10 SECONDS", "origin": 3_000},
        lambda: model.keep_every_interval(10_000, 3_000),
    ),
    Case(
        "every interval from the first row",
        {"policy": "KEEP EVERY 9 SECONDS", "origin": "first", "idle": "12 seconds"},
        lambda: idle(model.keep_every_interval(9_000, None), 12_000),
    ),
    Case(
        "idle",
        {"policy": "KEEP 5 ROWS", "idle": "6 seconds"},
        lambda: idle(model.keep_rows(5), 6_000),
    ),
]
# Windows by event time, whose rows are applied on arrival.
ON_ARRIVAL = [
    Case("on arrival", {"policy": "KEEP 7 SECONDS"}, lambda: model.keep_interval(7_000)),
]


def ticks(rng: random.Random) -> list[Tick]:
    """Return rows of many cases in order of arrival; no row exceeds the watermark delay."""
    times = [
        (START + rng.randrange(0, SPAN, 500), sample)
        for sample in range(CASES)
        for _ in range(rng.randint(1, 12))
    ]
    arrivals = sorted((ms + rng.randrange(DELAY), rng.random(), ms, c) for ms, c in times)
    rows = [Tick(seq, sample, ms) for seq, (_, _, ms, sample) in enumerate(arrivals)]
    return [*rows, Tick(len(rows), HEARTBEAT, END)]


def split(rng: random.Random, rows: list[Tick], files: int) -> Iterator[list[Tick]]:
    """Cut rows at random; the last row, which only advances time, is its own batch."""
    cuts = sorted(rng.sample(range(len(rows) - 1), files - 2))
    bounds = [0, *cuts, len(rows) - 1, len(rows)]
    for start, end in pairwise(bounds):
        part = rows[start:end]
        rng.shuffle(part)
        yield part


def changes(rows: DataFrame) -> DataFrame:
    """Return the changes of all cases in one query."""

    def one(case: Case, **arguments: Any) -> DataFrame:
        kept = keep(rows, **case.arguments, **arguments, per="sample", order_by="seq")
        return kept.changes().withColumn("name", F.lit(case.name))

    parts = [
        *(one(case) for case in UNTIMED),
        *(one(case, time="ts") for case in TIMED),
        *(one(case, time="ts", apply="arrival") for case in ON_ARRIVAL),
    ]
    return reduce(DataFrame.unionByName, parts)


Changes = dict[tuple[str, int], list[Change]]


def collected(result: DataFrame) -> Changes:
    """Return the changes of each case and sample, in order."""
    given: Changes = defaultdict(list)
    rows = result.where(F.col("sample") != HEARTBEAT).select(
        "name",
        "sample",
        "_change_type",
        F.coalesce(F.unix_millis("_change_time"), F.lit(0)).alias("ms"),
        "_change_step",
        "_change_seq",
        "seq",
    )
    untimed = {case.name for case in UNTIMED}
    for name, sample, kind, ms, step, number, seq in rows.collect():
        change = Change(kind, 0 if name in untimed else ms, step, number, seq)
        given[name, sample].append(change)
    for emitted in given.values():
        emitted.sort(key=order)
    return given


def order(change: Change) -> tuple[int, int, int]:
    """Return a sort key by time; a group that was removed restarts its numbers."""
    return (change.at, change.step, change.seq)


def expected(rows: list[Tick]) -> Changes:
    """Compute the answers of all cases with the model."""
    by_sample: dict[int, list[Tick]] = defaultdict(list)
    for tick in rows[:-1]:
        by_sample[tick.sample].append(tick)
    answers: Changes = {}
    for sample, own in by_sample.items():
        in_time = sorted((tick.ms, tick.seq) for tick in own)
        for case in UNTIMED:
            answers[case.name, sample] = model.run(case.window(), [(0, t.seq) for t in own], 0)
        for case in TIMED:
            answers[case.name, sample] = model.run(case.window(), in_time, END)
        for case in ON_ARRIVAL:
            arriving = [(tick.ms, tick.seq) for tick in own]
            answers[case.name, sample] = model.run(case.window(), arriving, END)
    for emitted in answers.values():
        emitted.sort(key=order)
    return answers


def compare(given: Changes, wanted: Changes) -> None:
    """Compare case by case, so that a difference is small enough to read."""
    for (name, sample), answer in wanted.items():
        assert given[name, sample] == answer, f"{name}, sample {sample}"
    assert given.keys() == wanted.keys()


@pytest.mark.parametrize(
    "setup",
    [
        pytest.param(StreamSetup(ROCKSDB, True, 2, 1, "each"), marks=same_on_connect),
        pytest.param(StreamSetup(ROCKSDB, True, 1, 2, "none"), marks=pytest.mark.longer),
        *(
            pytest.param(setup, marks=[same_on_connect, pytest.mark.longer])
            for setup in (
                StreamSetup(ROCKSDB, False, 1, 5, "one"),
                StreamSetup(HDFS, False, 1, 2, "each"),
            )
        ),
    ],
    ids=lambda setup: setup.name,
)
def test_streams_give_the_changes_of_the_model(
    spark: SparkSession, replay: NewReplay, setup: StreamSetup
) -> None:
    rng = random.Random(repr(setup))
    rows = ticks(rng)
    files = [[(t.seq, t.sample, at(t.ms / 1000)) for t in part] for part in split(rng, rows, 5)]
    stream = replay(SCHEMA)
    with settings(spark, setup.configuration):
        result = changes(stream.rows(("ts", f"{DELAY} milliseconds")))
        for run in setup.runs(files):
            stream.add(*run)
            stream.run(result)
    compare(collected(stream.written()), expected(rows))


@pytest.mark.parametrize("partitions", first_cases([5, 1], 1))
def test_a_batch_query_gives_the_changes_of_the_model(
    spark: SparkSession, replay: NewReplay, partitions: int
) -> None:
    rng = random.Random(partitions)
    rows = ticks(rng)
    stream = replay(SCHEMA)
    for part in split(rng, rows, 5):
        stream.add([(t.seq, t.sample, at(t.ms / 1000)) for t in part])
    with settings(spark, {PARTITIONS: str(partitions)}):
        compare(collected(changes(stream.table())), expected(rows))


@longer_on_connect
def test_a_repeated_micro_batch_without_an_order_gives_the_same_changes(
    spark: SparkSession, replay: NewReplay
) -> None:
    rows = [(i, i % 3, at(0)) for i in range(300)]
    stream = replay(SCHEMA)
    result = keep(stream.rows(batch_files=4), rows=5, per="sample").changes()

    def run(first: int) -> set[Row]:
        stream.add(*(rows[start : start + 40] for start in range(first, first + 150, 40)))
        stream.run(result)
        return set(stream.written().collect())

    with settings(spark, {READ_TASKS: "1"}):
        before = run(0)
        written = run(160)
    with settings(spark, {READ_TASKS: "8"}):
        again = stream.run_last_batch_again(result).collect()
    assert sorted(again) == sorted(written - before)
    deleted = [row.seq for row in written if row._change_type == "delete"]
    assert sorted(deleted) == list(range(300 - 3 * 5))
