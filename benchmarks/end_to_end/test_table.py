"""A table of 200,000 rows, read from memory: shuffle, windows and answers, but no state."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pytest_benchmark.fixture import BenchmarkFixture

from winops import Kept, keep

# Every key has more rows than the window.
WINDOW = 100
MEAN_LOW_HIGH = {"mean": F.avg, "low": F.min, "high": F.max}


def changes(kept: Kept) -> DataFrame:
    return kept.changes()


def aggregates(kept: Kept) -> DataFrame:
    return kept.agg(*(of("price").alias(name) for name, of in MEAN_LOW_HIGH.items()))


def columns(kept: Kept) -> DataFrame:
    return kept.withColumns({name: of("price") for name, of in MEAN_LOW_HIGH.items()})


@pytest.mark.benchmark(group="table")
@pytest.mark.parametrize("answer", [changes, aggregates, columns])
def test_table(
    benchmark: BenchmarkFixture, trades: DataFrame, answer: Callable[[Kept], DataFrame]
) -> None:
    kept = keep(trades, f"KEEP {WINDOW} ROWS PER (key)", order_by="seq")
    answered = answer(kept)

    def run() -> None:
        answered.write.format("noop").mode("overwrite").save()

    benchmark.pedantic(run, rounds=7, warmup_rounds=7)

    rows, keys = trades.count(), trades.select("key").distinct().count()
    deletes = rows - keys * WINDOW if answer is changes else 0
    assert answered.count() == rows + deletes
