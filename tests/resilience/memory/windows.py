"""Puts all rows into the windows of one key, in a small heap.

    python tests/resilience/memory/windows.py sort table --rows 1000000 --width 2000

The first argument is the kind of window or of result. A `stream` reads the rows in one
micro-batch, and then one row a day later, with which what is timed expires at once. A `table` has
all of these rows.

Exit status: 0 if all rows were processed, 1 if not.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F
from session import HEAP, heap_in_mb, run_to_end, session

from winops import apama, esper, keep, spl

DAY = 86_400
SCHEMA = "seq long, k string, p double, u string, ts timestamp, until long, pad string"

# Of each window, its text with the number of rows; rows are ordered by time where it says so.
ESPER = {
    "length": "#length({n})",
    "length_batch": "#length_batch({n})",
    "sort": "#sort({n}, p)",
    "rank": "#rank(u, {n}, p)",
    "unique": "#unique(u)",
    "firstunique": "#firstunique(u)",
    "expr": "#expr(current_count <= {n})",
    "expr_batch": "#expr_batch(newest_event.seq - oldest_event.seq >= {n} - 1)",
    "intersection": "#unique(u)#length({n})",
    "union": "#unique(u)#sort({n}, p) retain-union",
    "sorted_batch": "#unique(u)#length_batch({n})",
    "ext_timed": "#ext_timed(ts, 12 hours)",
    "ext_timed_batch": "#ext_timed_batch(ts, 12 hours)",
}
TIMED = {
    "timetolive": esper("#timetolive(until)"),
    "time_order": esper("#time_order(ts, 12 hours)"),
    "keep_time": "KEEP 12 HOURS",
    "keep_every_time": "KEEP EVERY 12 HOURS",
    "time_batch": esper("#time_batch(12 hours)"),
    "time_accum": esper("#time_accum(12 hours)"),
    "time_and_sort": esper("#time(12 hours)#sort({n}, p)"),
    "within": apama("within 43200.0"),
    "within_every": apama("within 43200.0 every 43200.0"),
    "sliding_time": spl("sliding, time(43200)"),
    "tumbling_time": spl("tumbling, time(43200)"),
}
COUNTED = {
    "keep": "KEEP {n} ROWS",
    "keep_slack": "KEEP {n} ROWS SLACK 10",
    "keep_every": "KEEP EVERY {n} ROWS",
    "keep_all": "KEEP ALL",
    "retain": apama("retain {n}"),
    "retain_every": apama("retain {n} every {n}"),
    "retain_unique": apama("retain {n} with unique u"),
    "sliding": spl("sliding, count({n})"),
    "tumbling": spl("tumbling, count({n})"),
    **{name: esper(text) for name, text in ESPER.items()},
}


def sized(policy: Any, rows: int) -> Any:
    """Put the number of rows into the text of a policy."""
    if isinstance(policy, str):
        return policy.replace("{n}", str(rows))
    return type(policy)(policy.dialect, policy.text.replace("{n}", str(rows)))


def window(name: str) -> Callable[[DataFrame, int], DataFrame]:
    if name in COUNTED:
        return lambda rows, n: keep(
            rows, sized(COUNTED[name], n), per="k", order_by="seq"
        ).changes()
    return lambda rows, n: keep(
        rows, sized(TIMED[name], n), per="k", order_by="seq", time="ts"
    ).changes()


def over(column: Any) -> Callable[[DataFrame, int], DataFrame]:
    def given(rows: DataFrame, n: int) -> DataFrame:
        frame = Window.partitionBy("k").orderBy("ts", "seq")
        return rows.withColumn("result", column(frame, n)).select("seq", "result")

    return given


def results(policy: Any, method: str, **columns: Any) -> Callable[[DataFrame, int], DataFrame]:
    def kept(rows: DataFrame, n: int) -> DataFrame:
        kept_rows = keep(rows, sized(policy, n), per="k", order_by="seq")
        made = {name: column() for name, column in columns.items()}
        if method == "withColumns":
            return kept_rows.withColumns(made)
        if method == "agg":
            return kept_rows.agg(*(column.alias(name) for name, column in made.items()))
        return getattr(kept_rows, method)()

    return kept


SUM = {"total": lambda: F.sum("p"), "last": lambda: F.max("u")}
CASES: dict[str, Callable[[DataFrame, int], DataFrame]] = {
    **{name: window(name) for name in (*COUNTED, *TIMED)},
    "agg": results("KEEP {n} ROWS", "agg", **SUM),
    "agg_sorted": results(esper("#sort({n}, p)"), "agg", **SUM),
    "agg_distinct": results(esper("#sort({n}, p)"), "agg", count=lambda: F.count_distinct("u")),
    "with_columns": results("KEEP {n} ROWS", "withColumns", **SUM),
    "rows": results(esper("#sort({n}, p)"), "rows"),
    "latest_of_groups": lambda rows, n: keep(
        rows, spl(f"sliding, count({n}), partitioned, partitionCount(9)"), per="k", order_by="seq"
    ).changes(),
    "rows_of_groups": lambda rows, n: keep(
        rows,
        spl("sliding, count(5), partitioned, partitionCount(100000000)"),
        per="u",
        order_by="seq",
    ).changes(),
    "over_sum": over(lambda w, n: F.sum("p").over(w.rowsBetween(-n, 0))),
    "over_range": over(
        lambda w, n: F.expr(
            "max(u) OVER (PARTITION BY k ORDER BY ts RANGE INTERVAL 12 HOURS PRECEDING)"
        )
    ),
    "over_lag": over(lambda w, n: F.lag("pad", n // 2).over(w)),
    "over_lead": over(lambda w, n: F.lead("pad", n // 2).over(w)),
    "over_first": over(lambda w, n: F.first("pad").over(w.rowsBetween(-n // 2, 0))),
}


def write(spark: SparkSession, first: int, end: int, day: int, width: int, folder: str) -> None:
    start = 1_700_000_000 + day * DAY
    rows = spark.range(first, end, numPartitions=2).selectExpr(
        "id AS seq",
        "'k' AS k",
        "rand(1) AS p",
        "sha2(cast(id AS string), 256) AS u",
        f"timestamp_seconds({start} + id / 1000000) AS ts",
        f"({start} + {DAY} div 2) * 1000 + id AS until",
        f"substr(repeat(sha2(cast(id AS string), 512), {width // 128 + 1}), 1, {width}) AS pad",
    )
    # Two tasks read a row group each. Groups of 128 MB would leave no room for the window.
    rows.write.mode("append").option("parquet.block.size", 16 << 20).parquet(folder)


def run(spark: SparkSession, case: str, source: str, folder: str, rows: int, work: Path) -> None:
    """Run a case to its end."""
    if source == "table":
        # The order of an OVER over a table is Spark's own.
        result = CASES[case](spark.read.schema(SCHEMA).parquet(folder), rows)
        result.write.format("noop").mode("overwrite").save()
    else:
        stream = spark.readStream.schema(SCHEMA).parquet(folder).withWatermark("ts", "1 minute")
        run_to_end(CASES[case](stream, rows), work / case)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("case", help=", ".join(CASES) + "; several with commas between them")
    parser.add_argument("source", choices=("stream", "table"))
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--width", type=int, default=2_000)
    parser.add_argument("--heap", default=HEAP)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        spark = session(work, arguments.heap)
        folder = f"{work}/source"
        write(spark, 0, arguments.rows, 0, arguments.width, folder)
        write(spark, arguments.rows, arguments.rows + 1, 1, 1, folder)
        for case in arguments.case.split(","):
            run(spark, case, arguments.source, folder, arguments.rows, work)
            print(f"{case} {arguments.source}: passed, heap {heap_in_mb(spark)} MB", flush=True)
        spark.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
