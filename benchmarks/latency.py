"""Measures the latency of rows in real-time mode, beside other queries and micro-batches.

    ./sbt -Dspark=4.3 jars peersSpark/packageBin peersEsper/peerClasspath
    target/releases/4.3.0/bin/python benchmarks/latency.py --rates 100 1000 10000

Runs with the Python of an environment with pyspark 4.3. Each run is an application of its own
with four slots on this machine. Esper gets the same rows in the process that makes them, with
nothing between: it is the least that an answer takes. A line has the candidate, the rows per
second, and the medians of the 50th and of the 99th percentile of all runs, in milliseconds;
``not held`` if rows did not come in time.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
from pathlib import Path

from peers.processes import java_command
from winops import jar_path
from winops._session import spark_home

_ROOT = Path(__file__).resolve().parents[1]
_PEERS = _ROOT / "target" / "jars" / "winops-peers-spark.jar"
_STATE_STORE = "spark.sql.streaming.stateStore"
_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.streaming.realTimeMode.allowlistCheck": "false",
    "spark.shuffle.streaming.networkBufferMaxWaitTimeMs": "1",
    f"{_STATE_STORE}.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    f"{_STATE_STORE}.checkpointFormatVersion": "2",
    f"{_STATE_STORE}.rocksdb.changelogCheckpointing.enabled": "true",
}
_ESPER = "esper,in-process"
CANDIDATES = (
    "stateless,real-time",
    "ring,real-time",
    "winops,real-time",
    "ring,micro-batches",
    "winops,micro-batches",
    _ESPER,
)


def submitted(program: str, memory: str, *arguments: str) -> list[str]:
    """Return the command that runs a program of the peers as a Spark application of its own."""
    settings = [f"--conf={name}={value}" for name, value in _SETTINGS.items()]
    return [
        str(spark_home() / "bin" / "spark-submit"),
        "--master=local[4]",
        f"--driver-memory={memory}",
        *settings,
        f"--jars={jar_path()}",
        f"--class=winops.peers.{program}",
        str(_PEERS),
        *arguments,
    ]


def command(candidate: str, rate: int, options: argparse.Namespace) -> list[str]:
    """Return the command of one run."""
    arguments = map(str, (candidate, rate, options.seconds, options.window, options.keys))
    if candidate == _ESPER:
        return java_command("esper", "Latency", options.memory, *arguments)
    return submitted("Latency", options.memory, *arguments)


def measured(
    candidate: str, rate: int, options: argparse.Namespace
) -> tuple[float, float] | None:
    """Return the percentiles of one run in milliseconds, or None if the rate was not held."""
    run = subprocess.run(
        command(candidate, rate, options), check=True, capture_output=True, text=True
    )
    [line] = [line for line in run.stdout.splitlines() if line.startswith(f"{candidate} {rate} ")]
    numbers = line.split()[2:]
    return None if numbers == ["not", "held"] else (float(numbers[0]), float(numbers[1]))


def summary(candidate: str, rate: int, runs: list[tuple[float, float] | None]) -> str:
    """Return the line of a candidate and a rate."""
    held = [run for run in runs if run is not None]
    if len(held) < len(runs):
        return f"{candidate} {rate} not held"
    p50 = statistics.median(run[0] for run in held)
    p99 = statistics.median(run[1] for run in held)
    return f"{candidate} {rate} {p50:.2f} {p99:.2f}"


def arguments() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("candidates", nargs="*", default=CANDIDATES)
    parser.add_argument("--rates", nargs="+", type=int, default=[100, 1000, 10000])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=60, help="seconds that are measured")
    parser.add_argument("--window", type=int, default=100, help="rows of a window")
    parser.add_argument("--keys", type=int, default=50)
    parser.add_argument("--memory", default="2g")
    return parser


def main() -> None:
    """Print a line for each candidate and rate."""
    options = arguments().parse_args()
    for rate in options.rates:
        for candidate in options.candidates:
            runs = [measured(candidate, rate, options) for _ in range(options.runs)]
            print(summary(candidate, rate, runs), flush=True)


if __name__ == "__main__":
    main()
