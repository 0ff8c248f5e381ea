"""The state in a checkpoint: read, and moved to other partitions or without some groups."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import (
    AnalysisException,
    PySparkTypeError,
    PySparkValueError,
    SparkRuntimeException,
)
from pyspark.sql import DataFrame, SparkSession

from tests.support.checkpoints import FORMATS, formats
from tests.support.replay import NewReplay, Replay, Snapshot, at, failure, finish
from tests.support.settings import (
    CHANGELOG,
    OFFSET_LOG_FORMAT,
    ROCKSDB,
    ROW_CHECKSUM,
    STATE_STORE,
    STORE_PARTITIONS,
    settings,
)
from tests.support.transports import longer_on_connect, on_classic_spark
from tests.support.versions import SPARK
from winops import forget, keep, read_state, repartition

SCHEMA = "seq long, symbol string, price double, ts timestamp"
SINK_EVOLUTION = "spark.sql.streaming.queryEvolution.enableSinkEvolution"
SYMBOLS = [f"S{i}" for i in range(120)] + [None]


def kept(rows: DataFrame) -> DataFrame:
    return keep(
        rows, "KEEP 10 SECONDS PER (symbol)", time="ts", order_by="seq", idle="1 hour"
    ).changes()


def rows(batch: int) -> list[tuple[Any, ...]]:
    return [
        (seq, SYMBOLS[seq * 7 % len(SYMBOLS)], float("nan"), at(100 + seq / 40))
        for seq in range(batch * 300, batch * 300 + 300)
    ]


@pytest.fixture(scope="module")
def first_run(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    stream = Replay(spark, tmp_path_factory.mktemp("state") / "stream", SCHEMA)
    stream.add(rows(0), rows(1))
    stream.run(kept(stream.rows(("ts", "1 second"))))
    return Snapshot(stream)


@pytest.fixture
def started(first_run: Snapshot) -> Replay:
    return first_run.restored()


def test_the_state_has_the_held_and_the_waiting_rows(
    spark: SparkSession, started: Replay
) -> None:
    state = read_state(spark, Path(started.checkpoint))
    written = started.written()
    came = {row.seq for row in written.where("_change_type = 'insert'").collect()}
    left = {row.seq for row in written.where("_change_type = 'delete'").collect()}
    held = state.where("NOT _waits").collect()
    assert {row.seq for row in held} == came - left
    assert {row.seq for row in state.where("_waits").collect()} == set(range(600)) - came
    assert all((row._leaves - row.ts).total_seconds() <= 10 for row in held)
    assert {row._group.symbol for row in held} == set(SYMBOLS)


def test_the_state_of_an_earlier_batch_can_be_read(spark: SparkSession, started: Replay) -> None:
    first = read_state(spark, started.checkpoint, batch=0, operator=0)
    assert {row.seq for row in first.collect()} == set(range(300))


@longer_on_connect
def test_changes_continue_with_another_number_of_partitions(
    spark: SparkSession, started: Replay, replay: NewReplay, tmp_path: Path
) -> None:
    target = tmp_path / "moved"
    before = shown(read_state(spark, started.checkpoint))
    repartition(spark, started.checkpoint, 5, to=target)
    moved = read_state(spark, target)
    assert shown(moved) == before
    assert moved.select("_partition").distinct().count() == 5
    with pytest.raises(AnalysisException) as again:
        repartition(spark, started.checkpoint, 5, to=target)
    assert again.value.getCondition() == "WINOPS_CHECKPOINT_EXISTS"

    more = [rows(2), [(10_000, "Z", 0.0, at(100_000))]]
    started.checkpoint = str(target)
    started.add(*more)
    started.run(kept(started.rows(("ts", "1 second"))))
    whole = replay(SCHEMA)
    whole.add(rows(0), rows(1), *more)
    whole.run(kept(whole.rows(("ts", "1 second"))))
    assert emitted(started.written()) == emitted(whole.written())


@pytest.mark.skipif(SPARK < (4, 2), reason="Spark has these formats from 4.2 on")
@pytest.mark.parametrize(
    "format_settings",
    [{OFFSET_LOG_FORMAT: "2"}, {ROW_CHECKSUM: "true"}, {STORE_PARTITIONS: "3"}],
)
def test_newer_formats_of_logs_and_stores_are_read_moved_and_continued(
    spark: SparkSession, replay: NewReplay, tmp_path: Path, format_settings: dict[str, str]
) -> None:
    goes_on_when_moved(spark, replay, tmp_path, format_settings, Replay.run)


@on_classic_spark
@pytest.mark.skipif(SPARK < (4, 2), reason="Spark has these formats from 4.2 on")
def test_commits_with_the_name_of_a_sink_are_read_moved_and_continued(
    spark: SparkSession, replay: NewReplay, tmp_path: Path
) -> None:
    def run(stream: Replay, result: DataFrame) -> None:
        writer = result.writeStream.format("parquet").trigger(availableNow=True)
        writer = writer.option("checkpointLocation", stream.checkpoint)
        # The API of Python has no name for a sink.
        writer._jwrite.name("changes")
        finish(writer.start(stream.output))

    goes_on_when_moved(spark, replay, tmp_path, {SINK_EVOLUTION: "true"}, run)
    commits = (tmp_path / "moved/commits").glob("[0-9]*")
    assert {file.read_text().partition("\n")[0] for file in commits} == {"v3"}


@longer_on_connect
def test_changes_continue_without_forgotten_groups(
    spark: SparkSession, started: Replay, replay: NewReplay, tmp_path: Path
) -> None:
    target = tmp_path / "erased"
    where = "_group.symbol LIKE 'S1%' OR symbol IS NULL"
    forgotten = {symbol for symbol in SYMBOLS if symbol is None or symbol.startswith("S1")}
    before = read_state(spark, started.checkpoint)
    assert forget(spark, started.checkpoint, where=where, to=target) == len(forgotten)
    assert shown(read_state(spark, target)) == shown(before.where(f"NOT ({where})"))
    never = replay(SCHEMA)
    never.add(*([row for row in rows(batch) if row[1] not in forgotten] for batch in (0, 1)))
    never.run(kept(never.rows(("ts", "1 second"))))
    first = [Counter(emitted(stream.written())) for stream in (started, never)]

    started.checkpoint = str(target)
    for stream in (started, never):
        stream.add(rows(2), [(10_000, "Z", 0.0, at(100_000))])
        stream.run(kept(stream.rows(("ts", "1 second"))))
    then = [Counter(emitted(stream.written())) for stream in (started, never)]
    assert then[0] - first[0] == then[1] - first[1] != Counter()


@longer_on_connect
def test_rows_behind_a_window_are_moved_and_not_shown(
    spark: SparkSession, replay: NewReplay, tmp_path: Path
) -> None:
    def newest(rows: DataFrame) -> DataFrame:
        kept = keep(rows, "KEEP 2 ROWS PER (symbol)", key="id", op="op", order_by="seq", buffer=2)
        return kept.changes()

    stream = replay("seq long, symbol string, op string, id long")
    stream.add([(seq, "AB"[seq % 2], "insert", seq) for seq in range(8)])
    stream.run(newest(stream.rows()))
    target = tmp_path / "moved"
    repartition(spark, stream.checkpoint, 3, to=target)
    for checkpoint in (stream.checkpoint, str(target)):
        assert {row.id for row in read_state(spark, checkpoint).collect()} == {4, 5, 6, 7}

    stream.checkpoint = str(target)
    stream.add([(8, "A", "delete", 6), (9, "B", "update", 3)])
    stream.run(newest(stream.rows()))
    written = stream.written()
    inserted = written.where("_change_type = 'insert'").select("id").collect()
    assert Counter(row.id for row in inserted) == {**dict.fromkeys(range(8), 1), 2: 2}
    deleted = written.where("_change_type = 'delete'").select("id").collect()
    assert sorted(row.id for row in deleted) == [0, 1, 2, 3, 6]


def test_a_refused_forget_names_the_columns_of_the_group(
    spark: SparkSession, started: Replay, tmp_path: Path
) -> None:
    target = tmp_path / "erased"
    with pytest.raises(AnalysisException) as caught:
        forget(spark, started.checkpoint, where="price > 1", to=target, operator=0)
    assert caught.value.getCondition() == "WINOPS_FORGET_CONDITION"
    assert "over the columns of its group key: symbol." in str(caught.value)
    assert not target.exists()


def test_the_checkpoint_of_a_running_query_is_refused(
    spark: SparkSession, replay: NewReplay, tmp_path: Path
) -> None:
    stream = replay(SCHEMA)
    stream.add(rows(0))
    changes = kept(stream.rows(("ts", "1 second"))).writeStream.format("noop")
    query = changes.option("checkpointLocation", stream.checkpoint).start()
    try:
        query.processAllAvailable()
        with pytest.raises(AnalysisException) as caught:
            forget(spark, stream.checkpoint, where="symbol = 'S1'", to=tmp_path / "erased")
    finally:
        query.stop()
    assert caught.value.getCondition() == "WINOPS_CHECKPOINT_RUNNING"
    assert query.id in str(caught.value)


def goes_on_when_moved(
    spark: SparkSession,
    replay: NewReplay,
    tmp_path: Path,
    format_settings: dict[str, str],
    run: Callable[[Replay, DataFrame], object],
) -> None:
    stream, whole = replay(SCHEMA), replay(SCHEMA)
    target = tmp_path / "moved"
    more = [rows(2), [(10_000, "Z", 0.0, at(100_000))]]
    with settings(spark, format_settings):
        stream.add(rows(0), rows(1))
        run(stream, kept(stream.rows(("ts", "1 second"))))
    # The checkpoint says in which format it is. That of commits has a test of its own.
    first = {name: {value} for name, value in format_settings.items() if name in FORMATS}
    assert formats(Path(stream.checkpoint)) == {**FORMATS, **first}
    before = shown(read_state(spark, stream.checkpoint))
    repartition(spark, stream.checkpoint, 5, to=target)
    assert shown(read_state(spark, target)) == before
    stream.checkpoint = str(target)
    stream.add(*more)
    with settings(spark, format_settings):
        run(stream, kept(stream.rows(("ts", "1 second"))))
        whole.add(rows(0), rows(1), *more)
        run(whole, kept(whole.rows(("ts", "1 second"))))
    assert emitted(stream.written()) == emitted(whole.written())


def test_a_repartition_that_spark_has_begun_is_refused(
    spark: SparkSession, started: Replay, tmp_path: Path
) -> None:
    offsets = Path(started.checkpoint, "offsets")
    last = max(int(file.name) for file in offsets.iterdir() if file.name.isdigit())
    version, metadata, *sources = (offsets / str(last)).read_text().splitlines()
    logged = json.loads(metadata)
    logged["conf"]["spark.sql.shuffle.partitions"] = "7"
    begun = "\n".join([version, json.dumps(logged), *sources])
    (offsets / str(last + 1)).write_text(begun)
    with pytest.raises(AnalysisException) as caught:
        repartition(spark, started.checkpoint, 5, to=tmp_path / "moved")
    assert caught.value.getCondition() == "WINOPS_CHECKPOINT_REPARTITION"
    assert f"micro-batch {last + 1}" in str(caught.value)
    assert not (tmp_path / "moved").exists()


@on_classic_spark
@pytest.mark.skipif(SPARK < (4, 2), reason="Spark moves state itself from 4.2 on")
def test_a_repartition_by_spark_fails_by_name_and_can_be_undone(
    spark: SparkSession, replay: NewReplay, tmp_path: Path
) -> None:
    stream, whole = replay(SCHEMA), replay(SCHEMA)
    with settings(spark, {STATE_STORE: ROCKSDB, CHANGELOG: "true"}):
        stream.add(rows(0), rows(1))
        stream.run(kept(stream.rows(("ts", "1 second"))))
        # The API of Python lacks it.
        manager: Any = spark._jsparkSession  # type: ignore[attr-defined]
        with pytest.raises(SparkRuntimeException) as failed:
            manager.streamingCheckpointManager().repartition(stream.checkpoint, 5, False)
        assert failed.value.getCondition() == "STDS_FAILED_TO_READ_STATE_SCHEMA"
        stream.add(rows(2))
        begun = stream.start(kept(stream.rows(("ts", "1 second"))))
        assert "STREAMING_UNFINISHED_REPARTITION_DETECTED" in failure(begun)
        with pytest.raises(AnalysisException) as refused:
            repartition(spark, stream.checkpoint, 5, to=tmp_path / "moved")
        assert refused.value.getCondition() == "WINOPS_CHECKPOINT_REPARTITION"
        offsets = Path(stream.checkpoint, "offsets")
        last = max(int(file.name) for file in offsets.iterdir() if file.name.isdigit())
        (offsets / str(last)).unlink()
        (offsets / f".{last}.crc").unlink()
        stream.run(kept(stream.rows(("ts", "1 second"))))
        whole.add(rows(0), rows(1), rows(2))
        whole.run(kept(whole.rows(("ts", "1 second"))))
    assert emitted(stream.written()) == emitted(whole.written())


def shown(state: DataFrame) -> list[str]:
    return sorted(str(row) for row in state.drop("_partition").collect())


def emitted(changes: DataFrame) -> list[tuple[str, datetime, int, int]]:
    columns = ("_change_type", "_change_time", "_change_seq", "seq")
    return sorted(tuple(row) for row in changes.select(*columns).collect())


def test_a_folder_without_a_checkpoint_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(AnalysisException) as caught:
        read_state(spark, tmp_path).count()
    assert caught.value.getCondition() == "WINOPS_CHECKPOINT_NOT_FOUND"
    assert str(tmp_path) in str(caught.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda spark: read_state(spark, 7), PySparkTypeError),
        (lambda spark: read_state(spark, "x", batch=-1), PySparkValueError),
        (lambda spark: read_state(spark, "x", operator="0"), PySparkTypeError),
        (lambda spark: repartition(spark, "x", 0, to="y"), PySparkValueError),
        (lambda spark: repartition(spark, "x", 2, to=None), PySparkTypeError),
        (lambda spark: forget(spark, "x", where=True, to="y"), PySparkTypeError),
        (lambda spark: forget(spark, "x", where="k = 1", to=7), PySparkTypeError),
    ],
)
def test_invalid_arguments_are_refused(
    spark: SparkSession, call: Callable[[SparkSession], object], error: type[Exception]
) -> None:
    with pytest.raises(error):
        call(spark)
