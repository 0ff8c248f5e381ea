r"""Injects faults of many kinds into queries with `keep` and compares the committed rows.

    python -m tests.resilience.faults.campaign --faults 200 --seed 7
    python -m tests.resilience.faults.campaign --faults 20 --seconds 120 --lanes local \
        --only "kafka to"
    python -m tests.resilience.faults.campaign --faults 60 --kinds changed --faults-of-run 5
    python -m tests.resilience.faults.campaign --faults 20 --control    # without winops
    python -m tests.resilience.faults.campaign --faults 20 --lanes real-time  # on Spark 4.3

Each run is a query over generated rows, from files or from a Kafka broker of the campaign, with a
different window and state store each time. After each fault the query must continue. Its
committed rows must then be a prefix of the answer, for each group. A batch query computes the
answer; for a processing-time window, a model computes it from the times in the offset log. At the
end the committed rows must be the whole answer.

Exit status: 0 if no row was lost, duplicated or wrong, every query continued after each fault,
every error had a name, and the requested number of faults was reached. A campaign of 200 or more
faults must include all kinds of faults, each with an effect, Kafka and moved clocks.
"""

from __future__ import annotations

import argparse
import itertools
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from tests.resilience.faults import report
from tests.resilience.faults.answers import Answer, answer, read_files
from tests.resilience.faults.broker import CLASSPATH, Broker
from tests.resilience.faults.counts import FaultCounts
from tests.resilience.faults.jobs import CONTROL, JOBS, WINDOWS
from tests.resilience.faults.lane import Lane
from tests.resilience.faults.lives import JAR, KAFKA_CLASSPATH, Life, Place, Stuck, moved_clock
from tests.resilience.faults.rows import write_files
from tests.resilience.faults.runs import (
    FORMAT_2,
    ROWS_OF_FILE,
    STORES,
    WITH_CHANGELOG,
    Input,
    Plan,
)
from tests.resilience.real_time.lane import RealTimeLane, missing
from tests.support.paths import ROOT
from tests.support.versions import SPARK

FILES = 80
# The files that are a table before the stream, in some runs.
FILES_OF_HISTORY = 20
LOCAL = ("local[1]", "local[2]", "local[4]", "local[2,4]", "local[4,4]")
CLUSTER = ("local-cluster[2,1,1024]", "local-cluster[3,1,1024]")
CLOCKS = (0, 1, -1)
TOPIC = "rows"


def main() -> int:
    """Run the campaign and return the exit status."""
    arguments = _arguments()
    problem = missing() if RealTimeLane.name in arguments.lanes else None
    if problem:
        print(problem, file=sys.stderr)
        return 2
    if not JAR.exists():
        print(f"{JAR.relative_to(ROOT)} is missing: run `./sbt faults`", file=sys.stderr)
        return 2
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    work = arguments.work or Path(tempfile.mkdtemp(prefix="winops-faults-"))
    counts = FaultCounts(arguments.faults, arguments.seconds)
    print(f"seed {arguments.seed}, work in {work}", flush=True)
    try:
        _run(arguments, work, counts)
    finally:
        report.write(counts, arguments.report)
        print(report.text(counts), flush=True)
    if counts.good and not arguments.work:
        shutil.rmtree(work, ignore_errors=True)
    return 0 if counts.good else 1


def _run(arguments: argparse.Namespace, work: Path, counts: FaultCounts) -> None:
    rng = random.Random(arguments.seed)
    with ExitStack() as stack:
        names: list[str] = arguments.lanes.split(",")
        works: list[Callable[[], None]] = []
        for number in range(names.count(RealTimeLane.name)):
            chance = random.Random(rng.random())
            real_time = RealTimeLane(work / f"{RealTimeLane.name}-{number}", counts, chance)
            works.append(partial(real_time.work, arguments.faults_of_run))
        others = [name for name in names if name != RealTimeLane.name]
        if others:
            works += _of_plans(others, rng, arguments, work, counts, stack)
        threads = [threading.Thread(target=_work, args=(do, counts)) for do in works]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


def _of_plans(
    names: list[str],
    rng: random.Random,
    arguments: argparse.Namespace,
    work: Path,
    counts: FaultCounts,
    stack: ExitStack,
) -> list[Callable[[], None]]:
    """Start lanes that share plans, and return what each of them does."""
    files = work / "rows"
    write_files(files, FILES, ROWS_OF_FILE, arguments.seed)
    history, later = _divided(files, work)
    preload = moved_clock(work)
    if preload is None:
        counts.left_out.append("there is no C compiler: no clock was moved")
    lanes: list[Lane] = []
    for number, name in enumerate(names):
        chance = random.Random(rng.random())
        places = _places(CLUSTER if name == "cluster" else LOCAL, preload, chance)
        folder = work / f"{name}-{number}"
        lanes.append(Lane(name, folder, places, preload, counts, chance, arguments.kinds))
        stack.callback(lanes[-1].close)
    servers = None if arguments.no_kafka else _filled(work, files, lanes[0].life, counts, stack)
    jobs = [CONTROL] if arguments.control else list(WINDOWS)
    answers = _answers(jobs, files, work / "answers", lanes[0].life)
    given = Input(files, history, later, answers, TOPIC, servers)
    plans = _Shared(
        plan
        for plan in _plans(rng, jobs, kafka=servers is not None)
        if arguments.only in str(plan)
    )
    return [partial(lane.work, plans, given, arguments.faults_of_run) for lane in lanes]


