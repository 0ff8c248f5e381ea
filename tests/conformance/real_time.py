"""Runs cases through ``keep`` in real-time mode of Spark 4.3, many cases per query.

Each case has a file of its own, whose lines a query follows: Spark refuses two uses of one source.
"""

import time
from collections.abc import Callable
from functools import reduce
from pathlib import Path
from tempfile import TemporaryDirectory

from cases import Case, instant
from compare import Answer
from feed import SCHEMA, append_heartbeat, append_inputs
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming import StreamingQuery
from spark_engines import LATEST_SHARED_INSTANT, Answers, last_instant, session, timed

REFUSED = "refused in real-time mode"
"""The error of cases whose window this mode refuses by a condition of its own."""

CASES_IN_QUERY = 16

# The tasks of all sources and windows of a query run at once. A case of SPL has two of each.
SLOTS = 4 * CASES_IN_QUERY

BATCH = "1 second"
SETTINGS = {
    "spark.sql.streaming.realTimeMode.minBatchDuration": "1000",
    # The rows of all batches are counted.
    "spark.sql.streaming.numRecentProgressUpdates": "1000",
}

LONGEST_SECONDS = 300


def real_time(cases: list[Case]) -> tuple[list[Case], list[Answer]]:
    """Answer cases; those that the mode refuses are returned with the error ``REFUSED``."""
    answers = Answers()
    refused: set[str] = set()
    with (
        TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        session(slots=SLOTS, real_time=True) as spark,
    ):
        for name, value in SETTINGS.items():
            spark.conf.set(name, value)
        runs = _Runs(spark, Path(folder), answers, refused)
        accepted = [
            (case, query)
            for case, query in answers.accepted(cases, runs.source, "arrival")
            if "input" in case
        ]
        near = [one for one in accepted if last_instant(one[0]) <= LATEST_SHARED_INSTANT]
        far = [one for one in accepted if last_instant(one[0]) > LATEST_SHARED_INSTANT]
        for first in range(0, len(near), CASES_IN_QUERY):
            runs.run(near[first : first + CASES_IN_QUERY])
        for one in far:
            runs.run([one])
    ran = [{**case, "error": REFUSED} if case["name"] in refused else case for case in cases]
    found = [
        {"error": REFUSED} if case["name"] in refused else answer
        for case, answer in zip(cases, answers.of(cases), strict=True)
    ]
    return ran, found


class _Runs:
    """Queries in real-time mode over the files of a folder."""

    def __init__(
        self, spark: SparkSession, folder: Path, answers: Answers, refused: set[str]
    ) -> None:
        self._spark = spark
        self._folder = folder
        self._answers = answers
        self._refused = refused
        self._sources: dict[str, int] = {}
        self._started = 0

    def source(self, case: Case) -> DataFrame:
        """Return the rows of a case, from a source of its own each time."""
        name = case["name"]
        self._sources[name] = self._sources.get(name, 0) + 1
        file = self._file(case)
        file.parent.mkdir(exist_ok=True)
        lines = self._spark.readStream.format("winops.testing.FollowedFiles")
        rows = lines.load(str(file.parent)).select(F.from_json("value", SCHEMA).alias("line"))
        return timed(rows.select("line.*")).withWatermark("_at", "0 milliseconds")

    def run(self, asked: list[tuple[Case, DataFrame]]) -> None:
        """Run one query for some cases, or several if the mode refuses some of them."""
        try:
            name, query = self._start([query for _, query in asked])
        except AnalysisException as error:
            if not (error.getCondition() or "").startswith("WINOPS_REAL_TIME."):
                raise
            if len(asked) == 1:
                self._refused.add(asked[0][0]["name"])
            else:
                half = len(asked) // 2
                self.run(asked[:half])
                self.run(asked[half:])
            return
        try:
            self._feed([case for case, _ in asked], query)
        finally:
            query.stop()
        self._answers.take(self._spark.table(name).collect())

    def _start(self, queries: list[DataFrame]) -> tuple[str, StreamingQuery]:
        self._started += 1
        name = f"real_time_{self._started}"
        writer = reduce(DataFrame.union, queries).writeStream.format("memory").queryName(name)
        writer = writer.option("checkpointLocation", str(self._folder / f"of_{name}"))
        return name, writer.outputMode("update").trigger(realTime=BATCH).start()

    def _feed(self, cases: list[Case], query: StreamingQuery) -> None:
        """Write the inputs of cases, and wait until the last timers have fired.

        The watermark is the least of those sources that have had a row. So each has one before
        the inputs arrive, and no case is behind the clock of another one.
        """
        first = min((entry["at"] for case in cases for entry in case["input"]), default=0)
        end = max(map(last_instant, cases)) + 1000
        for case in cases:
            append_heartbeat(self._file(case), first)
        read = sum(self._sources[case["name"]] for case in cases)
        _wait(query, lambda: _rows_read(query) >= read)
        for case in cases:
            read += append_inputs(case, self._file(case)) * self._sources[case["name"]]
        _wait(query, lambda: _rows_read(query) >= read)
        for case in cases:
            append_heartbeat(self._file(case), end)
        _wait(query, lambda: _text(end) in _watermarks(query))

    def _file(self, case: Case) -> Path:
        return self._folder / case["name"].replace("/", "_") / "0"


def _rows_read(query: StreamingQuery) -> int:
    """Return the number of rows in the batches that have ended."""
    return sum(progress["numInputRows"] for progress in query.recentProgress)


def _watermarks(query: StreamingQuery) -> set[str]:
    """Return the watermarks with which the batches that have ended began."""
    return {progress["eventTime"].get("watermark", "") for progress in query.recentProgress}


def _text(millis: int) -> str:
    """Return an instant as Spark writes it in the progress of a query."""
    return instant(millis).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _wait(query: StreamingQuery, condition: Callable[[], bool]) -> None:
    until = time.monotonic() + LONGEST_SECONDS
    while not condition():
        if (error := query.exception()) is not None:
            raise error
        if time.monotonic() > until:
            raise TimeoutError(f"after {LONGEST_SECONDS} seconds: {query.status}")
        time.sleep(0.05)
