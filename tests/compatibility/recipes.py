"""Runs the blocks of a page in a session that is started as the page says."""

from __future__ import annotations

import os
import sys
import warnings
from itertools import pairwise
from pathlib import Path

from pyspark.sql import SparkSession

from tests.support.markdown import all_blocks, commands
from winops import configure


def settings(page: Path) -> dict[str, str]:
    """Return what the first shell block of a page gives as ``--conf``."""
    [block, *_] = [block for block in all_blocks(page) if block.language == "sh"]
    [words] = commands(block)
    given = [value for name, value in pairwise(words) if name == "--conf"]
    return dict(setting.split("=", 1) for setting in given)


def session(transport: str, folder: Path, jars: list[str], page: Path) -> SparkSession:
    """Start Spark with the page's settings, and JARs in the place of its packages."""
    return started(transport, folder, jars, settings(page))


def started(transport: str, folder: Path, jars: list[str], given: dict[str, str]) -> SparkSession:
    """Start Spark with settings and JARs."""
    # A Connect server starts this Python for the function of foreachBatch.
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.appName("recipe")
    builder = builder.remote("local[2]") if transport == "connect" else builder.master("local[2]")
    own = {
        "spark.jars": ",".join(jars),
        "spark.driver.host": "localhost",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.ui.enabled": "false",
    }
    with warnings.catch_warnings():
        # The server already applied the static settings; the client warns that it cannot set
        # them.
        warnings.simplefilter("ignore", UserWarning)
        return configure(builder.config(map=own | given)).getOrCreate()
