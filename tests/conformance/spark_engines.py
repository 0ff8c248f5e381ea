"""Runs cases through ``keep``, as tables and as streams, many cases per query."""

import json
import os
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import reduce
from pathlib import Path
from tempfile import TemporaryDirectory

import values
from cases import (
    Case,
    cut_at_last_row,
    delay,
    goes_back,
    is_moved_by_rows,
    is_stamped,
    stamped,
)
from changes import (
    Event,
    difference_of_outputs,
    fault_of_values,
    numbering_fault,
    steps,
)
from compare import Answer
from dialects import DIALECTS, group_keys, origin
from feed import SCHEMA, write_late_stream, write_stream, write_table
from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from winops import Kept, configure, keep

FILES = "org.apache.spark.sql.execution.streaming.checkpointing"
# Plans for a few rows each gain nothing from compilation or parallelism.
SETTINGS = {
    "spark.driver.host": "localhost",
    # The state of hundreds of queries stays in memory until Spark maintains its stores.
    "spark.driver.memory": "3g",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.files.maxPartitionBytes": "1g",
    # The default manager starts processes for every file, and a batch writes hundreds of files.
    "spark.sql.streaming.checkpointFileManagerClass": (
        f"{FILES}.FileSystemBasedCheckpointFileManager"
    ),
    "spark.sql.streaming.checkpoint.fileChecksum.enabled": "false",
}


# Returns the rows of a case, among which there may be others.
Source = Callable[[Case], DataFrame]

# Each task receives the whole query, so a query of twice the cases costs four times.
CASES_IN_QUERY = 40

# Cases that end later than this, in milliseconds, have a clock of their own. Until their end, a
# window that reports every 100 milliseconds would emit billions of reports.
LATEST_SHARED_INSTANT = 1_000_000


LATE_FOR_THE_CLOCK = "a row that is older than a clock which no row of its window has moved"
LATE_FOR_THE_WATERMARK = (
    "rows that the watermark drops, which moves on streams by event time only"
)


def reason_not_to_run(engine: str, apply: str, case: Case) -> str | None:
    """Return the reason why an engine cannot run a case, or None.

    Only a stream by event time has a watermark that drops late rows. A table applies a row
    however late it is, provided that the rows of its only window determine its lateness."""
    if delay(case) is not None and (engine, apply) != ("stream", "event_time"):
        return LATE_FOR_THE_WATERMARK
    if goes_back(case):
        in_groups = group_keys(case)
        if engine != "batch" or in_groups or not is_moved_by_rows(case):
            return LATE_FOR_THE_CLOCK
    return None


def batch(cases: list[Case], apply: str) -> tuple[list[Case], list[Answer]]:
    """Answer cases from a table, up to the last row; return the cases cut there."""
    cases = [cut_at_last_row(stamped(case) if goes_back(case) else case) for case in cases]
    cases = [{**case, "apply": "arrival" if is_stamped(case) else apply} for case in cases]
    answers = Answers()
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder, session() as spark:
        write_table(with_input(cases), Path(folder))
        rows = timed(spark.read.schema(SCHEMA).json(folder))
        late = [case for case in cases if is_stamped(case)]
        in_time = [case for case in cases if not is_stamped(case)]
        for some, application in ((in_time, apply), (late, "arrival")):
            for changes in answers.ask(some, lambda _: rows, application):
                answers.take(changes.collect())
    return cases, answers.of(cases)


def stream(
    cases: list[Case], apply: str, batches: int, seed: int
) -> tuple[list[Case], list[Answer]]:
    """Answer cases from a stream of the given number of batches."""
    cases = [{**case, "apply": apply} for case in cases]
    answers = Answers()
    late = [case for case in cases if delay(case) is not None]
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder, session() as spark:

        def run(some: Sequence[Case], inputs: Path, behind: int) -> None:
            reader = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
            rows = timed(reader.json(str(inputs)))
            rows = rows.withWatermark("_at", f"{behind} milliseconds")
            for number, changes in enumerate(answers.ask(some, lambda _: rows, apply)):
                name = f"{inputs.name}_{number}"
                query = (
                    changes.writeStream.format("memory")
                    .queryName(name)
                    .option("checkpointLocation", str(Path(folder, f"of_{name}")))
                    .trigger(availableNow=True)
                    .start()
                )
                query.awaitTermination()
                answers.take(spark.table(name).collect())

        in_time = [case for case in cases if delay(case) is None]
        near = [case for case in in_time if last_instant(case) <= LATEST_SHARED_INSTANT]
        far = [case for case in in_time if last_instant(case) > LATEST_SHARED_INSTANT]
        for number, some in enumerate([near, *([case] for case in far)]):
            inputs = Path(folder, f"inputs_{number}")
            inputs.mkdir()
            write_stream(with_input(some), inputs, batches, seed)
            run(some, inputs, 0)
        # All cases of a query share one watermark, so each of these cases is its own query.
        for number, case in enumerate(late):
            inputs = Path(folder, f"late_{number}")
            inputs.mkdir()
            write_late_stream(case, inputs, batches, seed)
            run([case], inputs, delay(case) or 0)
    return cases, answers.of(cases)


