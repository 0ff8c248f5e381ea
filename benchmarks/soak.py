"""Runs windows in real-time mode of Spark 4.3 for an hour, and prints what must not grow.

    ./sbt -Dspark=4.3 jars peersSpark/packageBin
    target/releases/4.3.0/bin/python benchmarks/soak.py --minutes 60

A line after each batch has its rows, the heap after a garbage collection, the bytes of state that
it read and wrote, the bytes of the checkpoint, and percentiles of the time that a row takes in
the operator, in microseconds. Spark keeps the last 100 batches of a checkpoint.
"""

from __future__ import annotations

import argparse
import subprocess

from latency import submitted


def main() -> None:
    """Run the windows, and print the lines."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rate", type=int, default=1000, help="rows per second")
    parser.add_argument("--minutes", type=int, default=60)
    parser.add_argument("--seconds", type=int, default=60, help="seconds of a batch")
    parser.add_argument("--window", type=int, default=100, help="rows of a window")
    parser.add_argument("--keys", type=int, default=50)
    parser.add_argument("--memory", default="1g")
    options = parser.parse_args()
    numbers = (options.rate, options.minutes, options.seconds, options.window, options.keys)
    subprocess.run(submitted("Soak", options.memory, *map(str, numbers)), check=True)


if __name__ == "__main__":
    main()
