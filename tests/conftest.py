"""One Spark session for the whole run; WINOPS_TRANSPORT selects classic or connect."""

from __future__ import annotations

import importlib
import os
import pkgutil
import socket
import sys
import time
import warnings
from collections.abc import Iterator
from functools import wraps
from itertools import count
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import winops
from tests.support.paths import ROOT
from tests.support.replay import NewReplay, Replay
from tests.support.settings import INTERPRETED, ROCKSDB, STATE_STORE, settings
from tests.support.transports import TRANSPORT
from tests.support.versions import MINOR
from winops import configure, jar_path

# Rows are returned as datetimes in the time zone of the process, so it is set before the JVM
# starts.
os.environ["TZ"] = "UTC"
time.tzset()

# A Connect server starts this Python for the function of foreachBatch.
os.environ["PYSPARK_PYTHON"] = sys.executable

# Tests run most code once, so optimization would cost more than it saves. Programs that tests
# start inherit this setting. The JVM's code cache may fill up; the JVM then stops compiling.
# The permissions of files are set without a process for each file. Most tests generate the same
# code as others, which Spark compiles again when its cache of 100 entries is full.
# A JVM maps the classes of Spark from a file if `make` has written one, instead of reading and
# verifying them, and ignores the file of another Java or Spark without a word.
CLASSES = ROOT / "target/spark-classes.jsa"
os.environ["SPARK_SUBMIT_OPTS"] = (
    "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m"
    + (f" -XX:SharedArchiveFile={CLASSES} -Xlog:cds*=off" if CLASSES.exists() else "")
    + " -Dspark.hadoop.fs.file.impl=winops.testing.InProcessFileSystem"
    " -Dspark.sql.codegen.cache.maxEntries=2000"
)
if TRANSPORT == "connect":
    # Compiling the code of queries over a few rows takes longer than to interpret them. Most
    # streams run compiled code on classic Spark.
    for name, value in INTERPRETED.items():
        os.environ["SPARK_SUBMIT_OPTS"] += f" -D{name}={value}"
os.environ["SPARK_DIST_CLASSPATH"] = str(ROOT / "target/jars" / f"winops-test-files_{MINOR}.jar")

# A fixture replaces a function in all modules, some of which programs import when they are used.
for found in pkgutil.walk_packages(winops.__path__, "winops."):
    importlib.import_module(found.name)

# A release runs the tests in these folders that lack the mark `built` before it builds a JAR.
BEFORE_THE_BUILD = ("build", "docs")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.built)


@pytest.fixture(autouse=True)
def no_jar_without_the_mark(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fail a test that needs a JAR without the mark, also where the JAR is built."""
    item = request.node
    folders = (ROOT / "tests" / name for name in BEFORE_THE_BUILD)
    if item.get_closest_marker("built") or not any(map(item.path.is_relative_to, folders)):
        return

    # A test may look at its signature and its docstring.
    @wraps(jar_path)
    def refuse(spark: str | None = None) -> str:
        raise AssertionError(f"{item.nodeid} needs a JAR: give it the mark `built`")

    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "winops" and hasattr(module, "jar_path"):
            monkeypatch.setattr(module, "jar_path", refuse)


@pytest.fixture(scope="session")
def transport() -> str:
    return TRANSPORT


@pytest.fixture(scope="session")
def ui_port() -> int:
    """Return a free port for Spark's UI. A client of Spark Connect cannot ask for the port."""
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port: int = free.getsockname()[1]
    return port


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory, ui_port: int) -> Iterator[SparkSession]:
    folder = tmp_path_factory.mktemp("spark")
    builder = SparkSession.builder.appName("winops tests")
    if TRANSPORT == "connect":
        # Makes the in-process server choose a free port instead of a fixed one.
        os.environ["SPARK_TESTING"] = "1"
        builder = builder.remote("local[2]")
    else:
        builder = builder.master("local[2]")
    configuration = {
        "spark.driver.host": "localhost",
        "spark.driver.memory": "2g",
        # Error messages are the same on both transports, as outside of tests.
        "spark.sql.connect.serverStacktrace.enabled": "false",
        "spark.sql.pyspark.jvmStacktrace.enabled": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "2",
        # Spark stops its state stores while holding a lock that their maintenance may wait for.
        "spark.sql.streaming.stateStore.maintenanceShutdownTimeout": "1s",
        # The default manager starts processes for every file, and tests write many files.
        "spark.sql.streaming.checkpointFileManagerClass": (
            "org.apache.spark.sql.execution.streaming.checkpointing"
            ".FileSystemBasedCheckpointFileManager"
        ),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        # The flights demo shows the UI of classic Spark.
        "spark.ui.enabled": str(TRANSPORT == "connect").lower(),
        "spark.ui.port": str(ui_port),
        "spark.ui.showConsoleProgress": "false",
        STATE_STORE: ROCKSDB,
    }
    with warnings.catch_warnings():
        # The server already applied the static settings; the client warns that it cannot set
        # them.
        warnings.simplefilter("ignore", UserWarning)
        session = configure(builder.config(map=configuration)).getOrCreate()
    yield session
    session.stop()


@pytest.fixture
def interpreted(spark: SparkSession) -> Iterator[None]:
    """A session that interprets expressions, for many queries over few rows."""
    # On Spark Connect, the session of each test does.
    with settings(spark, {} if TRANSPORT == "connect" else INTERPRETED):
        yield


@pytest.fixture
def replay(spark: SparkSession, tmp_path: Path) -> NewReplay:
    """Return a factory of streams, each in its own folder."""
    numbers = count()

    def make(schema: str) -> Replay:
        return Replay(spark, tmp_path / f"replay-{next(numbers)}", schema)

    return make
