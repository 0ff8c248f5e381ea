"""Runs cases through ``keep`` in real-time mode of Spark 4.3.

A query has one case, because a union of windows is refused in this mode. Many run at once.
"""

import time
from pathlib import Path
from tempfile import TemporaryDirectory

from cases import Case, instant
from compare import Answer
from feed import SCHEMA, write_followed
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming import StreamingQuery
from spark_engines import Answers, last_instant, session, timed

REFUSED = "refused in real-time mode"
"""The error of cases whose window this mode refuses by a condition of its own."""

CASES_AT_ONCE = 12

# The tasks of a source and of its window run at once. A case of SPL has two queries.
SLOTS = 4 * CASES_AT_ONCE

BATCH = "1 second"
SETTINGS = {
    "spark.sql.streaming.realTimeMode.minBatchDuration": "1000",
    # The progress of a batch is looked for until all of its neighbours have ended.
    "spark.sql.streaming.numRecentProgressUpdates": "1000",
}

LONGEST_SECONDS = 300


def real_time(cases: list[Case]) -> tuple[list[Case], list[Answer]]:
    """Answer cases; those that the mode refuses are returned with the error ``REFUSED``."""
    cases = [{**case, "apply": "arrival"} for case in cases]
    answers = Answers()
    refused: set[str] = set()
    with (
        TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        session(slots=SLOTS, real_time=True) as spark,
    ):
        for name, value in SETTINGS.items():
            spark.conf.set(name, value)
        inputs = _Inputs(spark, Path(folder))
        accepted = [
            (case, outputs)
            for case, outputs in answers.accepted(cases, inputs.rows, "arrival")
            if "input" in case
        ]
        for first in range(0, len(accepted), CASES_AT_ONCE):
            some = accepted[first : first + CASES_AT_ONCE]
            refused |= _run(spark, Path(folder), some, answers)
    ran = [{**case, "error": REFUSED} if case["name"] in refused else case for case in cases]
    found = [
        {"error": REFUSED} if case["name"] in refused else answer
        for case, answer in zip(cases, answers.of(cases), strict=True)
    ]
    return ran, found


class _Inputs:
    """The inputs of cases in files, which queries follow."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self._spark = spark
        self._folder = folder

    def rows(self, case: Case) -> DataFrame:
        """Write the inputs of a case, and return them as a stream of one partition."""
        folder = self._folder / f"of_{_identifier(case)}"
        folder.mkdir()
        if "input" in case:
            write_followed(case, folder / "0", _end(case))
        lines = self._spark.readStream.format("winops.testing.FollowedFiles").load(str(folder))
        rows = timed(lines.select(F.from_json("value", SCHEMA).alias("line")).select("line.*"))
        return rows.withWatermark("_at", "0 milliseconds")


def _run(
    spark: SparkSession,
    folder: Path,
    some: list[tuple[Case, list[DataFrame]]],
    answers: Answers,
) -> set[str]:
    """Run cases at once, take their answers, and return the names of those refused."""
    refused: set[str] = set()
    started: list[tuple[Case, str, StreamingQuery]] = []
    try:
        for case, outputs in some:
            for number, output in enumerate(outputs):
                name = f"real_time_{_identifier(case)}_{number}"
                try:
                    started.append((case, name, _start(output, name, folder)))
                except AnalysisException as error:
                    if not (error.getCondition() or "").startswith("WINOPS_REAL_TIME."):
                        raise
                    refused.add(case["name"])
        for case, _, query in started:
            _wait(query, _end(case))
    finally:
        for _, _, query in started:
            query.stop()
    for case, name, _ in started:
        if case["name"] not in refused:
            answers.take(spark.table(name).collect())
    return refused


def _start(output: DataFrame, name: str, folder: Path) -> StreamingQuery:
    writer = output.writeStream.format("memory").queryName(name)
    writer = writer.option("checkpointLocation", str(folder / name))
    return writer.outputMode("update").trigger(realTime=BATCH).start()


def _wait(query: StreamingQuery, end: int) -> None:
    """Wait for the end of a batch that has begun with the watermark of the last row.

    Timers fire at the beginning of a batch, and the sink has their rows at its end.
    """
    text = instant(end).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    until = time.monotonic() + LONGEST_SECONDS
    while text not in {one["eventTime"].get("watermark") for one in query.recentProgress}:
        if (error := query.exception()) is not None:
            raise error
        if time.monotonic() > until:
            raise TimeoutError(f"{query.name} after {LONGEST_SECONDS} seconds: {query.status}")
        time.sleep(0.05)


def _end(case: Case) -> int:
    """Return an instant after all rows of a case."""
    return last_instant(case) + 1000


def _identifier(case: Case) -> str:
    """Return the name of a case as a part of the names of files and of tables."""
    return "".join(letter if letter.isalnum() else "_" for letter in case["name"])
