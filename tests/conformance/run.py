"""Runs conformance cases on winops and compares the answers.

    python tests/conformance/run.py --engine task|testing|batch|stream|real-time PATH...

PATH is a file of cases or a folder of such files. README.md beside this project's cases describes
the format. The last line is ``N passed, N failed``. The exit status is 1 if a case failed, and 2
if the cases could not be run at all.
"""

import argparse
import sys
from collections import Counter
from pathlib import Path

import chained
import values
from cases import (
    Case,
    Unusable,
    load,
    without_empty_steps,
    without_silent_beginning,
)
from compare import Answer, compare
from sample import family, sampled

ENGINES = ["task", "testing", "batch", "stream", "real-time"]


def main() -> int:
    arguments = _arguments()
    try:
        cases = _chosen(arguments, _kept(arguments, load(arguments.paths)))
        cases = [values.comparable(case) for case in cases]
        cases, answers = _answered(arguments, cases)
    except Unusable as error:
        print(error, file=sys.stderr)
        return 2
    failed, rows = _report(cases, answers)
    _count(cases, rows)
    print(f"{len(cases) - failed} passed, {failed} failed")
    return 1 if failed else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Puts conformance cases to winops.")
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH")
    parser.add_argument("--engine", required=True, choices=ENGINES)
    parser.add_argument(
        "--apply",
        default="event_time",
        choices=["event_time", "arrival"],
        help="batch and stream: whether rows wait for the watermark (default: %(default)s)",
    )
    parser.add_argument(
        "--seed", type=int, default=1, help="stream: chooses the batches (default: %(default)s)"
    )
    parser.add_argument(
        "--batches",
        type=int,
        default=6,
        help="stream: into how many batches the rows are cut (default: %(default)s)",
    )
    parser.add_argument(
        "--sample",
        type=int,
        metavar="CASES",
        help="put only so many cases, the same ones each time, of all dialects and families",
    )
    parser.add_argument(
        "--skip",
        type=int,
        default=0,
        metavar="CASES",
        help="leave out so many cases at the start of the sample (default: %(default)s)",
    )
    return parser.parse_args()


def _kept(arguments: argparse.Namespace, cases: list[Case]) -> list[Case]:
    """Omit the cases, and the steps of other cases, that the engine cannot produce."""
    if arguments.engine == "task":
        return [without_silent_beginning(case) for case in cases]
    # Spark takes seconds to import, and `--help` does not need it.
    if arguments.engine == "testing":
        import by_hand

        reasons = [by_hand.reason_not_to_run(case) for case in cases]
    else:
        import spark_engines

        apply = "arrival" if arguments.engine == "real-time" else arguments.apply
        reasons = [
            spark_engines.reason_not_to_run(arguments.engine, apply, case) for case in cases
        ]
    for reason, count in sorted(Counter(filter(None, reasons)).items()):
        print(f"{count} cases left out: {reason}")
    return [
        without_empty_steps(case)
        for case, reason in zip(cases, reasons, strict=True)
        if reason is None
    ]


def _chosen(arguments: argparse.Namespace, cases: list[Case]) -> list[Case]:
    if arguments.sample is None:
        return cases
    chosen = sampled(cases, arguments.sample, arguments.skip)
    print(f"{len(chosen)} of {len(cases)} cases")
    families = sorted({f"{case['dialect']} {family(case)}" for case in chosen})
    print(f"families: {', '.join(families)}")
    return chosen


def _answered(
    arguments: argparse.Namespace, cases: list[Case]
) -> tuple[list[Case], list[Answer]]:
    if arguments.engine == "task":
        import task

        return task.answers(cases)
    if arguments.engine == "testing":
        import by_hand

        return by_hand.answers(cases)
    if arguments.engine == "real-time":
        import real_time

        cases, answers = chained.answered(cases, real_time.real_time)
        refused = sum(case.get("error") == real_time.REFUSED for case in cases)
        print(f"{refused} cases {real_time.REFUSED}")
        return cases, answers
    import spark_engines

    if arguments.engine == "batch":
        return chained.answered(cases, lambda some: spark_engines.batch(some, arguments.apply))
    print(f"seed {arguments.seed}, {arguments.batches} batches")
    return chained.answered(
        cases,
        lambda some: spark_engines.stream(
            some, arguments.apply, arguments.batches, arguments.seed
        ),
    )


def _report(cases: list[Case], answers: list[Answer]) -> tuple[int, int]:
    """Print the differences, and return the numbers of failed cases and of compared rows."""
    failed = rows = 0
    for case, answer in zip(cases, answers, strict=True):
        comparison = compare(case, answer)
        rows += comparison.rows
        if comparison.difference is not None:
            failed += 1
            print(f"{case['name']}: {comparison.difference}")
    return failed, rows


def _count(cases: list[Case], rows: int) -> None:
    """Print the number of compared rows, and the reasons for the omitted steps."""
    left_out: Counter = Counter()
    for case in cases:
        left_out.update(case["left_out"])
    for reason, count in sorted(left_out.items()):
        print(f"{count} not compared: {reason}")
    dialects = Counter(case["dialect"] for case in cases)
    print(", ".join(f"{dialect}: {count} cases" for dialect, count in sorted(dialects.items())))
    print(f"{rows} rows compared")


if __name__ == "__main__":
    sys.exit(main())
