"""The frame of a small example: arguments, one query to its end, comparison, report."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import pandas as pd
from pyspark.sql import DataFrame

# The other side may add floating-point numbers in another order.
TOLERANCE = 1e-9


def arguments(description: str | None, rows: int) -> argparse.Namespace:
    """Read the command line; `rows` is the default number of generated rows."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=rows, help="rows made (default: %(default)s)")
    parser.add_argument("--files", type=int, default=8, help="micro-batches (default: 8)")
    parser.add_argument("--seed", type=int, default=1, help="of the rows (default: %(default)s)")
    return parser.parse_args()


def run(result: DataFrame, folder: Path) -> DataFrame:
    """Run a streaming query over all available rows, and return the rows it wrote into `folder`.

    Raises
    ------
    pyspark.errors.StreamingQueryException
        The query failed.
    """
    query = (
        result.writeStream.format("parquet")
        .option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(availableNow=True)
        .start(str(folder / "rows"))
    )
    query.awaitTermination()
    return result.sparkSession.read.parquet(str(folder / "rows"))


def difference(got: pd.DataFrame, wanted: pd.DataFrame, key: list[str]) -> str | None:
    """Return the difference between two tables as text, or nothing.

    Parameters
    ----------
    got, wanted
        Tables with the same columns. Numbers are equal within a relative error of `TOLERANCE`.
    key
        Columns by which rows are matched.
    """
    if len(got) != len(wanted):
        return f"{len(got):,} rows instead of {len(wanted):,}"
    left, right = (
        _in_utc(table[list(wanted.columns)].sort_values(key, ignore_index=True))
        for table in (got, wanted)
    )
    try:
        pd.testing.assert_frame_equal(
            left, right, check_dtype=False, check_exact=False, rtol=TOLERANCE, atol=TOLERANCE
        )
    except AssertionError as error:
        return str(error)
    return None


def _in_utc(table: pd.DataFrame) -> pd.DataFrame:
    # Spark returns instants as UTC without a zone, DuckDB in the zone of the machine.
    instants = table.select_dtypes(["datetime", "datetimetz"]).columns
    return table.assign(**{name: pd.to_datetime(table[name], utc=True) for name in instants})


def report(got: pd.DataFrame, wanted: pd.DataFrame, key: list[str], by: str) -> int:
    """Print the comparison; return 0 if the tables are equal and not empty, otherwise 1."""
    problem = "there are no rows" if wanted.empty else difference(got, wanted, key)
    if problem:
        print(f"self-check FAILED: {problem}", file=sys.stderr)
        return 1
    print(f"self-check passed: {len(got):,} rows, all as computed by {by}")
    return 0