class Answers:
    """The answers to cases, collected from queries."""

    def __init__(self) -> None:
        self._refused: dict[str, Answer] = {}
        self._events: dict[str, list[Event]] = defaultdict(list)

    def ask(self, cases: Sequence[Case], rows: Source, apply: str) -> list[DataFrame]:
        """Return the queries of the cases that winops accepts, each for many cases."""
        queries = [
            reduce(DataFrame.union, outputs) for _, outputs in self.accepted(cases, rows, apply)
        ]
        return [
            reduce(DataFrame.union, queries[first : first + CASES_IN_QUERY])
            for first in range(0, len(queries), CASES_IN_QUERY)
        ]

    def accepted(
        self, cases: Sequence[Case], rows: Source, apply: str
    ) -> list[tuple[Case, list[DataFrame]]]:
        """Return the cases that winops accepts, each with the queries of its outputs."""
        return [
            (case, outputs)
            for case in cases
            if (outputs := self._accept(case, rows, apply)) is not None
        ]

    def _accept(self, case: Case, rows: Source, apply: str) -> list[DataFrame] | None:
        if case["dialect"] not in DIALECTS:
            failure = f"the dialect {case['dialect']} is not supported"
            self._refused[case["name"]] = {"failure": failure}
            return None
        try:
            outputs = _outputs(case, rows(case), apply)
            # Spark Connect reports analysis errors only when the schema is requested.
            assert all(output.schema for output in outputs)
        except AnalysisException as error:
            self._refused[case["name"]] = refusal(error)
            return None
        return outputs

    def take(self, rows: list) -> None:
        for row in rows:
            event = Event(*row)
            self._events[event.case].append(event)

    def of(self, cases: list[Case]) -> list[Answer]:
        return [self._refused.get(case["name"]) or self._answer(case) for case in cases]

    def _answer(self, case: Case) -> Answer:
        if "input" not in case:
            return {"steps": []}
        events = self._events[case["name"]]
        if values.computes(case):
            fault = fault_of_values(case, events)
            return {"failure": fault} if fault else {"posts_by_group": _posts(events)}
        fault = numbering_fault(case, events)
        if case["dialect"] == "spl":
            # Events have no sequence numbers.
            changes = [event for event in events if event.sequence is not None]
            events = [event for event in events if event.sequence is None]
            fault = fault or difference_of_outputs(events, changes)
        if fault:
            return {"failure": fault}
        return {
            "steps": steps(case, events),
            "steps_if_rows_evict": steps(case, events, rows_evict=True),
            "groups_in_any_order": case["dialect"] == "spl",
        }


def _outputs(case: Case, rows: DataFrame, apply: str) -> list[DataFrame]:
    kept = _kept(case, rows, apply)
    if values.computes(case):
        return [_computed(case, kept)]
    keys = [F.expr(key).cast("string") for key in group_keys(case)]
    emitted = kept.changes()
    described = ["_change_type", "_change_time", "_change_step", "_change_seq"]
    assert emitted.columns == [*described, "_position", "_at", "_punct", *case["schema"]]
    changes = _rows_of(case, _as_events(emitted), keys)
    if case["dialect"] != "spl":
        return [changes]
    events = kept.events().withColumn("_change_seq", F.lit(None).cast("long"))
    return [changes, _rows_of(case, events, keys)]


