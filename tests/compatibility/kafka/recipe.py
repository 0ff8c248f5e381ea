"""Runs the blocks of the page docs/how-to/kafka.md beside a Kafka broker."""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.compatibility.recipes import session
from tests.resilience.faults.broker import Broker
from tests.resilience.faults.lives import kafka_classes
from tests.support.markdown import check_blocks
from tests.support.paths import ROOT

PAGE = ROOT / "docs" / "how-to" / "kafka.md"


def main(transport: str) -> None:
    jars = [jar for jar in kafka_classes() if jar.endswith(".jar")]
    if not jars:
        raise SystemExit("The JARs of Kafka are missing: run ./sbt kafka first.")
    with TemporaryDirectory() as name:
        folder = Path(name)
        with closing(Broker(folder / "broker")) as broker:
            spark = session(transport, folder, jars, PAGE)
            run = check_blocks(PAGE, {"spark": spark, "servers": broker.servers})
            spark.stop()
    print(f"{run} blocks of the page ran")


if __name__ == "__main__":
    main(sys.argv[1])
