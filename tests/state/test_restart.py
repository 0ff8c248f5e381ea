"""The state in a checkpoint: permitted and refused changes at a restart, and its readers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tests.support.checkpoints import FORMATS, batch_settings, formats
from tests.support.replay import NewReplay, Replay, Snapshot, at, failure, finish
from tests.support.settings import (
    CHANGELOG,
    CHECKPOINT_FORMAT,
    CODEC,
    HDFS,
    OFFSET_LOG_FORMAT,
    PARTITIONS,
    ROCKSDB,
    ROW_CHECKSUM,
    STATE_STORE,
    STORE_PARTITIONS,
    settings,
)
from tests.support.transports import first_cases, longer_on_connect, same_on_connect
from tests.support.versions import SPARK
from winops import Kept, esper, keep, restart_plan, with_history

SCHEMA = "seq long, symbol string, price double, ts timestamp"
WATERMARK = ("ts", "1 second")
KEPT_SETTINGS = (STATE_STORE, CODEC, PARTITIONS)
ZONE = "spark.sql.session.timeZone"


def row(seq: int, symbol: str = "A", second: float | None = None) -> tuple[Any, ...]:
    return (seq, symbol, seq * 1.5, at(100 + (seq if second is None else second)))


def window_of(rows: DataFrame, policy: Any = "KEEP 2 ROWS PER (symbol)", **changed: Any) -> Kept:
    return keep(rows, policy, **{"time": "ts", "order_by": "seq", **changed})


def kept(rows: DataFrame, policy: Any = "KEEP 2 ROWS PER (symbol)", **changed: Any) -> DataFrame:
    return window_of(rows, policy, **changed).changes()


@pytest.fixture(scope="module")
def first_run(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    stream = Replay(spark, tmp_path_factory.mktemp("restart") / "stream", SCHEMA)
    stream.add([row(1), row(2)], [row(9, "B")])
    stream.run(kept(stream.rows(WATERMARK)))
    return Snapshot(stream)


@pytest.fixture
def stopped(first_run: Snapshot) -> Replay:
    """Return a stream whose query has run once: two rows of A are held, one of B waits."""
    return first_run.restored()


@pytest.fixture
def started(stopped: Replay) -> Replay:
    """Return the same stream with files for the next run."""
    stopped.add([row(10), row(11)], [row(99, "Z", 900)])
    return stopped


def as_expected(stream: Replay) -> bool:
    deletes = stream.written().where("_change_type = 'delete' AND symbol = 'A'")
    emitted = sorted((deleted["_change_seq"], deleted.seq) for deleted in deletes.collect())
    # Rows 1, 2 and 10 are inserted before the first delete, and row 11 before the second.
    return emitted == [(3, 1), (5, 2)]


@pytest.mark.parametrize(
    ("what", "before", "now"),
    first_cases(
        [
            ({"policy": {"two": "KEEP 2 ROWS"}, "per": "symbol"}, "KEEP 2 ROWS", "two"),
            ({"order_by": ["seq", "price"]}, "seq", "price"),
            ({"policy": "KEEP 2 SECONDS PER (symbol)"}, "KEEP 2 ROWS", "SECONDS"),
            ({"policy": esper("#length(2)"), "per": "symbol"}, "KEEP 2 ROWS", "#length(2)"),
            ({"order_by": None}, "seq", "order = []"),
            ({"apply": "arrival"}, 'apply = "event_time"', 'apply = "arrival"'),
            ({"time": None}, 'time = "ts"', "time = nothing"),
            ({"punct": "symbol"}, "punctuation = nothing", 'punctuation = "symbol"'),
        ],
        on_connect=2,
    ),
)
def test_another_keep_is_refused(
    started: Replay, what: dict[str, Any], before: str, now: str
) -> None:
    text = failure(started.start(kept(started.rows(WATERMARK), **what)))
    assert "WINOPS_POLICY_CHANGED" in text
    former, latter = text.split("In the checkpoint:")[1].split("In this query:")[:2]
    assert before in former
    assert now in latter


@same_on_connect
@pytest.mark.parametrize(
    "change",
    first_cases(
        [
            # A column is added, one is widened, and columns are moved.
            lambda rows: rows.selectExpr(
                "symbol", "1 AS more", "seq", "string(price) AS price", "ts"
            ),
            lambda rows: rows.withColumnRenamed("price", "value"),
            lambda rows: rows.withColumn("more", F.lit(1)),
            lambda rows: rows.drop("price"),
            lambda rows: rows.select("symbol", "seq", "price", "ts"),
            lambda rows: rows.withColumn("price", F.col("price").cast("string")),
        ],
        short=2,
    ),
)
def test_columns_may_be_added_removed_moved_and_widened(
    started: Replay, change: Callable[[DataFrame], DataFrame]
) -> None:
    changes = kept(change(started.rows(WATERMARK)))
    plan = restart_plan(changes, started.checkpoint).collect()
    assert {difference.outcome for difference in plan} == {"is rebuilt"}
    assert plan[0].rows > 0
    # The files that the sink has written before have these columns.
    columns = ["_change_type", "_change_time", "_change_step", "_change_seq", "symbol", "seq"]
    started.run(changes.select(*columns, "ts", F.lit(None).cast("double").alias("price")))
    assert as_expected(started)


@same_on_connect
def test_a_column_of_a_narrower_type_is_refused(started: Replay) -> None:
    rows = started.rows(WATERMARK).withColumn("price", F.col("price").cast("float"))
    text = failure(started.start(kept(rows)))
    assert "WINOPS_POLICY_CHANGED" in text
    assert "column price needs history" in text


@longer_on_connect
def test_a_table_supplies_what_the_state_lacks(spark: SparkSession, started: Replay) -> None:
    rows = started.rows(WATERMARK)
    # Row 9 waits, and is not read from the table.
    table = spark.createDataFrame([row(1), row(2), row(9, "B")], SCHEMA)
    changed = kept(with_history(rows, table), order_by=["seq", "price"])
    refused = restart_plan(kept(rows, order_by=["seq", "price"]), started.checkpoint).collect()
    plan = restart_plan(changed, started.checkpoint).collect()
    assert {one.outcome for one in (*refused, *plan)} == {"needs history"}
    assert any("with_history" in one.remedy for one in refused)
    assert not any(one.remedy for one in plan)
    assert (plan[0].groups, plan[0].rows) == (2, 3)
    started.run(changed)
    assert as_expected(started)
    assert started.written().where("seq = 9 AND _change_type = 'insert'").count() == 1


@same_on_connect
def test_rows_are_carried_into_another_window(started: Replay) -> None:
    window = keep(
        started.rows(WATERMARK),
        esper("#sort(1, seq desc)"),
        per="symbol",
        order_by="seq",
        time="ts",
        on_change="carry",
    )
    (whole, *_) = window.restart_plan(started.checkpoint).collect()
    assert whole.outcome == "is carried over"
    started.run(window.changes())
    deletes = started.written().where("_change_type = 'delete' AND symbol = 'A'").collect()
    assert sorted(deleted.seq for deleted in deletes)[:2] == [1, 2]


@same_on_connect
def test_an_operator_above_which_the_source_partition_is_unknown_is_refused(
    replay: NewReplay,
) -> None:
    stream, other = replay(SCHEMA), replay(SCHEMA)
    stream.add([row(1), row(2)])
    other.add([row(3)])
    rows = stream.rows(WATERMARK).union(other.rows(WATERMARK))
    stream.run(kept(rows))
    other.add([row(4)])
    assert "WINOPS_POLICY_CHANGED" in failure(stream.start(kept(rows.repartition(2))))
    stream.run(kept(rows))


@same_on_connect
def test_another_group_is_refused(started: Replay) -> None:
    rows = started.rows(WATERMARK)
    text = failure(started.start(kept(rows, "KEEP 2 ROWS", per=["symbol", "seq"])))
    assert "WINOPS_POLICY_CHANGED" in text
    assert 'group = ["symbol","seq"]' in text.split("In this query:")[1]


def test_a_refused_restart_loses_nothing(started: Replay) -> None:
    rows = started.rows(WATERMARK)
    failure(started.start(kept(rows, "KEEP 3 SECONDS PER (symbol)")))
    started.run(kept(rows))
    assert as_expected(started)


@same_on_connect
@pytest.mark.parametrize(
    "same",
    first_cases(
        [
            {"policy": "keep 2 row per(symbol) ;"},
            {"max_rows": 7, "on_null_time": "drop", "apply": "event_time"},
            {"idle": "1 hour"},
            {"policy": "KEEP N ROWS", "params": {"N": 2}, "per": "symbol"},
            {"policy": "KEEP 2 ROWS SLACK 1 PER (symbol)"},
        ],
        short=3,
    ),
)
def test_the_same_keep_continues(started: Replay, same: dict[str, Any]) -> None:
    started.run(kept(started.rows(WATERMARK), **same))
    assert as_expected(started)


# Columns that are NULL, or have NULLs in them, in every second row or more rarely.
NULLABLE = {
    "symbol": "if(seq % 4 = 1, NULL, symbol)",
    "price": "if(seq % 2 = 1, NULL, price)",
    "pair": "named_struct('x', if(seq % 2 = 1, NULL, seq), 'y', symbol)",
    "numbers": "array(if(seq % 2 = 1, NULL, seq), -seq)",
    "pairs": "array(named_struct('x', if(seq % 2 = 1, NULL, seq)))",
    "names": "map('a', if(seq % 2 = 1, NULL, symbol))",
}
# The same columns if a NULL is impossible at every depth.
NOT_NULL = {
    "symbol": "coalesce(symbol, '')",
    "price": "coalesce(price, -1D)",
    "pair": "named_struct('x', coalesce(seq, -1L), 'y', coalesce(symbol, ''))",
    "numbers": "array(coalesce(seq, -1L), coalesce(-seq, -1L))",
    "pairs": "array(named_struct('x', coalesce(seq, -1L)))",
    "names": "map('a', coalesce(symbol, ''))",
}
# Expressions that Spark simplifies if columns, or the values in them, cannot be NULL.
OF_NULLABLE = [
    "coalesce(price, -2D)",
    "coalesce(pair.x, -2L)",
    "coalesce(pairs.x[0], -2L)",
    "coalesce(element_at(numbers, 1), -2L)",
    "coalesce(names['a'], 'none')",
    "transform(numbers, n -> coalesce(n, -2L))[0]",
    "aggregate(pairs, 0L, (sum, p) -> sum + if(p.x IS NULL, 100L, p.x))",
]


def changes_of_nullable(rows: DataFrame) -> DataFrame:
    return kept(rows, "KEEP 3 ROWS PER (symbol)")


def aggregates_of_nullable(rows: DataFrame) -> DataFrame:
    texts = [f"collect_list({each})" for each in OF_NULLABLE]
    texts += ["count(price)", "sum(price)", "count(pair.x)", "last(pair)", "max(numbers)"]
    columns = {f"c{i}": F.expr(text) for i, text in enumerate(texts)}
    return window_of(rows, "KEEP 3 ROWS PER (symbol)").withColumns(columns)


def functions_of_nullable(rows: DataFrame) -> DataFrame:
    window = "OVER (PARTITION BY symbol ORDER BY ts, seq"
    columns = [*list(NULLABLE)[1:], *OF_NULLABLE]
    lags = [f"lag({each}) {window}) AS lag{i}" for i, each in enumerate(columns)]
    counts = [
        f"count({each}) {window} ROWS 2 PRECEDING) AS n{i}" for i, each in enumerate(columns)
    ]
    lists = [f"collect_list({each}) {window} ROWS 2 PRECEDING)" for each in OF_NULLABLE]
    return rows.selectExpr("*", *lags, *counts, *[f"{x} AS l{i}" for i, x in enumerate(lists)])


@same_on_connect
@pytest.mark.parametrize(
    "query",
    first_cases([aggregates_of_nullable, functions_of_nullable, changes_of_nullable], short=1),
)
def test_nullability_may_change(
    replay: NewReplay, query: Callable[[DataFrame], DataFrame]
) -> None:
    def columns(rows: DataFrame, texts: dict[str, str]) -> DataFrame:
        return rows.selectExpr(
            "seq", "ts", *[f"{text} AS {name}" for name, text in texts.items()]
        )

    stream = replay(SCHEMA)
    stream.add([row(seq, "AB"[seq // 4 % 2]) for seq in range(20)])
    stream.run(query(columns(stream.rows(WATERMARK), NULLABLE)))
    stream.add([row(seq, "AB"[seq // 4 % 2]) for seq in range(20, 40)], [row(99, "Z", 900)])
    stream.run(query(columns(stream.rows(WATERMARK), NOT_NULL)))
    stored = columns(stream.table().where("seq < 20"), NULLABLE)
    everything = stored.union(columns(stream.table().where("seq >= 20"), NOT_NULL))
    given = stream.written().where("seq < 99")
    known = query(everything.where("seq < 99")).select(given.columns)
    assert sorted(map(str, given.collect())) == sorted(map(str, known.collect()))
    assert given.where("price IS NULL").count() > 0


@same_on_connect
def test_the_watermark_may_have_another_delay(stopped: Replay) -> None:
    # The watermark stays at second 108, instead of a minute before second 109, after the restart.
    stopped.add([row(7)], [row(10), row(11)], [row(99, "Z", 900)])
    stopped.run(kept(stopped.rows(("ts", "1 minute"))))
    assert as_expected(stopped)
    assert stopped.written().where("seq = 7").count() == 0


@same_on_connect
@pytest.mark.parametrize(
    ("policy", "left"),
    first_cases(
        [
            ("KEEP 1 ROW", [1, 2, 10]),
            ("KEEP EVERY 3 ROWS", [1, 2, 10]),
            ("KEEP ALL", []),
        ],
        short=1,
    ),
)
def test_a_window_may_get_another_length(started: Replay, policy: str, left: list[int]) -> None:
    started.run(kept(started.rows(WATERMARK), policy, per="symbol"))
    deletes = started.written().where("_change_type = 'delete' AND symbol = 'A'")
    assert sorted(deleted.seq for deleted in deletes.collect()) == left


@same_on_connect
def test_aggregates_of_a_long_window_continue_with_another_length(replay: NewReplay) -> None:
    stream = replay(SCHEMA)

    def totals(rows: int) -> DataFrame:
        window = keep(stream.rows(), rows=rows, per="symbol", order_by="seq")
        return window.withColumns({"total": F.sum("seq")})

    for number, rows in enumerate((900, 300, 500)):
        stream.add([row(seq) for seq in range(number * 1000, number * 1000 + 1000)])
        stream.run(totals(rows))
    answers = {answer.seq: answer.total for answer in stream.written().collect()}
    for seq, first in ((999, 100), (1000, 701), (1999, 1700), (2000, 1700), (2999, 2500)):
        assert answers[seq] == sum(range(first, seq + 1))


@same_on_connect
def test_inserts_or_deletes_may_replace_changes(started: Replay) -> None:
    started.run(window_of(started.rows(WATERMARK)).deletes())
    assert as_expected(started)
    started.add([row(901)], [row(999, "Z", 2000)])
    started.run(window_of(started.rows(WATERMARK)).inserts())
    assert as_expected(started)
    inserts = started.written().where("_change_type = 'insert' AND symbol = 'A'").collect()
    emitted = sorted((inserted["_change_seq"], inserted.seq) for inserted in inserts)
    assert emitted == [(0, 1), (1, 2), (6, 901)]


@same_on_connect
def test_aggregates_may_replace_changes_and_be_replaced(replay: NewReplay) -> None:
    stream = replay(SCHEMA)
    window = keep(stream.rows(), "KEEP 2 ROWS PER (symbol)", order_by="seq")
    stream.add([row(1), row(2)])
    stream.run(window.changes().select("_change_seq", F.lit(0).cast("long").alias("total")))
    stream.add([row(3)])
    stream.run(window.agg(F.sum("seq").alias("total")).select("_change_seq", "total"))
    stream.add([row(4)])
    stream.run(window.agg(F.max("seq").alias("total")).select("_change_seq", "total"))
    stream.add([row(5)])
    stream.run(window.changes().select("_change_seq", F.lit(0).cast("long").alias("total")))
    written = stream.written().orderBy("_change_seq").collect()
    assert [tuple(each) for each in written] == [(0, 0), (1, 0), (3, 5), (5, 4), (6, 0), (7, 0)]


@same_on_connect
def test_the_mode_of_agg_may_change(replay: NewReplay) -> None:
    stream = replay(SCHEMA)
    window = keep(stream.rows(), "KEEP 2 ROWS PER (symbol)", order_by="seq")
    for number, mode in enumerate(("all", "latest", "all")):
        stream.add([row(2 * number), row(2 * number + 1)])
        stream.run(window.agg(F.sum("seq").alias("total"), mode=mode))
    totals = [value.total for value in stream.written().orderBy("_change_seq").collect()]
    assert totals == [0, 1, 5, 7, 9]


@same_on_connect
@pytest.mark.parametrize(
    "changed",
    [
        {STATE_STORE: HDFS, PARTITIONS: "5", CODEC: "zstd"},
        {CHANGELOG: "true", PARTITIONS: "1", ZONE: "Asia/Tokyo"},
    ],
    ids=["another provider", "another zone"],
)
def test_settings_of_the_session_may_change(
    spark: SparkSession, started: Replay, changed: dict[str, str]
) -> None:
    with settings(spark, changed):
        started.run(kept(started.rows(WATERMARK)))
    assert as_expected(started)
    before, *_, after = batch_settings(Path(started.checkpoint))
    assert [after[name] for name in KEPT_SETTINGS] == [before[name] for name in KEPT_SETTINGS]
    changelogs = any(Path(started.checkpoint).rglob("*.changelog"))
    assert changelogs == (CHANGELOG in changed)
    state = spark.read.format("statestore").load(started.checkpoint)
    assert {found.partition_id for found in state.select("partition_id").collect()} == {0, 1}


@same_on_connect
@pytest.mark.parametrize(("former", "other"), [("1", "2"), ("2", "1")])
def test_another_checkpoint_format_is_refused_or_without_effect(
    spark: SparkSession, replay: NewReplay, former: str, other: str
) -> None:
    stream = replay(SCHEMA)
    with settings(spark, {STATE_STORE: ROCKSDB, CHANGELOG: "true", CHECKPOINT_FORMAT: former}):
        stream.add([row(1), row(2)])
        stream.run(kept(stream.rows(WATERMARK)))
        stream.add([row(10), row(11)], [row(99, "Z", 900)])
        with settings(spark, {CHECKPOINT_FORMAT: other}):
            query = stream.start(kept(stream.rows(WATERMARK)))
            if SPARK < (4, 2):
                # Spark refuses its own stateful queries in the same way.
                text = failure(query)
                assert f"v{former}" in text
                assert f"v{other}" in text
            elif SPARK < (4, 3):
                text = failure(query)
                assert "WINOPS_CHECKPOINT_FORMAT" in text
                assert f"Set it to {former}, " in text
            else:
                # Spark 4.3 goes on with the format that the checkpoint records.
                finish(query)
                commits = Path(stream.checkpoint).glob("commits/[0-9]*")
                used = {commit.read_text().splitlines()[0] for commit in commits}
                assert used == {f"v{former}"}
        stream.run(kept(stream.rows(WATERMARK)))
    assert as_expected(stream)


@same_on_connect
@pytest.mark.skipif(SPARK < (4, 2), reason="Spark has these formats from 4.2 on")
@pytest.mark.parametrize("at_first", [True, False])
@pytest.mark.parametrize(
    "changed",
    [{OFFSET_LOG_FORMAT: "2"}, {ROW_CHECKSUM: "true"}, {STORE_PARTITIONS: "3"}],
    ids=lambda changed: next(iter(changed)).split(".")[-2],
)
def test_a_checkpoint_keeps_the_formats_of_its_first_start(
    spark: SparkSession, replay: NewReplay, changed: dict[str, str], at_first: bool
) -> None:
    stream = replay(SCHEMA)
    with settings(spark, changed if at_first else {}):
        stream.add([row(1), row(2)])
        stream.run(kept(stream.rows(WATERMARK)))
    stream.add([row(10), row(11)], [row(99, "Z", 900)])
    with settings(spark, {} if at_first else changed):
        stream.run(kept(stream.rows(WATERMARK)))
    assert as_expected(stream)
    first = {name: {value} for name, value in changed.items()} if at_first else {}
    assert formats(Path(stream.checkpoint)) == {**FORMATS, **first}


@same_on_connect
def test_another_time_zone_is_refused_if_a_group_depends_on_it(
    spark: SparkSession, replay: NewReplay
) -> None:
    stream = replay(SCHEMA)

    def by_day() -> DataFrame:
        rows = stream.rows()
        rows.createOrReplaceTempView("zoned")
        return spark.sql(
            "SELECT * FROM keep(TABLE(zoned) PARTITION BY (to_date(ts)) ORDER BY (seq),"
            " 'KEEP 2 ROWS')"
        )

    stream.add([row(1)])
    stream.run(by_day())
    stream.add([row(2)])
    with settings(spark, {ZONE: "Asia/Tokyo"}):
        text = failure(stream.start(by_day()))
    assert "WINOPS_POLICY_CHANGED" in text
    assert "Asia/Tokyo" in text.split("In this query:")[1]
    stream.run(by_day())
    assert stream.written().count() == 2


@same_on_connect
@pytest.mark.parametrize("provider", first_cases([ROCKSDB, HDFS], short=1))
def test_a_checkpoint_may_be_moved(
    spark: SparkSession, replay: NewReplay, tmp_path: Path, provider: str
) -> None:
    with settings(spark, {STATE_STORE: provider}):
        stream = replay(SCHEMA)
        stream.add([row(1), row(2)])
        stream.run(kept(stream.rows(WATERMARK)))
        former = Path(stream.checkpoint)
        stream.checkpoint = str(tmp_path / "moved")
        former.rename(stream.checkpoint)
        stream.add([row(10), row(11)], [row(99, "Z", 900)])
        stream.run(kept(stream.rows(WATERMARK)))
    assert as_expected(stream)
    assert not former.exists()


@same_on_connect
def test_idle_removes_groups_from_before_its_addition(started: Replay) -> None:
    started.run(kept(started.rows(WATERMARK), idle="1 minute"))
    gone = started.written().where("_change_type = 'delete'").orderBy("_change_time", "seq")
    assert [(deleted.symbol, deleted.seq) for deleted in gone.collect()][-3:] == [
        ("B", 9),
        ("A", 10),
        ("A", 11),
    ]


@same_on_connect
@pytest.mark.parametrize(("before", "now"), [({}, {"idle": "1 day"}), ({"idle": "1 day"}, {})])
def test_idle_is_refused_if_it_changes_the_groups(
    replay: NewReplay, before: dict[str, str], now: dict[str, str]
) -> None:
    stream = replay(SCHEMA)

    def newest(**idle: str) -> DataFrame:
        return keep(stream.rows(), esper("#unique(symbol)"), order_by="seq", **idle).changes()

    stream.add([row(1), row(2)])
    stream.run(newest(**before))
    stream.add([row(3)])
    assert "WINOPS_POLICY_CHANGED" in failure(stream.start(newest(**now)))


@same_on_connect
def test_a_lowered_max_rows_applies_to_existing_groups(started: Replay) -> None:
    rows = started.rows(WATERMARK)
    assert "WINOPS_MAX_ROWS" in failure(started.start(kept(rows, max_rows=1)))


@same_on_connect
@pytest.mark.parametrize("provider", first_cases([ROCKSDB, HDFS], short=1))
def test_spark_s_state_sources_read_the_checkpoint(
    spark: SparkSession, replay: NewReplay, provider: str
) -> None:
    stream = replay(SCHEMA)
    stream.add([row(1), row(2)], [row(9, "B")])
    with settings(spark, {STATE_STORE: provider}):
        stream.run(kept(stream.rows(WATERMARK)))
        metadata = spark.read.format("state-metadata").load(stream.checkpoint).collect()
        state = spark.read.format("statestore").load(stream.checkpoint)
        assert {"key", "value"} <= set(state.columns)
        assert state.count() > 0
    (operator,) = metadata
    assert operator.operatorName == "keep"
    assert "KEEP 2 ROWS" in json.dumps(json.loads(operator.operatorProperties))
