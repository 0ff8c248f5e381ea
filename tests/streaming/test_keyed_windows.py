"""Windows with a primary key give the changes of the naive reference, as tables and as streams.

Many small sequences of random operations run in one query, each in groups of its own, under all
windows that take a key. A table and streams of several configurations, cut at random and
restarted, are compared with the reference.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import reduce
from itertools import pairwise
from typing import Any, NamedTuple

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from tests.support import keyed, keyed_cases
from tests.support.keyed import Call, Operation
from tests.support.replay import NewReplay, at
from tests.support.settings import HDFS, PARTITIONS, ROCKSDB, StreamSetup, settings
from tests.support.transports import TRANSPORT, interpreted, longer_on_connect, same_on_connect
from winops import esper, keep

SCHEMA = (
    "seq long, sample int, g string, id long, sub string, op string, u string, v long, "
    "ts timestamp"
)
GROUP = ("sample", "g")
START = 100_000
SPAN = 40_000
DELAY = 5_000
END = START + 20 * SPAN
HEARTBEAT = -1
# Columns of an input row in the output, without the operation and the time.
VALUES = ("seq", "sample", "g", "id", "sub", "u", "v")


class Tick(NamedTuple):
    """An input row: `seq` is its position in the order of arrival, `ms` its time."""

    seq: int
    sample: int
    g: str | None
    id: int | None
    sub: str | None
    op: str | None
    u: str | None
    v: int | None
    ms: int | None

    def row(self) -> keyed.Row:
        fields = self._asdict()
        return {name: fields[name] for name in (*VALUES, "op")}

    def fields(self) -> tuple[Any, ...]:
        return (*self[:-1], None if self.ms is None else at(self.ms / 1000))


class Case(NamedTuple):
    """A window and its arguments: without a time, by event time, or by time on arrival."""

    policy: str
    order: str = "none"
    key: tuple[str, ...] = ("id",)
    has_op: bool = True
    updates: str = "delete_insert"
    origin: int | str = 0
    buffer: int = 0

    @property
    def name(self) -> str:
        options = (str(self.has_op), self.updates, str(self.buffer))
        return " ".join((self.policy, self.order, *self.key, *options))

    @property
    def is_timed(self) -> bool:
        return self.order != "none"

    def call(self, late: str) -> Call:
        window = keyed_cases.window_of(self.policy, {"origin": self.origin})
        op = "op" if self.has_op else None
        return Call(
            window,
            self.key,
            op=op,
            group=GROUP,
            updates=self.updates,
            late=late,
            buffer=self.buffer,
        )

    def kept(self, rows: DataFrame, **more: Any) -> Any:
        arguments: dict[str, Any] = {"key": list(self.key), "updates": self.updates}
        if self.has_op:
            arguments["op"] = "op"
        if self.is_timed:
            arguments["time"] = "ts"
            arguments["apply"] = self.order
        if self.origin:
            arguments["origin"] = self.origin
        if self.buffer:
            arguments["buffer"] = self.buffer
        policy = esper(self.policy) if self.policy.startswith("#") else self.policy
        return keep(rows, policy, per=[*GROUP], order_by="seq", **arguments, **more)


CASES = [
    Case("KEEP ALL", has_op=False),
    Case("KEEP ALL", key=("id", "sub"), updates="update"),
    Case("KEEP 3 ROWS"),
    Case("KEEP 2 ROWS SLACK 2", updates="update"),
    Case("KEEP 3 ROWS", "event_time"),
    Case("KEEP EVERY 3 ROWS"),
    Case("KEEP EVERY 1 ROW", key=("id", "sub")),
    Case("KEEP 7 SECONDS", "event_time"),
    Case("KEEP 7 SECONDS", "arrival", updates="update"),
    Case("KEEP EVERY 10 SECONDS", "event_time", origin=3_000),
    Case("KEEP EVERY 9 SECONDS", "event_time", origin="first", has_op=False),
    Case("#keepall", "event_time", has_op=False),
    Case("#length(3)", key=("id", "sub")),
    Case("#time(7 sec)", "event_time"),
    Case("#unique(u)"),
    Case("#unique(u)", "event_time", updates="update"),
    Case("#sort(3, v)"),
    Case("#sort(2, v desc, u)", "event_time", updates="update"),
    Case("#rank(u, 2, v desc)"),
    Case("#rank(u, 3, v)", key=("id", "sub"), has_op=False),
    Case("KEEP 2 ROWS", buffer=2),
    Case("KEEP 2 ROWS SLACK 2", "event_time", updates="update", buffer=1),
    Case("#length(2)", "arrival", key=("id", "sub"), buffer=9),
    Case("#sort(2, v)", buffer=2),
    Case("#sort(1, v desc, u)", "event_time", updates="update", buffer=1),
    Case("#rank(u, 2, v desc)", buffer=1),
    Case("#rank(u, 1, v)", "event_time", has_op=False, buffer=3),
]

# ---- Random operations

WORDS = {kind: [*words] for kind, words in keyed.WORDS.items()}
UNKNOWN = [None, "", "truncate", "t", "insert ", "upsert2", "m"]


def word_of(rng: random.Random, kind: str) -> str:
    """Return a word of Debezium, Delta, Spark or winops for a kind, in any case."""
    word = rng.choice(WORDS[kind])
    return rng.choice([word, word, word, word.upper(), word.capitalize()])


def moved(
    rng: random.Random, before: str | None, after: str | None
) -> list[tuple[str, str | None]]:
    """Return the words and groups of a row that moves from one group to another."""
    if rng.random() < 0.3:
        return [(word_of(rng, keyed.UPDATE), after)]
    preimage = rng.choice(["update_preimage", "Update_Before", "d"])
    return [(preimage, before), (rng.choice(["update_postimage", "update_after"]), after)]


def mistake(rng: random.Random) -> dict[str, Any]:
    """Return the fields of a row without a known operation, a key or a time."""
    unknown = {"op": rng.choice(UNKNOWN)}
    return rng.choice([unknown, {"id": None}, {"ms": None}, unknown | {"id": None}])


def operations(rng: random.Random, samples: int, *, wrong: bool) -> list[Tick]:
    """Return operations of many samples in order of arrival.

    Operations name keys that are held, were evicted or were never there. Rows of one instant are
    frequent. Some rows move to another group, by a preimage and a postimage or by an update that
    the other group does not know. With `wrong`, there are rows without a key, a time or a known
    operation. Some rows exceed the delay of the watermark.
    """
    found: list[tuple[int, dict[str, Any]]] = []
    kinds = [keyed.INSERT, keyed.UPDATE, keyed.UPSERT, keyed.UPSERT, keyed.DELETE]
    for sample in range(samples):
        groups = rng.choice([["A"], ["A", "B"], ["A", "B", None]])
        keys = rng.randint(1, 5)
        where: dict[int, str | None] = {}
        for _ in range(rng.randint(1, 18)):
            ms = START + rng.randrange(0, SPAN, 500)
            arrives = ms + rng.randrange(DELAY)
            if rng.random() < 0.04:
                arrives += rng.randrange(DELAY, SPAN)
            key = rng.randint(1, keys)
            before = where.get(key, rng.choice(groups))
            where[key] = before
            words = [(word_of(rng, rng.choice(kinds)), before)]
            if rng.random() < 0.15:
                where[key] = rng.choice(groups)
                words = moved(rng, before, where[key])
            for word, group in words:
                fields = {"sample": sample, "g": group, "id": key, "op": word, "ms": ms}
                found.append((arrives, fields))
                if wrong and rng.random() < 0.15:
                    found.append((arrives, fields | {"op": "upsert"} | mistake(rng)))
    # A stable sort: rows that arrive together keep the order in which they were made.
    found.sort(key=lambda entry: entry[0])
    ticks = [
        Tick(
            seq=seq,
            sub=rng.choice(["a", "b"]),
            u=rng.choice(["x", "y", "z", None]),
            v=rng.choice([None, *range(6)]),
            **fields,
        )
        for seq, (_, fields) in enumerate(found)
    ]
    end = Tick(len(ticks), HEARTBEAT, None, 0, "a", "insert", None, None, END)
    return [*ticks, end]


def split(rng: random.Random, ticks: list[Tick], files: int) -> Iterator[list[Tick]]:
    """Cut rows at random; the last row, which only moves the time, is its own batch."""
    cuts = sorted(rng.sample(range(1, len(ticks) - 1), files - 2))
    for start, end in pairwise([0, *cuts, len(ticks) - 1, len(ticks)]):
        part = ticks[start:end]
        rng.shuffle(part)
        yield part


def late_rows(runs: Sequence[Sequence[Sequence[Tick]]]) -> set[int]:
    """Return the rows behind the watermark with which the micro-batch before theirs ran."""
    late: set[int] = set()
    before = watermark = newest = 0
    for files in runs:
        for file in files:
            times = {tick.seq: tick.ms for tick in file if tick.ms is not None}
            late |= {seq for seq, ms in times.items() if ms < before}
            newest = max([newest, *times.values()])
            before, watermark = watermark, max(watermark, newest - DELAY)
        # A run ends with a micro-batch without rows if the watermark has moved.
        before = watermark
    return late


# ---- Answers


Name = tuple[str, int, str | None]
Changes = dict[Name, list[Any]]


def applied(case: Case, ticks: Sequence[Tick], late: set[int]) -> list[Operation]:
    """Return the operations of a case in the order in which they are applied."""
    if not case.is_timed:
        return [Operation(None, tick.row()) for tick in ticks]
    operations = [
        Operation(tick.ms, tick.row(), has_time=tick.ms is not None, is_late=tick.seq in late)
        for tick in ticks
    ]
    if case.order == "arrival":
        return operations
    # Rows without effect on numbers have no order among the others.
    without = [o for o in operations if not o.has_time or o.is_late]
    waiting = [o for o in operations if o.has_time and not o.is_late]
    return [*without, *sorted(waiting, key=lambda o: (o.at, o.row["seq"]))]


def answers(ticks: list[Tick], late: set[int], mode: str) -> dict[str, keyed.Answer]:
    """Compute the answers of all cases with the reference."""
    rows = [tick for tick in ticks if tick.sample != HEARTBEAT]
    found = {}
    for case in CASES:
        end = END if case.is_timed else None
        answer = keyed.run(case.call(mode), applied(case, rows, late), end)
        counts = answer.counts
        applied_rows = counts.entered + counts.updated + counts.deleted
        assert len(rows) == applied_rows + counts.late + counts.refused
        found[case.name] = answer
    return found


def expected(ticks: list[Tick], late: set[int], mode: str) -> Changes:
    timed = {case.name: case.is_timed for case in CASES}
    changes: Changes = defaultdict(list)
    for name, answer in answers(ticks, late, mode).items():
        for change in answer.changes():
            millis = change.at if timed[name] else None
            values = tuple(change.row[column] for column in VALUES)
            group = (name, change.row["sample"], change.row["g"])
            changes[group].append((*change[:1], millis, *change[2:7], values))
    return in_order(changes)


def in_order(changes: Changes) -> Changes:
    return {group: sorted(of_group, key=repr) for group, of_group in changes.items()}


def changes_of(rows: DataFrame, mode: str) -> DataFrame:
    """Return the changes of all cases in one query."""
    parts = [
        case.kept(rows, late=mode)
        .changes(reason=True)
        .drop("op")
        .withColumn("name", F.lit(case.name))
        for case in CASES
    ]
    return reduce(DataFrame.unionByName, parts)


def collected(result: DataFrame) -> Changes:
    timed = {case.name: case.is_timed for case in CASES}
    rows = result.where(f"sample <> {HEARTBEAT}").select(
        "name",
        "_change_type",
        F.unix_millis("_change_time").alias("ms"),
        "_change_step",
        "_change_seq",
        "_change_row",
        "_change_version",
        "_change_reason",
        F.struct(*VALUES).alias("row"),
    )
    changes: Changes = defaultdict(list)
    for name, kind, ms, *numbers, row in rows.collect():
        change = (kind, ms if timed[name] else None, *numbers, tuple(row))
        changes[name, row["sample"], row["g"]].append(change)
    return in_order(changes)


def compare(given: Changes, wanted: Changes) -> None:
    """Compare group by group, so that a difference is small enough to read."""
    for group, answer in wanted.items():
        assert given.get(group) == answer, group
    assert given.keys() == wanted.keys()


# ---- Tables and streams


@interpreted
@pytest.mark.parametrize(
    ("setup", "mode"),
    [
        pytest.param(StreamSetup(ROCKSDB, True, 2, 1, "one"), "emit", marks=same_on_connect),
        pytest.param(StreamSetup(ROCKSDB, True, 1, 2, "one"), "emit", marks=pytest.mark.longer),
        pytest.param(
            StreamSetup(ROCKSDB, True, 2, 1, "each"),
            "emit",
            marks=[same_on_connect, pytest.mark.longer],
        ),
        pytest.param(
            StreamSetup(HDFS, False, 1, 3, "none"),
            "drop",
            marks=[same_on_connect, pytest.mark.longer],
        ),
        pytest.param(
            StreamSetup(ROCKSDB, False, 1, 5, "each"),
            "drop",
            marks=[same_on_connect, pytest.mark.longer],
        ),
    ],
    ids=lambda value: getattr(value, "name", value),
)
def test_streams_give_the_changes_of_the_reference(
    spark: SparkSession, replay: NewReplay, setup: StreamSetup, mode: str
) -> None:
    rng = random.Random(f"{setup} {mode}")
    ticks = operations(rng, 40, wrong=mode == "emit")
    files = [*split(rng, ticks, 6)]
    runs = setup.runs(files)
    stream = replay(SCHEMA)
    with settings(spark, setup.configuration):
        rows = stream.rows(("ts", f"{DELAY} milliseconds"))
        result = changes_of(rows, mode)
        for run in runs:
            stream.add(*([tick.fields() for tick in file] for file in run))
            stream.run(result)
    late = late_rows(runs)
    assert late or setup.restarts == "none"
    compare(collected(stream.written()), expected(ticks, late, mode))


@longer_on_connect
@pytest.mark.parametrize(
    ("partitions", "mode"), [(5, "emit"), pytest.param(1, "drop", marks=pytest.mark.longer)]
)
def test_tables_give_the_changes_of_the_reference(
    spark: SparkSession, replay: NewReplay, partitions: int, mode: str
) -> None:
    rng = random.Random(partitions)
    ticks = operations(rng, 60, wrong=mode == "emit")
    stream = replay(SCHEMA)
    for file in split(rng, ticks, 4):
        stream.add([tick.fields() for tick in file])
    with settings(spark, {PARTITIONS: str(partitions)}):
        compare(collected(changes_of(stream.table(), mode)), expected(ticks, set(), mode))


# ---- Aggregates and enriched rows

OF_VALUES = [
    Case("KEEP 3 ROWS"),
    Case("KEEP 7 SECONDS", "event_time"),
    Case("#unique(u)", updates="update"),
    Case("#sort(3, v)"),
    Case("#rank(u, 2, v desc)", "event_time", has_op=False),
    Case("#sort(2, v)", buffer=2),
    Case("KEEP 2 ROWS", "event_time", buffer=2),
]


def some_longer(cases: Sequence[Case], each: int) -> list[Any]:
    """Mark all cases but each of a number for the longer tests; the last one is not marked."""
    marks = [[] if number % each == 0 else [pytest.mark.longer] for number in range(len(cases))]
    return [pytest.param(case, marks=m) for case, m in zip(cases, reversed(marks), strict=True)]


AGGREGATES = ("n", "total", "least", "greatest", "kinds")


def aggregate_columns() -> dict[str, Column]:
    """Return the columns of AGGREGATES, which need a session."""
    columns = (F.count(F.lit(1)), F.sum("v"), F.min("v"), F.max("v"), F.countDistinct("u"))
    return dict(zip(AGGREGATES, columns, strict=True))


def aggregates(content: Sequence[keyed.Row]) -> tuple[int | None, ...]:
    values = [row["v"] for row in content if row["v"] is not None]
    kinds = {row["u"] for row in content if row["u"] is not None}
    least_and_greatest = (min(values), max(values)) if values else (None, None)
    return (len(content), sum(values) if values else None, *least_and_greatest, len(kinds))


@pytest.mark.parametrize(
    "case",
    some_longer(OF_VALUES, len(OF_VALUES) if TRANSPORT == "connect" else 4),
    ids=lambda case: case.name,
)
def test_aggregates_are_right_after_each_step(
    spark: SparkSession, replay: NewReplay, case: Case
) -> None:
    rng = random.Random(case.name)
    ticks = operations(rng, 40, wrong=False)
    stream = replay(SCHEMA)
    files = [[tick.fields() for tick in file] for file in split(rng, ticks, 4)]
    stream.add(*files)
    # No row is late.
    rows = stream.rows(("ts", f"{SPAN + 2 * DELAY} milliseconds"))
    columns = [column.alias(name) for name, column in aggregate_columns().items()]
    of_stream, of_table = (case.kept(r).agg(*columns) for r in (rows, stream.table()))
    stream.run(of_stream)
    answer = keyed.run(case.call("drop"), applied(case, ticks, set()), END)
    wanted = Counter(
        (group, step.changes[-1].seq, *aggregates(step.content))
        for group, found in answer.groups.items()
        for step in found.steps
        if group[0] != HEARTBEAT
    )
    names = ("_change_seq", *AGGREGATES)
    for result in (of_table, stream.written()):
        found = result.where(f"sample <> {HEARTBEAT}").collect()
        assert Counter(((r.sample, r.g), *(r[n] for n in names)) for r in found) == wanted


@pytest.mark.parametrize("corrections", [True, pytest.param(False, marks=pytest.mark.longer)])
@pytest.mark.parametrize("case", some_longer(OF_VALUES, 2), ids=lambda case: case.name)
def test_enriched_rows_have_the_values_after_their_step(
    spark: SparkSession, replay: NewReplay, case: Case, corrections: bool
) -> None:
    ticks = operations(random.Random(case.name), 40, wrong=False)
    stream = replay(SCHEMA)
    stream.add([tick.fields() for tick in ticks])
    enriched = case.kept(stream.table(), corrections=corrections).withColumns(aggregate_columns())
    assert ("op" in enriched.columns) != case.has_op
    answer = keyed.run(case.call("drop"), applied(case, ticks, set()), END)
    wanted = Counter(
        (*(row.row[name] for name in VALUES), *aggregates(row.content))
        for found in answer.groups.values()
        for row in found.enriched
        if corrections or not row.is_correction
    )
    assert Counter(tuple(row) for row in enriched.drop("ts", "op").collect()) == wanted


# ---- Cases by hand


def by_hand() -> list[Any]:
    """Return the cases that a table can answer; `make test` runs each eighth."""
    cases = [case for case in keyed_cases.load() if "delay" not in case.get("options", {})]
    return [
        pytest.param(
            case,
            id=case["name"],
            marks=[same_on_connect, *([pytest.mark.longer] if number % 8 else [])],
        )
        for number, case in enumerate(cases)
    ]


def kept_by_hand(spark: SparkSession, case: dict[str, Any], **more: Any) -> Any:
    columns = case["schema"]
    rows = [
        (
            position,
            None if entry["at"] is None else at(entry["at"] / 1000),
            *(entry["row"].get(name) for name in columns),
        )
        for position, entry in enumerate(case["input"])
        if "row" in entry
    ]
    schema = ", ".join(f"`{name}` {kind}" for name, kind in columns.items())
    df = spark.createDataFrame(rows, f"_position long, _at timestamp, {schema}")
    given = {name: case[name] for name in ("op", "per", "updates", "late") if name in case}
    options = dict(case.get("options", {}))
    policy = esper(case["policy"]) if case["dialect"] == "esper" else case["policy"]
    return keep(
        df, policy, key=case["key"], order_by="_position", time="_at", **given, **options, **more
    )


@interpreted
@pytest.mark.parametrize("case", by_hand())
def test_a_table_gives_what_a_case_by_hand_expects(
    spark: SparkSession, case: dict[str, Any]
) -> None:
    kept = kept_by_hand(spark, case)
    if "error" in case:
        with pytest.raises(PySparkException, match=case["error"]):
            kept.changes().collect()
        return
    changes = kept.changes(reason=True)
    values = [name for name in case["schema"] if name != case.get("op")]
    found = [
        keyed.Change(
            row["_change_type"],
            row["ms"],
            row["_change_step"],
            row["_change_seq"],
            row["_change_row"],
            row["_change_version"],
            row["_change_reason"],
            {name: row[name] for name in values},
        )
        for row in changes.withColumn("ms", F.unix_millis("_change_time")).collect()
    ]
    last = max(e["at"] for e in case["input"] if "row" in e and e["at"] is not None)
    # A table ends at its last row.
    wanted = [c for c in keyed_cases.numbered(case) if c.at is None or c.at <= last]
    assert sorted(found, key=repr) == sorted(wanted, key=repr)
    if last == keyed_cases.end_of(case) and "late" not in case:
        held = kept.rows().select(*values).collect()
        assert Counter(map(tuple, held)) == Counter(tuple(r.values()) for r in case["final"])
    if any("values" in step for step in case["expect"]):
        rows = kept.agg(F.count(F.lit(1)), F.sum("v")).orderBy("_change_seq").collect()
        assert [tuple(r)[-2:] for r in rows] == [
            tuple(s["values"].values()) for s in case["expect"]
        ]
    if "corrections" in case:
        again = kept_by_hand(spark, case, corrections=case["corrections"])
        rows = again.withColumns({"n": F.count(F.lit(1)), "sum": F.sum("v")}).collect()
        given = Counter((*(r[name] for name in values), r.n, r["sum"]) for r in rows)
        assert given == Counter((*row.values(), *new.values()) for row, new in case["enriched"])


# ---- The generator


@pytest.mark.longer
def test_the_generator_makes_every_kind_of_case() -> None:
    ticks = operations(random.Random(1), 300, wrong=True)
    found = answers(
        ticks, late_rows([[file] for file in split(random.Random(2), ticks, 6)]), "emit"
    )
    reasons = Counter(c.reason for answer in found.values() for c in answer.changes())
    assert set(reasons) == {
        *("arrived", "updated", "deleted", "displaced", "replaced", "expired", "trigger"),
        "returned",
        *("late", "time missing", "op unknown", "key missing", "key held", "not held"),
    }
    assert min(reasons.values()) > 100
    groups = sum(len(answer.groups) for answer in found.values())
    assert groups >= 3_000
    kept = replace(CASES[2].call("emit"), max_rows=1)
    refused = keyed.run(kept, applied(CASES[2], ticks, set())).changes()
    assert any(change.reason == "max rows" for change in refused)
