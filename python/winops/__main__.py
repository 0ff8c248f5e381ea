"""The command line: ``python -m winops jar``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from pyspark.errors import PySparkRuntimeError

from winops._session import jar_path


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m winops", description="Retention windows for Apache Spark."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser(
        "jar",
        help="print the path of the JAR",
        description="Print the path of the JAR for the installed version of pyspark, for "
        'spark-submit --jars "$(python -m winops jar)".',
    )
    parser.parse_args(arguments)
    try:
        sys.stdout.write(f"{jar_path()}\n")
    except PySparkRuntimeError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
