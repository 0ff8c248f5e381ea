"""Windows of the other dialects: streams and tables agree, however the stream is cut."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import reduce
from itertools import pairwise

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tests.support.replay import NewReplay, at, failure
from tests.support.settings import HDFS, PARTITIONS, ROCKSDB, STATE_STORE, settings
from tests.support.transports import interpreted, same_on_connect
from winops import WindowPolicy, apama, esper, keep, spl

SCHEMA = "seq long, sample int, price double, ts timestamp"
SAMPLES = 40
END = 10_000

WINDOWS = [
    esper("#length(3)"),
    esper("#length_batch(3)"),
    esper("#time(3 sec)"),
    esper("#ext_timed(ts, 2 sec)"),
    esper("#time_batch(2 sec)"),
    esper("#time_batch(2 sec, 300L, 'FORCE_UPDATE')"),
    esper("#ext_timed_batch(ts, 2 sec)"),
    esper("#time_length_batch(2 sec, 3)"),
    esper("#time_accum(1 sec)"),
    esper("#keepall"),
    esper("#firstlength(2)"),
    esper("#firsttime(3 sec)"),
    esper("#firstunique(price)"),
    esper("#lastevent"),
    esper("#unique(price)"),
    esper("#sort(3, price desc, seq)"),
    esper("#rank(price, 3, seq desc)"),
    esper("#time_order(ts, 2 sec)"),
    esper("#expr(sum(price) <= 10)"),
    esper("#expr_batch(newest_event.price > oldest_event.price, false)"),
    esper("#time(3 sec)#unique(price)"),
    esper("#length(4)#sort(3, price)#time(2 sec)"),
    esper("#length_batch(3)#unique(price)"),
    esper("#length(2)#time(2 sec)#unique(price) retain-union"),
    esper("#time_batch(2 sec)#sort(2, price) retain-union"),
    esper("select rstream * from Tick(price > 1)#length(2)"),
    apama("within 1.5 every 1.0"),
    apama("within 3.0 retain 2"),
    apama("retain 3 every 2"),
    apama("retain 4 with unique price"),
    spl("tumbling, count(3)"),
    spl("tumbling, time(2)"),
    spl("sliding, time(2), count(2)"),
    spl("sliding, delta(price, 2.0), delta(price, 1.0)"),
    spl("sliding, count(3), time(2), partitioned, partitionAge(3)"),
]
COUPLED = [
    spl("sliding, count(4), partitioned, partitionCount(5); param partitionBy : sample;"),
    spl("sliding, count(4), partitioned, tupleCount(9); param partitionBy : sample;"),
    esper("@Hint('reclaim_group_aged=2') select irstream * from T#groupwin(sample)#time(4 sec)"),
]


def ticks(rng: random.Random) -> list[tuple]:
    """Return rows in time order, several of them at the same instant."""
    times = sorted(rng.randrange(0, END, 250) for _ in range(SAMPLES * 9))
    return [
        (seq, rng.randrange(SAMPLES), float(rng.randint(0, 4)), at(ms / 1000))
        for seq, ms in enumerate(times)
    ]


def changes(rows: DataFrame, half: int) -> DataFrame:
    """Return the changes of every second window, each over all samples."""

    def one(policy: WindowPolicy) -> DataFrame:
        per = None if policy in COUPLED else "sample"
        emitted = keep(rows, policy, per=per, order_by="seq", time="ts").changes()
        return emitted.withColumn("window", F.lit(policy.text))

    return reduce(DataFrame.unionByName, map(one, (WINDOWS + COUPLED)[half::2]))


def emitted(result: DataFrame) -> set[tuple]:
    ms = F.unix_millis("_change_time")
    own = ("window", "sample", "_change_type", "_change_step", "_change_seq", "seq")
    rows = [tuple(row) for row in result.where(ms < END).select(*own, ms).collect()]
    assert len(set(rows)) == len(rows)
    return set(rows)


@same_on_connect
@interpreted
@pytest.mark.parametrize(
    ("provider", "partitions", "first", "half"),
    [
        (ROCKSDB, 1, 2, 0),
        pytest.param(HDFS, 2, 1, 1, marks=pytest.mark.longer),
    ],
    ids=["rocksdb", "hdfs"],
)
def test_a_stream_gives_the_changes_of_a_table(
    spark: SparkSession,
    replay: NewReplay,
    provider: str,
    partitions: int,
    first: int,
    half: int,
) -> None:
    rng = random.Random(provider)
    rows = ticks(rng)
    cuts = [0, *sorted(rng.sample(range(len(rows)), 2)), len(rows)]
    # The last row only advances time, and is its own batch.
    last = [(-1, SAMPLES, 0.0, at(END / 1000 + 60))]
    files = [*(rows[start:end] for start, end in pairwise(cuts)), last]
    stream = replay(SCHEMA)
    with settings(spark, {STATE_STORE: provider, PARTITIONS: str(partitions)}):
        result = changes(stream.rows(("ts", "0 seconds")), half)
        for run in (files[:first], files[first:]):
            stream.add(*run)
            stream.run(result)
    streamed, tabled = emitted(stream.written()), emitted(changes(stream.table(), half))
    assert len(tabled) > 10 * SAMPLES
    for window in {row[0] for row in tabled | streamed}:
        assert {row for row in streamed if row[0] == window} == {
            row for row in tabled if row[0] == window
        }, window


@same_on_connect
def test_spans_count_from_an_origin_before_the_first_row(spark: SparkSession) -> None:
    rows = spark.createDataFrame([(1, at(1.3)), (2, at(5.0))], "seq long, ts timestamp")
    eager = esper("#time_length_batch(2 sec, 9, 'START_EAGER')")
    kept = keep(rows, eager, order_by="seq", time="ts", origin=0)
    emitted = kept.inserts().select("seq", F.unix_millis("_change_time").alias("ms")).collect()
    assert [(row.seq, row.ms) for row in emitted] == [(1, 2000)]


@same_on_connect
def test_punctuation_empties_windows_and_ends_the_input(spark: SparkSession) -> None:
    rows = spark.createDataFrame(
        [
            (1, "a", None),
            (2, "b", None),
            (3, None, "window"),
            (4, "a", None),
            (5, None, "final"),
            (6, "a", None),
        ],
        "seq long, symbol string, mark string",
    )
    kept = keep(
        rows,
        spl("tumbling, punct(), partitioned"),
        per="symbol",
        order_by="seq",
        punct="mark",
    )
    events = kept.events().orderBy("_change_step").collect()
    assert [(e["_event_type"], e.symbol, [row.seq for row in e.rows]) for e in events] == [
        ("INSERTION", "a", [1]),
        ("INSERTION", "b", [2]),
        ("EVICTION", "a", [1]),
        ("EVICTION", "b", [2]),
        ("INSERTION", "a", [4]),
        ("FINAL", "a", [4]),
    ]


def test_an_unknown_punctuation_fails_the_query(replay: NewReplay) -> None:
    stream = replay("seq long, mark string")
    stream.add([(1, "end")])
    kept = keep(stream.rows(), spl("tumbling, punct()"), order_by="seq", punct="mark")
    assert "WINOPS_PUNCTUATION" in failure(stream.start(kept.changes()))


@pytest.mark.parametrize(
    ("call", "condition"),
    [
        (lambda rows: keep(rows, esper("#length(2)")).events(), "WINOPS_NO_EVENTS"),
        (lambda rows: keep(rows, esper("#length(")), "WINOPS_POLICY.SYNTAX"),
        (lambda rows: keep(rows, esper("#unique(nowhere)")), "WINOPS_POLICY.UNKNOWN_COLUMN"),
        (lambda rows: keep(rows, esper("#expr(price)")), "WINOPS_POLICY.TYPE"),
        (lambda rows: keep(rows, esper("#expr(rand() > 0.5)")), "WINOPS_POLICY.UNSUPPORTED"),
        (lambda rows: keep(rows, esper("#size#length(2)")), "WINOPS_POLICY.UNSUPPORTED"),
        (lambda rows: keep(rows, apama("retain all every 2")), "WINOPS_POLICY.UNBOUNDED"),
        (lambda rows: keep(rows, spl("sliding, count(3), punct()")), "WINOPS_POLICY.POLICY"),
        (
            lambda rows: keep(rows, spl("tumbling, count(3), partitioned")),
            "WINOPS_POLICY.PARTITION_KEY",
        ),
        (lambda rows: keep(rows, esper("#time(1 sec)")), "WINOPS_TIME_REQUIRED"),
        (lambda rows: keep(rows, spl("tumbling, punct()"), punct="no"), "WINOPS_UNKNOWN_COLUMN"),
        (lambda rows: keep(rows, spl("tumbling, punct()"), punct="seq"), "WINOPS_ARGUMENT.VALUE"),
        (
            lambda rows: keep(rows, esper("#groupwin(symbol)#length(1)"), per="seq"),
            "WINOPS_GROUP_CONFLICT",
        ),
    ],
)
def test_invalid_calls_are_refused(
    spark: SparkSession, call: Callable[[DataFrame], object], condition: str
) -> None:
    rows = spark.createDataFrame([(1, "A", 1.0)], "seq long, symbol string, price double")

    def asked() -> None:
        answer = call(rows)
        frame = answer if isinstance(answer, DataFrame) else answer.changes()
        # Spark Connect reports analysis errors only when the schema is requested.
        assert frame.schema

    with pytest.raises(AnalysisException) as caught:
        asked()
    assert caught.value.getCondition() == condition


VIEWS = [
    "#length(3)",
    "#time(3 sec)",
    "#ext_timed(ts, 2 sec)",
    "#time_accum(1 sec)",
    "#firstlength(2)",
    "#firstunique(price)",
    "#unique(price)",
    "#sort(3, price desc, seq)",
    "#time_order(ts, 2 sec)",
    "#expr(current_count <= 4)",
    "#length_batch(3)",
    "#time_batch(2 sec)",
    "#expr_batch(newest_event.price > oldest_event.price)",
]


@same_on_connect
@interpreted
def test_a_random_combination_is_refused_while_it_is_built_or_runs(spark: SparkSession) -> None:
    """No combination fails in a task because no window implements it."""
    rng = random.Random(11)
    rows = spark.createDataFrame(ticks(rng), SCHEMA)
    running, refused = [], []
    for _ in range(40):
        text = "".join(rng.choices(VIEWS, k=rng.randint(2, 4)))
        policy = esper(f"{text} retain-union" if rng.random() < 0.5 else text)
        try:
            changes = keep(rows, policy, per="sample", order_by="seq", time="ts").changes()
            # Spark Connect reports analysis errors only when the schema is requested.
            assert changes.schema
        except AnalysisException as error:
            refused.append(error.getCondition())
        else:
            running.append(changes.agg(F.count("*").alias("changes")))
    assert set(refused) == {"WINOPS_POLICY.POLICY"}
    counts = reduce(DataFrame.unionAll, running).collect()
    assert all(row.changes > 0 for row in counts)
    assert len(counts) > 20


FIVE = "TABLE(SELECT id FROM range(5)) WITH SINGLE PARTITION ORDER BY (id)"


@pytest.mark.parametrize(
    ("name", "text"),
    [("esper", "#length(2)"), ("apama", "retain 2"), ("spl", "sliding, count(2)")],
)
def test_sql_takes_the_texts_of_each_dialect(spark: SparkSession, name: str, text: str) -> None:
    query = f"SELECT * FROM keep({FIVE}, {name} => :text) WHERE _change_type = 'delete'"
    rows = spark.sql(query, {"text": text})
    assert sorted(row.id for row in rows.collect()) == [0, 1, 2]


def test_sql_takes_one_text(spark: SparkSession) -> None:
    with pytest.raises(AnalysisException, match="WINOPS_ARGUMENT"):
        spark.sql(f"SELECT * FROM keep({FIVE}, 'KEEP ALL', esper => '#length(2)')")
