"""The command line: ``python -m winops jar``, ``explain``, ``check``, ``doctor`` and so on."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from runpy import run_path

from pyspark.errors import PySparkException

from winops._dialects import WindowPolicy
from winops._errors import wrong_value
from winops._session import configure, jar_path, properties_of
from winops._tools.diagnosis import Diagnosis, Finding, numbers_of
from winops._tools.doctor import findings_of
from winops._tools.explain import check, explain, read_csv
from winops._tools.state import restart_plan
from winops._tools.words import OVER

# The columns of sample rows.
_SCHEMA = "seq long, symbol string, price double, ts timestamp"

_LANGUAGES = ("ccl", "esper", "apama", "spl")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return the exit code."""
    parser = command_line()
    options = parser.parse_args(arguments)
    if options.command is None:
        parser.print_help()
        return 0
    try:
        code: int = options.run(options)
    except argparse.ArgumentTypeError as error:
        parser.error(str(error))
    except (PySparkException, ImportError, OSError) as error:
        sys.stderr.write(f"{error}\n{_hint(error)}")
        return 1
    return code


def _hint(error: Exception) -> str:
    """Return the line that gives the option for a text of another language."""
    parameters = error.getMessageParameters() if isinstance(error, PySparkException) else None
    language = (parameters or {}).get("language")
    return "" if language is None else f"On the command line, add --language {language}.\n"


def command_line() -> argparse.ArgumentParser:
    """Return the parser of the commands and their options."""
    parser = argparse.ArgumentParser(
        prog="python -m winops", description="Retention windows for Apache Spark."
    )
    commands = parser.add_subparsers(dest="command")
    jar = commands.add_parser(
        "jar",
        help="print the path of the JAR",
        description="Print the path of the JAR for the Spark in SPARK_HOME if that is set, and "
        'otherwise for pyspark, for spark-submit --jars "$(python -m winops jar)".',
    )
    jar.add_argument(
        "--spark",
        metavar="VERSION",
        help="a version of Spark, such as 4.1 or 4.1.2, for a Spark on another machine",
    )
    jar.set_defaults(run=_jar)
    explaining = commands.add_parser(
        "explain",
        help="explain a policy or window functions, and draw what they do",
        description="Explain a policy in words and pieces, and draw what it does to rows: "
        f"sample rows with the columns {_SCHEMA}, one at a time, or those of a CSV file. Explain "
        'window functions such as "avg(x) OVER (PARTITION BY k ORDER BY ts ROWS 99 PRECEDING)" '
        "as a stream computes them.",
    )
    checking = commands.add_parser(
        "check",
        help="validate a policy or window functions",
        description="Print the sentence of a valid policy, or the error of another one.",
    )
    for command in (explaining, checking):
        command.add_argument(
            "policy", help='such as "KEEP 3 ROWS SLACK 2", or functions with OVER'
        )
        command.add_argument(
            "--language",
            choices=(*_LANGUAGES, OVER),
            help="the language of the text (default: over for a text with OVER, otherwise ccl)",
        )
        command.add_argument("--per", nargs="+", default=[], metavar="COLUMN")
    checking.add_argument(
        "--schema",
        help=f"the columns (default: {_SCHEMA}; for window functions, those that the text names)",
    )
    explaining.add_argument("--csv", type=Path, help="a file with a header and up to 400 rows")
    explaining.add_argument("--time", help="the column of the CSV file with the time of each row")
    explaining.add_argument("--html", type=Path, metavar="FILE", help="write a page instead")
    explaining.set_defaults(run=_explain)
    checking.set_defaults(run=_check)
    doctor = commands.add_parser(
        "doctor",
        help="check the installation and a session",
        description="Check the versions of Python, Spark, Java and the JAR, start a session, and "
        "run the operator in it. Print for each problem what to change. The exit code is 0 if "
        "winops works, and 1 if not.",
    )
    doctor.add_argument(
        "--properties-file",
        type=Path,
        metavar="FILE",
        help="a file such as spark-defaults.conf; the session then has the JAR only if the file "
        "names it",
    )
    doctor.add_argument(
        "--conf",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a setting of the session; can be repeated",
    )
    place = doctor.add_mutually_exclusive_group()
    place.add_argument("--master", help="the master of the session, such as local[2]")
    place.add_argument("--remote", help="a Spark Connect server, such as sc://host:15002")
    doctor.set_defaults(run=_doctor)
    restarting = commands.add_parser(
        "restart-plan",
        help="show what becomes of the state of a checkpoint with another query",
        description="Compare a query with a checkpoint, without running it. The exit code is 0 "
        "if the query can restart with the checkpoint, and 1 if not.",
    )
    restarting.add_argument("checkpoint", help="the checkpointLocation of the former query")
    restarting.add_argument(
        "query",
        type=_function,
        metavar="FILE:FUNCTION",
        help="a function in a file of Python, which takes the session and returns the DataFrame "
        "of the query before writeStream",
    )
    restarting.add_argument("--master", default="local[2]", help="the master of the session")
    restarting.add_argument(
        "--conf",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a setting of the session; can be repeated",
    )
    restarting.set_defaults(run=_restart_plan)
    return parser


