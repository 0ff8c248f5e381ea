"""Compares the output of the streams with the expected changes, row by row."""

from __future__ import annotations

from pathlib import Path

import duckdb
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from flights_lib.oracle import INPUT, expect
from flights_lib.streams import CARRIERS, DELAY_MINUTES, WINDOWS, Window, changes_path


def read_changes(spark: SparkSession, out: Path, window: Window) -> DataFrame:
    """Return the change rows of `window` whose batches are committed."""
    # Only Spark reads the sink's log, which omits files of unfinished batches.
    return spark.read.parquet(str(changes_path(out, window)))


def check(spark: SparkSession, data: Path, out: Path) -> list[str]:
    """Compare changes and retained rows of both windows.

    Returns
    -------
    list of str
        A line for each difference; empty when all rows agree.
    """
    db = expect(data, DELAY_MINUTES)
    problems = []
    for window in WINDOWS:
        _load(db, window, read_changes(spark, out, window))
        name, columns = window.name, ", ".join(INPUT)
        db.execute(
            f"CREATE TABLE {name}_left AS"
            f" SELECT {columns} FROM {name}_changes WHERE _change_type = 'insert'"
            f" EXCEPT ALL SELECT {columns} FROM {name}_changes WHERE _change_type = 'delete'"
        )
        problems += _compare(db, f"{name}_changes", f"{name}_expected", f"{name}: changes")
        problems += _compare(db, f"{name}_left", f"{name}_held", f"{name}: rows retained")
    return problems


def _load(db: duckdb.DuckDBPyConnection, window: Window, changes: DataFrame) -> None:
    micros = {"departure": F.unix_micros("departure")}
    if window is CARRIERS:
        changes = changes.drop("_change_time")
    else:
        micros["_change_time"] = F.unix_micros("_change_time")
    arrow = changes.withColumns(micros).toArrow()
    db.register("arriving", arrow)
    db.execute(f"CREATE TABLE {window.name}_changes AS SELECT * FROM arriving")
    db.unregister("arriving")


def _compare(db: duckdb.DuckDBPyConnection, got: str, wanted: str, what: str) -> list[str]:
    columns = ", ".join(row[0] for row in db.execute(f"DESCRIBE {wanted}").fetchall())
    sides = {"too many": (got, wanted), "missing": (wanted, got)}
    problems = []
    for word, (left, right) in sides.items():
        rows = db.execute(
            f"SELECT {columns} FROM {left} EXCEPT ALL SELECT {columns} FROM {right}"
        ).fetchall()
        if rows:
            problems.append(f"{what}: {len(rows):,} {word}, such as {min(rows, key=str)}")
    return problems
