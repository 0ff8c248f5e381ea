"""A stream of three micro-batches, from its start to its end, with RocksDB and its commits."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pytest_benchmark.fixture import BenchmarkFixture

from data import deliver
from winops import keep


@pytest.fixture
def stream(spark: SparkSession, micro_batches: list[Path], tmp_path: Path) -> DataFrame:
    source = tmp_path / "source"
    source.mkdir()
    for path in micro_batches:
        deliver(path, source)
    schema = spark.read.parquet(str(source)).schema
    one_at_a_time = spark.readStream.option("maxFilesPerTrigger", 1)
    return one_at_a_time.schema(schema).parquet(str(source))


@pytest.mark.benchmark(group="stream")
def test_stream(
    benchmark: BenchmarkFixture,
    stream: DataFrame,
    micro_batches: list[Path],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    changes = keep(stream, "KEEP 100 ROWS PER (key)", order_by="seq").changes()

    def run() -> int:
        checkpoint = tmp_path_factory.mktemp("checkpoint")
        query = (
            changes.writeStream.format("noop")
            .option("checkpointLocation", str(checkpoint))
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
        return sum(progress["numInputRows"] > 0 for progress in query.recentProgress)

    assert benchmark.pedantic(run, rounds=5, warmup_rounds=2) == len(micro_batches)
