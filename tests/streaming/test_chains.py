"""Other operators before and after keep, on streams."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pyspark.errors import AnalysisException, StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tests.support.replay import NewReplay, Replay, at, finish
from tests.support.transports import interpreted, longer_on_connect, same_on_connect
from winops import WindowPolicy, esper, keep

SCHEMA = "seq long, symbol string, ts timestamp"
CHANGE_COLUMNS = ("_change_type", "_change_step", "_change_seq")

# Two symbols with alternating rows, one row per second; the last row only advances time. No time
# is 0, because Spark's operators treat a row at the first watermark, 0, as late.
START = 100
TICKS = [[(i, "AB"[i % 2], at(START + i)) for i in range(b, b + 6)] for b in (0, 6)]
HEARTBEAT = [(99, "Z", at(1_000))]


@pytest.fixture
def ticks(replay: NewReplay) -> Replay:
    stream = replay(SCHEMA)
    stream.add(*TICKS, HEARTBEAT)
    return stream


def timed(stream: Replay) -> DataFrame:
    return stream.rows(("ts", "0 seconds"))


@pytest.mark.longer
def test_a_windowed_aggregate_may_follow_keep(ticks: Replay) -> None:
    kept = keep(timed(ticks), rows=2, per="symbol", time="ts")
    counts = (
        kept.changes()
        .groupBy(F.window("_change_time", "4 seconds"))
        .agg(
            F.count_if(F.col("_change_type") == "insert").alias("inserts"),
            F.count_if(F.col("_change_type") == "delete").alias("deletes"),
        )
    )
    ticks.run(counts)
    rows = ticks.written().orderBy("window").collect()
    assert [(row.inserts, row.deletes) for row in rows] == [(4, 0), (4, 4), (4, 4)]


def test_a_windowed_aggregate_may_follow_with_columns(ticks: Replay) -> None:
    kept = keep(timed(ticks), rows=2, per="symbol", time="ts")
    rows = kept.withColumns({"mean": F.avg("seq")})
    ticks.run(rows.groupBy(F.window("ts", "4 seconds")).agg(F.count("*"), F.sum("mean")))
    found = [tuple(row)[1:] for row in ticks.written().orderBy("window").collect()]
    # A mean covers a row and the row before it of the same symbol, which is 2 less.
    assert found == [(4, 4.0), (4, 18.0), (4, 34.0)]


def test_the_column_that_carries_the_watermark_behind_with_columns_is_named(
    ticks: Replay,
) -> None:
    def refusal(policy: WindowPolicy | str) -> AnalysisException:
        kept = keep(timed(ticks), policy, per="symbol", time="ts")
        with pytest.raises(AnalysisException) as refused:
            ticks.run(kept.withColumns({"mean": F.avg("seq")}).groupBy("symbol").count())
        return refused.value

    carried = refusal("KEEP 2 ROWS")
    assert carried.getCondition() == "WINOPS_WATERMARK_COLUMN"
    assert "the column with the watermark is ts: group by it, or by window('ts', ...)" in str(
        carried
    )
    # Two rows are inserted at once, and the first of them may be older than the watermark.
    lost = refusal(esper("#length_batch(2)"))
    assert lost.getCondition() == "WINOPS_WATERMARK_LOST"
    assert "window('_change_time', ...)" in str(lost)


@pytest.mark.parametrize("changes", ["changes", "inserts", "deletes"])
def test_a_wrong_watermark_column_after_changes_is_refused_by_name(
    ticks: Replay, changes: str
) -> None:
    kept = keep(timed(ticks), rows=2, per="symbol", time="ts")
    rows = getattr(kept, changes)().select("symbol", "ts", "_change_time")
    for keys in ([F.window("ts", "4 seconds")], ["symbol"]):
        with pytest.raises(AnalysisException) as refused:
            ticks.run(rows.groupBy(*keys).count())
        assert refused.value.getCondition() == "WINOPS_WATERMARK_COLUMN"
        assert "window('_change_time', ...)" in str(refused.value)
        assert "the column with the watermark is _change_time:" in str(refused.value)


@same_on_connect
def test_a_second_watermark_is_refused_at_the_start(ticks: Replay) -> None:
    kept = keep(timed(ticks), rows=2, per="symbol", time="ts").inserts()
    before = timed(ticks).selectExpr("*", "lag(seq) OVER (PARTITION BY symbol ORDER BY ts) AS p")
    for rows, carrier in ((kept, "_change_time"), (before, "ts")):
        with pytest.raises(AnalysisException) as refused:
            ticks.run(rows.withWatermark("ts", "1 second"))
        assert refused.value.getCondition() == "WINOPS_WATERMARK_REDEFINED"
        assert f"The column with the watermark is {carrier}: use it" in str(refused.value)


@same_on_connect
@pytest.mark.longer
def test_a_row_exactly_on_the_watermark_is_not_lost_downstream(replay: NewReplay) -> None:
    stream = replay(SCHEMA)
    stream.add([(1, "A", at(8))], [(2, "A", at(9))], HEARTBEAT, [(3, "Z", at(2_000))])
    kept = keep(timed(stream), rows=9, per="symbol", time="ts")
    # A window of time ends after its rows, and would not show that they are late.
    stream.run(kept.inserts().groupBy("_change_time", "symbol").count())
    assert sorted(row.symbol for row in stream.written().collect()) == ["A", "A", "Z"]


@same_on_connect
def test_a_row_exactly_on_the_watermark_is_not_late_by_its_time_column(ticks: Replay) -> None:
    kept = keep(timed(ticks), rows=2, per="symbol", time="ts")
    rows = kept.withColumns({"mean": F.avg("seq")})
    # The last row of each batch is on the watermark. Deduplication drops rows on the watermark,
    # and an aggregate by windows does not, because windows end after their rows.
    ticks.run(rows.dropDuplicates(["symbol", "ts"]))
    found = ticks.written().where("symbol != 'Z'").select("seq", "mean").orderBy("seq").collect()
    assert [row.seq for row in found] == list(range(12))
    assert [row.mean for row in found] == [0.0, 1.0, *(seq - 1.0 for seq in range(2, 12))]


@same_on_connect
@pytest.mark.longer
def test_deduplication_may_follow_keep(ticks: Replay) -> None:
    kept = keep(timed(ticks), rows=2, per="symbol", time="ts")
    ticks.run(kept.changes().dropDuplicates(["symbol", "_change_time"]))
    assert ticks.written().where("symbol != 'Z'").count() == 12


@pytest.mark.longer
def test_a_join_may_follow_keep(ticks: Replay, replay: NewReplay) -> None:
    prices = replay("price double, of string, at timestamp")
    prices.add(*[[(seq * 1.5, symbol, ts) for seq, symbol, ts in batch] for batch in TICKS])
    prices.add([(0.0, "Z", at(1_000))])
    inserts = keep(timed(ticks), rows=2, per="symbol", time="ts").inserts()
    joined = inserts.join(
        prices.rows(("at", "0 seconds")),
        F.expr("symbol = of AND _change_time = at"),
    )
    ticks.run(joined)
    rows = ticks.written().where("symbol != 'Z'").collect()
    assert sorted((row.seq, row.price) for row in rows) == [(i, i * 1.5) for i in range(12)]


@same_on_connect
def test_inserts_may_be_joined_with_deletes(ticks: Replay) -> None:
    kept = keep(timed(ticks), rows=2, per="symbol", time="ts")
    born = kept.inserts().select("seq", F.col("_change_time").alias("born"))
    died = kept.deletes().select(F.col("seq").alias("gone"), F.col("_change_time").alias("died"))
    lives = born.join(
        died, F.expr("seq = gone AND died >= born AND died <= born + INTERVAL 1 MINUTE"), "left"
    )
    ticks.run(lives)
    rows = {row.seq: row.died for row in ticks.written().where("seq != 99").collect()}
    lived = {seq: died.timestamp() - START - seq if died else None for seq, died in rows.items()}
    assert lived == {i: 4.0 if i < 8 else None for i in range(12)}


@longer_on_connect
def test_another_keep_may_follow_keep(ticks: Replay) -> None:
    first = keep(timed(ticks), rows=1, per="symbol", time="ts").deletes()
    second = keep(
        first.withColumnRenamed("_change_time", "at").drop(*CHANGE_COLUMNS),
        "KEEP 3 SECONDS",
        per="symbol",
        time="at",
        order_by="seq",
    )
    ticks.run(second.changes().select("symbol", "_change_type", "_change_seq", "seq"))
    rows = ticks.written().where("symbol = 'A'").orderBy("_change_seq").collect()
    story = [("+" if row._change_type == "insert" else "-") + str(row.seq) for row in rows]
    # A row leaves the first window 2 seconds after it arrived, the second one 3 seconds later.
    assert story == ["+0", "+2", "-0", "+4", "-2", "+6", "-4", "+8", "-6", "-8"]


@longer_on_connect
def test_the_outputs_of_two_windows_may_be_united(ticks: Replay) -> None:
    rows = timed(ticks)
    short = keep(rows, rows=1, per="symbol", time="ts").changes().withColumn("window", F.lit(1))
    long = keep(rows, rows=3, per="symbol", time="ts").changes().withColumn("window", F.lit(3))
    ticks.run(short.unionByName(long))
    counts = ticks.written().where("symbol != 'Z'").groupBy("window", "_change_type").count()
    assert {(row.window, row._change_type): row["count"] for row in counts.collect()} == {
        (1, "insert"): 12,
        (1, "delete"): 10,
        (3, "insert"): 12,
        (3, "delete"): 6,
    }


@same_on_connect
def test_a_union_of_two_streams_may_precede_keep(ticks: Replay, replay: NewReplay) -> None:
    others = replay(SCHEMA)
    others.add([(100, "A", at(START + 1.5))], HEARTBEAT)
    kept = keep(
        timed(ticks).unionByName(timed(others)), rows=2, per="symbol", time="ts", order_by="seq"
    )
    ticks.run(kept.inserts())
    rows = ticks.written().where("symbol = 'A'").orderBy("_change_seq").collect()
    assert [row.seq for row in rows] == [0, 100, 2, 4, 6, 8, 10]


@same_on_connect
@pytest.mark.longer
@pytest.mark.parametrize("keys", ["symbol", None])
def test_an_aggregate_may_precede_keep(ticks: Replay, keys: str | None) -> None:
    sums = (
        timed(ticks)
        .groupBy(F.window("ts", "2 seconds").alias("w"), "symbol")
        .agg(F.sum("seq").alias("total"))
        .select("symbol", "total", F.col("w.end").alias("end"))
    )
    ticks.run(keep(sums, rows=2, per=keys, order_by=["end", "symbol"]).changes())
    rows = ticks.written().where("symbol = 'A'").orderBy("_change_seq").collect()
    assert [row.total for row in rows if row._change_type == "insert"] == [0, 2, 4, 6, 8, 10]


@same_on_connect
def test_deduplication_may_precede_keep(ticks: Replay) -> None:
    once = timed(ticks).dropDuplicates(["symbol", "ts"])
    ticks.run(keep(once, rows=2, per="symbol", time="ts", order_by="seq").changes())
    rows = ticks.written().where("symbol = 'A'").orderBy("_change_seq").collect()
    assert [row.seq for row in rows if row._change_type == "delete"] == [0, 2, 4, 6]


@same_on_connect
def test_a_join_may_precede_keep(ticks: Replay, replay: NewReplay) -> None:
    names = replay("name string, symbol string, at timestamp")
    names.add([("Alpha", "A", at(START)), ("Beta", "B", at(START))], [("Zeta", "Z", at(1_000))])
    named = timed(ticks).join(
        names.rows(("at", "0 seconds")).withColumnRenamed("symbol", "s"),
        F.expr("symbol = s AND ts >= at AND ts <= at + INTERVAL 1 MINUTE"),
    )
    ticks.run(keep(named.drop("at"), rows=2, per="name", time="ts", order_by="seq").changes())
    rows = ticks.written().where("name = 'Alpha'").orderBy("_change_seq").collect()
    assert [row.seq for row in rows if row._change_type == "delete"] == [0, 2, 4, 6]


@interpreted
def test_a_join_with_a_table_may_precede_and_follow(spark: SparkSession, ticks: Replay) -> None:
    names = spark.createDataFrame([("A", "Alpha"), ("B", "Beta")], "symbol string, name string")
    named = timed(ticks).join(F.broadcast(names), "symbol")
    kept = keep(named, rows=2, per="name", time="ts", order_by="seq").changes()
    ticks.run(kept.join(names.withColumnRenamed("name", "again"), "symbol"))
    rows = ticks.written().where("again = 'Alpha'").orderBy("_change_seq").collect()
    assert [row.seq for row in rows if row._change_type == "delete"] == [0, 2, 4, 6]


def test_a_table_may_be_joined_with_itself(ticks: Replay) -> None:
    changes = keep(ticks.table(), rows=2, per="symbol", order_by="seq").changes()
    inserts = changes.where("_change_type = 'insert'").alias("i")
    deletes = changes.where("_change_type = 'delete'").alias("d")
    pairs = inserts.join(deletes, F.expr("i.seq = d.seq")).select(
        "i._change_seq", "d._change_seq"
    )
    assert pairs.count() == 8


def test_metrics_count_a_batch_once_that_is_computed_twice(ticks: Replay, transport: str) -> None:
    if transport == "connect":
        pytest.skip("foreachBatch runs in a Python process of the server there")
    changes = keep(ticks.rows(), rows=2, per="symbol").changes()

    def metrics(name: str, times: int) -> list[dict[str, object]]:
        def consume(batch: DataFrame, number: int) -> None:
            for _ in range(times):
                batch.collect()

        writer = changes.writeStream.foreachBatch(consume).trigger(availableNow=True)
        query = writer.option("checkpointLocation", f"{ticks.checkpoint}-{name}").start()
        finish(query)
        operators = [progress["stateOperators"][0] for progress in query.recentProgress]
        assert operators
        changing = ("TimeMs", "memoryUsedBytes", "rocksdb", "Latency", "loadedMap", "Snapshot")
        return [
            {
                key: value
                for key, value in {**operator, **operator["customMetrics"]}.items()
                if isinstance(value, int) and not any(word in key for word in changing)
            }
            for operator in operators
        ]

    once = metrics("once", 1)
    assert {"rowsHeld", "rowsInserted", "groups", "numRowsTotal"} <= set(once[0])
    assert sum(int(str(batch["rowsInserted"])) for batch in once) > 0
    assert metrics("twice", 2) == once


@pytest.mark.longer
def test_a_batch_must_be_read_completely(ticks: Replay, transport: str) -> None:
    if transport == "connect":
        pytest.skip("foreachBatch runs in a Python process of the server there")
    changes = keep(ticks.rows(), rows=2, per="symbol").changes()
    seen: list[int] = []

    def run(checkpoint: str, consume: Callable[[DataFrame, int], None]) -> None:
        writer = changes.writeStream.foreachBatch(consume).trigger(availableNow=True)
        finish(writer.option("checkpointLocation", checkpoint).start())

    def first(batch: DataFrame, number: int) -> None:
        seen.extend(row.seq for row in batch.limit(1).collect())

    def first_of_all(batch: DataFrame, number: int) -> None:
        batch.persist().count()
        first(batch, number)
        batch.unpersist()

    # `limit` computes only some partitions, and Spark cannot restart without the others' state.
    with pytest.raises(StreamingQueryException):
        run(ticks.checkpoint, first)
    assert len(seen) == 1
    run(f"{ticks.checkpoint}-2", first_of_all)
    assert len(seen) == 1 + len([*TICKS, HEARTBEAT])
