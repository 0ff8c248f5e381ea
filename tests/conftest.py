"""One Spark session for the whole run; WINOPS_TRANSPORT says which kind: classic or connect."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.support.replay import Replay
from tests.support.settings import ROCKSDB, STATE_STORE
from tests.support.transports import TRANSPORT
from winops import configure

# Rows come back as datetimes in the zone of the process, and the JVM is started by it.
os.environ["TZ"] = "UTC"
time.tzset()

# Most of what a test does it does once: optimising it would cost more than it does. Programs that
# tests start take this from here, too. What the JVM then has for compiled code may fill up, and
# nothing is compiled any more.
os.environ["SPARK_SUBMIT_OPTS"] = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m"


@pytest.fixture(scope="session")
def transport() -> str:
    return TRANSPORT


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    folder = tmp_path_factory.mktemp("spark")
    builder = SparkSession.builder.appName("winops tests")
    if TRANSPORT == "connect":
        # Gives the in-process server a free port instead of a fixed one.
        os.environ["SPARK_TESTING"] = "1"
        builder = builder.remote("local[2]")
    else:
        builder = builder.master("local[2]")
    settings = {
        "spark.driver.host": "localhost",
        "spark.driver.memory": "2g",
        # Errors read the same on both transports, and as they do outside of tests.
        "spark.sql.connect.serverStacktrace.enabled": "false",
        "spark.sql.pyspark.jvmStacktrace.enabled": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "2",
        # Spark stops its state stores with a lock in hand that their maintenance may wait for.
        "spark.sql.streaming.stateStore.maintenanceShutdownTimeout": "1s",
        # The other one starts processes for every file that it writes, and tests write many.
        "spark.sql.streaming.checkpointFileManagerClass": (
            "org.apache.spark.sql.execution.streaming.checkpointing"
            ".FileSystemBasedCheckpointFileManager"
        ),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        STATE_STORE: ROCKSDB,
    }
    with warnings.catch_warnings():
        # The in-process server has taken the static settings; the client is told that it cannot.
        warnings.simplefilter("ignore", UserWarning)
        session = configure(builder.config(map=settings)).getOrCreate()
    yield session
    session.stop()


@pytest.fixture
def replay(spark: SparkSession, tmp_path: Path) -> Callable[[str], Replay]:
    """Make streams of their own, each in a folder of its own."""
    numbers = count()

    def make(schema: str) -> Replay:
        return Replay(spark, tmp_path / f"replay-{next(numbers)}", schema)

    return make
