"""Restart failures that Spark's own stateful operators share with winops."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.resilience.faults.answers import batches
from tests.support.replay import NewReplay, Replay, failure
from tests.support.settings import CHANGELOG, CHECKPOINT_FORMAT, settings
from tests.support.transports import same_on_connect

# They can change with the version of Spark only.
pytestmark = pytest.mark.longer


def crashed_before_the_commit(replay: NewReplay) -> Replay:
    """Return a query without winops whose last batch is in the sink's log but not committed."""
    stream = replay("k string, seq long")
    stream.add([("a", 1)], [("a", 2)])
    stream.run(stream.rows().dropDuplicates(["seq"]))
    commits = Path(stream.checkpoint) / "commits"
    last = max(batches(commits))
    (commits / str(last)).unlink()
    (commits / f".{last}.crc").unlink(missing_ok=True)
    return stream


@same_on_connect
def test_format_2_cannot_continue_after_a_crash_between_the_logs(
    spark: SparkSession, replay: NewReplay
) -> None:
    with settings(spark, {CHANGELOG: "true", CHECKPOINT_FORMAT: "2"}):
        stream = crashed_before_the_commit(replay)
        error = failure(stream.start(stream.rows().dropDuplicates(["seq"])))
    assert "assertion failed: CheckpointInfo length: 0" in error


@same_on_connect
def test_format_1_continues_after_a_crash_between_the_logs(
    spark: SparkSession, replay: NewReplay
) -> None:
    with settings(spark, {CHANGELOG: "true", CHECKPOINT_FORMAT: "1"}):
        stream = crashed_before_the_commit(replay)
        stream.add([("b", 3)])
        stream.run(stream.rows().dropDuplicates(["seq"]))
        assert stream.written().count() == 3
