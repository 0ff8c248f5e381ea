"""Rows in files that Spark's file source reads one after another."""

from __future__ import annotations

import os
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
from pyspark.sql import DataFrame, SparkSession


def write_files(rows: pd.DataFrame, files: int, folder: Path) -> None:
    """Write `rows`, in their order, as Parquet files of equal size into a new `folder`."""
    folder.mkdir(parents=True)
    bounds = np.linspace(0, len(rows), files + 1).astype(int)
    for number, (start, end) in enumerate(pairwise(bounds)):
        path = folder / f"{number:04d}.parquet"
        rows.iloc[start:end].to_parquet(path, index=False, coerce_timestamps="us")
        # The file source takes files in the order of their modification times.
        os.utime(path, (1_400_000_000 + number, 1_400_000_000 + number))


def read_stream(spark: SparkSession, folder: Path) -> DataFrame:
    """Return the rows of :func:`write_files` as a stream of one file per micro-batch."""
    return (
        spark.readStream.schema(spark.read.parquet(str(folder)).schema)
        .option("maxFilesPerTrigger", 1)
        .parquet(str(folder))
    )