def _function(text: str) -> tuple[Path, str]:
    file, separator, name = text.rpartition(":")
    if not separator or not name.isidentifier() or not Path(file).is_file():
        raise argparse.ArgumentTypeError(f"FILE:FUNCTION with an existing file, not {text!r}")
    return Path(file), name


def _restart_plan(options: argparse.Namespace) -> int:
    from pyspark.sql import SparkSession

    file, name = options.query
    query = run_path(str(file)).get(name)
    if not callable(query):
        raise argparse.ArgumentTypeError(f"{file} has no function {name}")
    builder = SparkSession.builder.master(options.master).appName("winops restart-plan")
    for setting in options.conf:
        builder = builder.config(*_pair(setting))
    spark = configure(builder).getOrCreate()
    rows = restart_plan(query(spark), options.checkpoint).collect()
    for row in rows:
        cost = ""
        if row.groups:
            cost = f" ({row.groups} groups, {row.rows} rows, {row.bytes} bytes)"
        remedy = f" {row.remedy}." if row.remedy else ""
        sys.stdout.write(f"{row.subject} {row.outcome}{cost}: {row.because}{remedy}\n")
    sys.stdout.write(f"plan {rows[0].plan}\n")
    # A row about something that the query lacks says how to supply it.
    return 1 if any(row.outcome == "is refused" or row.remedy for row in rows) else 0


def _jar(options: argparse.Namespace) -> int:
    sys.stdout.write(f"{jar_path(options.spark)}\n")
    return 0


def _check(options: argparse.Namespace) -> int:
    words = check(_policy(options), per=options.per, schema=options.schema)
    sys.stdout.write(f"{words.sentence}\n")
    return 0


def _explain(options: argparse.Namespace) -> int:
    explanation = explain(
        _policy(options),
        per=options.per,
        rows=None if options.csv is None else read_csv(options.csv),
        time=options.time,
    )
    if options.html is None:
        explanation.show()
    else:
        try:
            options.html.write_text(explanation.html(), encoding="utf-8")
        except OSError as error:
            raise wrong_value(
                f"{options.html} cannot be written: {error.strerror}. Give --html the path of a "
                "file in a folder that exists."
            ) from None
        sys.stdout.write(f"Wrote {options.html}.\n")
    return 0


def _policy(options: argparse.Namespace) -> str | WindowPolicy:
    text: str = options.policy
    return text if options.language is None else WindowPolicy(options.language, text)


def _doctor(options: argparse.Namespace) -> int:
    file = options.properties_file
    settings = {**(_read(file) if file else {}), **dict(map(_pair, options.conf))}
    findings: list[Finding] = []
    for finding in findings_of(
        settings, master=options.master, remote=options.remote, add_jar=file is None
    ):
        # The next check can take seconds.
        print(finding, flush=True)
        findings.append(finding)
    diagnosis = Diagnosis(tuple(findings))
    print(numbers_of(diagnosis))
    return 0 if diagnosis.works else 1


def _read(file: Path) -> dict[str, str]:
    try:
        return properties_of(file)
    except OSError as error:
        raise argparse.ArgumentTypeError(f"--properties-file: {error}") from None


def _pair(text: str) -> tuple[str, str]:
    name, separator, value = text.partition("=")
    if not name or not separator:
        raise argparse.ArgumentTypeError(f"--conf takes NAME=VALUE, not {text!r}")
    return name, value
