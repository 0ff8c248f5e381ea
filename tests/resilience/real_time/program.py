"""A query over followed files in one mode, which is killed; and the answer of a table.

    python -m tests.resilience.real_time.program FOLDER JOB MODE

The folder has the rows, the checkpoint, which all modes share, and the output. A line of output
is a fact in JSON: group, position, text.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TextIO
from uuid import uuid4

from pyspark.sql import DataFrame, Row, SparkSession

from tests.resilience.faults.jobs import JOBS
from tests.resilience.real_time.rows import PARTS, parsed
from tests.support.paths import ROOT
from tests.support.settings import CHANGELOG, PARTITIONS
from tests.support.versions import MINOR
from winops import configure

FILES_JAR = ROOT / "target" / "jars" / f"winops-test-files_{MINOR}.jar"
REAL_TIME = "real-time"
MICRO_BATCHES = "micro-batches"
# Micro-batches of all rows that there are, after which the program ends.
TO_THE_END = "to-the-end"
ANSWER = "answer"
# In seconds; Spark accepts no shorter one.
BATCH = 5

SETTINGS = {
    # A slot for each file and for each task of the window.
    "spark.master": "local[4]",
    "spark.driver.host": "localhost",
    "spark.jars": str(FILES_JAR),
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing"
        ".FileSystemBasedCheckpointFileManager"
    ),
    PARTITIONS: "2",
    CHANGELOG: "true",
    # Fewer than the groups of a task, so that groups are stored and read within a batch.
    "spark.winops.realTime.openGroups": "3",
}


class Facts:
    """A sink of Spark's `foreach`: a file for each attempt of a task, which a kill leaves."""

    def __init__(self, folder: Path) -> None:
        self._folder = str(folder)
        self._file: TextIO | None = None

    def open(self, partition: int, batch: int) -> bool:
        """Create the file, whose name begins with the batch."""
        path = Path(self._folder) / f"{batch}-{partition}-{uuid4().hex}"
        # A line is written as a whole, before the next row.
        self._file = path.open("w", buffering=1)
        return True

    def process(self, row: Row) -> None:
        """Write a row."""
        assert self._file is not None
        self._file.write(json.dumps([row["k"], row["position"], row["fact"]]) + "\n")

    def close(self, error: Exception | None) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()


def run(facts: DataFrame, folder: Path, mode: str) -> None:
    """Run the query in a mode, until it is killed or has processed all rows."""
    changes = folder / "changes"
    changes.mkdir(exist_ok=True)
    writer = facts.writeStream.foreach(Facts(changes))
    writer = writer.option("checkpointLocation", str(folder / "checkpoint"))
    if mode == REAL_TIME:
        writer = writer.outputMode("update").trigger(realTime=f"{BATCH} seconds")
    elif mode == TO_THE_END:
        writer = writer.trigger(availableNow=True)
    writer.start().awaitTermination()


def main() -> None:
    """Run the program."""
    folder, name, mode = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    local = {"spark.local.dir": str(folder / "local")}
    builder = SparkSession.builder.appName("real time").config(map={**SETTINGS, **local})
    spark = configure(builder, real_time=True).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    rows = str(folder / "rows")
    if mode == ANSWER:
        facts = JOBS[name].facts(parsed(spark.read.text(rows))).collect()
        texts = [json.dumps([row["k"], row["position"], row["fact"]]) for row in facts]
        (folder / "answer").write_text("".join(f"{text}\n" for text in texts))
    else:
        source = spark.readStream.format("winops.testing.FollowedFiles")
        lines = source.option("partitions", str(PARTS)).load(rows)
        run(JOBS[name].facts(parsed(lines)), folder, mode)
    spark.stop()


if __name__ == "__main__":
    main()
