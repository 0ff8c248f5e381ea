"""Prints the rows of a table of the file catalog, one JSON object a line.

    python -m tests.compatibility.pipelines.read JAR FOLDER TABLE

The JAR has the catalog, whose tables are in the folder.
"""

from __future__ import annotations

import sys

from pyspark.sql import SparkSession

from tests.compatibility.pipelines.project import CATALOG, catalog


def main(jar: str, folder: str, table: str) -> None:
    """Print the rows."""
    builder = SparkSession.builder.master("local[1]").config("spark.jars", jar)
    builder = builder.config("spark.ui.enabled", "false").config(map=catalog(folder))
    spark = builder.getOrCreate()
    for row in spark.table(f"{CATALOG}.shop.{table}").toJSON().collect():
        print(row)
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
