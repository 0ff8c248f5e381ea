"""Puts conformance cases to winops and compares the answers.

    python tests/conformance/run.py --engine core|batch|stream PATH...

PATH is a file of cases or a folder of such files; README.md beside the cases of this project says
what a case looks like. The last line is ``N passed, N failed``; the exit status is 1 when a case
failed, and 2 when the cases could not be run at all.
"""

import argparse
import random
import sys
from pathlib import Path

import chained
import core
from cases import Case, Unusable, load, runs_in_spark, without_empty_steps
from compare import Answer, mismatch


def main() -> int:
    arguments = _arguments()
    try:
        found = load(arguments.paths)
        cases = _kept(arguments.engine, found)
        if len(cases) < len(found):
            print(f"{len(found) - len(cases)} left out: late in the name, or a delay")
        cases = _chosen(arguments, cases)
        failed = _report(*_answered(arguments, cases))
    except Unusable as error:
        print(error, file=sys.stderr)
        return 2
    print(f"{len(cases) - failed} passed, {failed} failed")
    return 1 if failed else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Puts conformance cases to winops.")
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH")
    parser.add_argument("--engine", required=True, choices=["core", "batch", "stream"])
    parser.add_argument(
        "--save",
        default="never",
        metavar="never|always|SEED",
        help="core: before which inputs all groups are stored and taken up again",
    )
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
        "--third",
        type=int,
        metavar="SEED",
        help="put only a third of the cases, chosen by a seed",
    )
    return parser.parse_args()


def _kept(engine: str, cases: list[Case]) -> list[Case]:
    if engine == "core":
        return cases
    return [without_empty_steps(case) for case in cases if runs_in_spark(case)]


def _chosen(arguments: argparse.Namespace, cases: list[Case]) -> list[Case]:
    if arguments.third is None:
        return cases
    chosen = random.Random(arguments.third).sample(cases, -(-len(cases) // 3))
    print(f"{len(chosen)} of {len(cases)} cases, chosen by seed {arguments.third}")
    return chosen


def _answered(
    arguments: argparse.Namespace, cases: list[Case]
) -> tuple[list[Case], list[Answer]]:
    if arguments.engine == "core":
        return chained.answered(cases, lambda some: (some, core.answers(some, arguments.save)))
    # Spark takes seconds to import, which the core does not need.
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


def _report(cases: list[Case], answers: list[Answer]) -> int:
    failed = 0
    for case, answer in zip(cases, answers, strict=True):
        difference = mismatch(case, answer)
        if difference is not None:
            failed += 1
            print(f"{case['name']}: {difference}")
    return failed


if __name__ == "__main__":
    sys.exit(main())
