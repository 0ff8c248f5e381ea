"""Runs the blocks of the page docs/how-to/kafka.md beside a Kafka broker."""

from __future__ import annotations

import os
import sys
import warnings
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from pyspark.sql import SparkSession

from tests.resilience.faults.broker import Broker
from tests.resilience.faults.lives import kafka_classes
from tests.support.markdown import check_blocks
from tests.support.paths import ROOT
from winops import configure


def session(transport: str, folder: Path) -> SparkSession:
    """Start Spark with its source and sink for Kafka."""
    jars = [jar for jar in kafka_classes() if jar.endswith(".jar")]
    if not jars:
        raise SystemExit("The JARs of Kafka are missing: run ./sbt kafka first.")
    builder = SparkSession.builder.appName("kafka")
    builder = builder.remote("local[2]") if transport == "connect" else builder.master("local[2]")
    settings = {
        "spark.jars": ",".join(jars),
        "spark.driver.host": "localhost",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.ui.enabled": "false",
    }
    with warnings.catch_warnings():
        # The server already applied the static settings; the client warns that it cannot set
        # them.
        warnings.simplefilter("ignore", UserWarning)
        return configure(builder.config(map=settings)).getOrCreate()


def main(transport: str) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        with closing(Broker(folder / "broker")) as broker:
            spark = session(transport, folder)
            page = ROOT / "docs" / "how-to" / "kafka.md"
            run = check_blocks(page, {"spark": spark, "servers": broker.servers})
            spark.stop()
    print(f"{run} blocks of the page ran")


if __name__ == "__main__":
    os.environ["PYSPARK_PYTHON"] = sys.executable
    main(sys.argv[1])
