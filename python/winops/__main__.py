"""The command line: ``python -m winops jar``, ``explain`` and ``check``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from pyspark.errors import PySparkException

from winops._dialects import WindowPolicy
from winops._explain import SCHEMA, check, explain, read_csv
from winops._session import jar_path

_LANGUAGES = ("ccl", "esper", "apama", "spl")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return the exit code."""
    given = _parser().parse_args(arguments)
    try:
        if given.command == "jar":
            sys.stdout.write(f"{jar_path()}\n")
        elif given.command == "check":
            _check(given)
        else:
            _explain(given)
    except (PySparkException, ImportError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
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
    explaining = commands.add_parser(
        "explain",
        help="explain a policy, and draw what it does",
        description="Explain a policy in words and pieces, and draw what it does to rows: "
        f"sample rows with the columns {SCHEMA}, one at a time, or those of a CSV file.",
    )
    checking = commands.add_parser(
        "check",
        help="validate a policy",
        description="Print the sentence of a valid policy, or the error of another one.",
    )
    for command in (explaining, checking):
        command.add_argument("policy", help='such as "KEEP 3 ROWS SLACK 2"')
        command.add_argument("--language", choices=_LANGUAGES, default="ccl")
        command.add_argument("--per", nargs="+", default=[], metavar="COLUMN")
    checking.add_argument("--schema", default=SCHEMA, help="the columns (default: %(default)s)")
    explaining.add_argument("--csv", type=Path, help="a file with a header and up to 400 rows")
    explaining.add_argument("--time", help="the column of the CSV file with the time of each row")
    explaining.add_argument("--html", type=Path, metavar="FILE", help="write a page instead")
    return parser


def _check(given: argparse.Namespace) -> None:
    policy = WindowPolicy(given.language, given.policy)
    described = check(policy, per=given.per, schema=given.schema)
    sys.stdout.write(f"{described['sentence']}\n")


def _explain(given: argparse.Namespace) -> None:
    explanation = explain(
        WindowPolicy(given.language, given.policy),
        per=given.per,
        rows=None if given.csv is None else read_csv(given.csv),
        time=given.time,
    )
    if given.html is None:
        explanation.show()
    else:
        given.html.write_text(explanation.html(), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