def _kept(case: Case, rows: DataFrame, apply: str) -> Kept:
    schema = ", ".join(f"`{name}` {kind}" for name, kind in case["schema"].items())
    # Spark would push a condition without the time column below the watermark. The rows that
    # advance the watermark would then be filtered.
    of_case = F.when(F.col("_at").isNotNull(), F.col("_case") == case["name"])
    marks = any("punct" in entry for entry in case.get("input", []))
    return keep(
        rows.where(of_case)
        .withColumn("_columns", F.from_json("_row", schema))
        .select("_position", "_at", "_punct", "_columns.*"),
        DIALECTS[case["dialect"]].policy(case),
        order_by="_position",
        time="_at",
        apply=apply,
        params=parameters(case),
        origin=origin(case),
        punct="_punct" if marks or "punct()" in case["policy"] else None,
    )


def _rows_of(case: Case, events: DataFrame, keys: list[Column]) -> DataFrame:
    return events.select(
        F.lit(case["name"]).alias("case"),
        F.to_json(F.array(*keys)).alias("_group"),
        F.col("_event_type").alias("kind"),
        F.unix_millis("_change_time").alias("at"),
        F.col("_change_step").alias("step"),
        "_change_seq",
        F.transform("rows", lambda row: row["_position"]).alias("positions"),
        F.transform("rows", lambda row: row["id"]).alias("ids"),
    )


def _computed(case: Case, kept: Kept) -> DataFrame:
    """Return computed values in the form of events without rows."""
    # All cases share one clock, so windows with forced output would emit until its end.
    end = last_instant(case)
    computed = kept.agg(mode="changes").where(F.unix_millis("_change_time") <= end)
    columns = [column for column in computed.columns if not column.startswith("_")]
    row = F.struct(*(F.col(f"`{column}`") for column in columns))
    return computed.select(
        F.lit(case["name"]).alias("case"),
        F.to_json(row, {"ignoreNullFields": "false"}).alias("_group"),
        F.col("_change_type").alias("kind"),
        F.unix_millis("_change_time").alias("at"),
        F.col("_change_seq").alias("step"),
        F.lit(None).cast("long"),
        F.array().cast("array<long>").alias("positions"),
        F.array().cast("array<long>").alias("ids"),
    )


def _posts(events: list[Event]) -> list[dict]:
    """Return values in the order in which each group emits them."""
    return [
        {
            "at": event.at,
            "insert": [json.loads(event.group)] if event.kind == "insert" else [],
            "remove": [json.loads(event.group)] if event.kind == "delete" else [],
        }
        for event in sorted(events, key=lambda event: (event.at, event.step))
    ]


def _as_events(changes: DataFrame) -> DataFrame:
    """Return changes in the form of events of one row each."""
    kind = F.when(F.col("_change_type") == "insert", "INSERTION").otherwise("EVICTION")
    rows = F.array(F.struct("_position", "id"))
    return changes.withColumns({"_event_type": kind, "rows": rows})


def parameters(case: Case) -> dict | None:
    variables = {name: given["value"] for name, given in case.get("variables", {}).items()}
    known = {name: value for name, value in variables.items() if value is not None}
    return {**case.get("params", {}), **known} or None


def refusal(error: AnalysisException) -> Answer:
    condition = error.getCondition() or ""
    name, _, category = condition.partition(".")
    if name != "WINOPS_POLICY":
        return {"failure": f"{condition}: {error}"}
    return {"error": category.lower().replace("_", "-")}


def last_instant(case: Case) -> int:
    return max((entry["at"] for entry in case.get("input", [])), default=0)


def with_input(cases: list[Case]) -> list[Case]:
    return [case for case in cases if "input" in case]


def timed(rows: DataFrame) -> DataFrame:
    return rows.withColumn("_at", F.timestamp_millis("_millis"))


@contextmanager
def session(*, slots: int = 2, real_time: bool = False) -> Iterator[SparkSession]:
    """Start a session with this number of slots, and stop it at the end of the block."""
    builder = SparkSession.builder.appName("conformance").config(map=SETTINGS)
    if os.environ.get("WINOPS_TRANSPORT") == "connect":
        # Makes the in-process server choose a free port instead of a fixed one.
        os.environ["SPARK_TESTING"] = "1"
        builder = builder.remote(f"local[{slots}]")
    else:
        builder = builder.master(f"local[{slots}]")
    with warnings.catch_warnings():
        # The server already applied the static settings; the client warns that it cannot set
        # them.
        warnings.simplefilter("ignore", UserWarning)
        started = configure(builder, real_time=real_time).getOrCreate()
    yield started
    started.stop()