def _divided(files: Path, work: Path) -> tuple[Path, Path]:
    """Return folders of the first files, and of the others; both have the same name."""
    folders = work / "history" / "rows", work / "later" / "rows"
    for folder in folders:
        folder.mkdir(parents=True)
    for number, file in enumerate(sorted(files.glob("*.parquet"))):
        (folders[number >= FILES_OF_HISTORY] / file.name).hardlink_to(file)
    return folders


def _filled(
    work: Path, files: Path, life: Life, counts: FaultCounts, stack: ExitStack
) -> str | None:
    """Start a broker and write the rows to one of its topics, if Kafka is available."""
    if not (CLASSPATH.exists() and KAFKA_CLASSPATH.exists()):
        counts.left_out.append("without Kafka, files only: `./sbt kafka` has not been run")
        return None
    try:
        broker = Broker(work / "broker")
        stack.callback(broker.close)
        life.ask("fill", source=str(files), servers=broker.servers, topic=TOPIC)
    except (Stuck, OSError, subprocess.SubprocessError) as error:
        counts.left_out.append(f"without Kafka, files only: {error}")
        return None
    return broker.servers


def _work(do: Callable[[], None], counts: FaultCounts) -> None:
    try:
        do()
    except Exception as error:  # noqa: BLE001 - a thread has nobody else to tell
        counts.problem(f"{threading.current_thread().name}: {type(error).__name__}: {error}")


def _answers(jobs: list[str], files: Path, to: Path, life: Life) -> dict[str, Answer]:
    found: dict[str, Answer] = {}
    for number, job in enumerate(JOBS[name] for name in jobs):
        if not job.by_batch_time:
            for variant in job.variants:
                folder = to / str(number) / variant
                life.ask(
                    "table", job=job.name, variant=variant, source=str(files), to=str(folder)
                )
                facts = answer(read_files(folder.glob("*.parquet")))
                if found.setdefault(job.name, facts) != facts:
                    raise ValueError(f"{job.name} {variant} has other facts")
    return found


def _places(
    masters: tuple[str, ...], preload: Path | None, rng: random.Random
) -> Iterator[Place]:
    """Yield places endlessly; consecutive places differ in their clocks."""
    clock = CLOCKS[0]
    while True:
        yield Place(rng.choice(masters), clock)
        if preload:
            clock = rng.choice([other for other in CLOCKS if other != clock])


def _plans(rng: random.Random, jobs: list[str], *, kafka: bool) -> Iterator[Plan]:
    """Yield plans endlessly; consecutive plans differ in job, store, source and sink."""
    jobs, stores = rng.sample(jobs, len(jobs)), rng.sample(list(STORES), len(STORES))
    ends = [("parquet", "parquet")]
    if kafka:
        ends += [("kafka", "kafka"), ("parquet", "parquet"), ("kafka", "parquet")]
    # The lengths of the lists share factors, so each round starts at another offset.
    for number in itertools.count():
        job = jobs[number % len(jobs)]
        store = stores[(number + number // len(jobs)) % len(stores)]
        source, sink = ends[(number + number // len(stores)) % len(ends)]
        if store in (WITH_CHANGELOG, FORMAT_2):
            store = FORMAT_2 if sink == "kafka" else WITH_CHANGELOG
        yield Plan(job, source, sink, store, number % 3 < 2 and JOBS[job].takes_history)


class _Shared(Iterator[Plan]):
    """A thread-safe iterator."""

    def __init__(self, plans: Iterator[Plan]) -> None:
        self._plans = plans
        self._lock = threading.Lock()

    def __next__(self) -> Plan:
        with self._lock:
            return next(self._plans)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--faults", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=1_800, help="begin no fault after these")
    parser.add_argument("--seed", type=int, default=1)
    lanes = "local,local,cluster" + (",real-time" if SPARK >= (4, 3) else "")
    parser.add_argument("--lanes", default=lanes, help="which go on side by side")
    parser.add_argument("--faults-of-run", type=int, default=12)
    parser.add_argument("--no-kafka", action="store_true")
    parser.add_argument("--only", default="", help="runs that this text is in, as `kafka to`")
    parser.add_argument("--kinds", default="", help="kinds that this text is in, as `changed`")
    parser.add_argument("--control", action="store_true", help="Spark's own operator instead")
    parser.add_argument("--work", type=Path, help="an empty directory (default: temporary)")
    parser.add_argument("--report", type=Path, default=ROOT / "artifacts" / "faults")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
