"""Trades as files, as a table in memory, and the session that reads them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from data import files
from sessions import session
from trades import TRADES

BATCHES = 3
ROWS_PER_BATCH = 200_000
KEYS = 1_000


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    started = session(partitions=2)
    yield started
    started.stop()


@pytest.fixture(scope="session")
def micro_batches(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return files(tmp_path_factory.mktemp("data"), TRADES, KEYS, ROWS_PER_BATCH, BATCHES)


@pytest.fixture(scope="session")
def trades(spark: SparkSession, micro_batches: list[Path]) -> DataFrame:
    table = spark.read.parquet(str(micro_batches[0])).cache()
    assert table.count() == ROWS_PER_BATCH
    return table
