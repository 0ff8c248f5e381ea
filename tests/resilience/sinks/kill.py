"""Kills programs that write windows to stores, and compares what the stores hold at the end.

For each store, a program runs once undisturbed. Then it runs with a folder and a table of its
own. Its whole process group is killed (SIGKILL) at random moments, most of them shortly after a
function for foreachBatch was called, and the same command is started again, until the number of
kills is reached and the program has ended. The store must then hold the window contents that a
naive reference computes from the operations. A program that ends before the last kill is
compared, and another one starts.

    python -m tests.resilience.sinks.kill --kills 20 --seed 7
    python -m tests.resilience.sinks.kill --kills 20 --only postgres

Stores whose servers or JARs are missing are named and left out. The seed gives the operations,
and the moments as fractions of the undisturbed run. Exit status: 0 if all stores agree, 1 if one
does not or if a program failed.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from pathlib import Path

from tests.resilience.kills import Job, disturb
from tests.resilience.sinks import rows
from tests.resilience.sinks.stores import STORES, Variables


class SinkJob(Job):
    """A program that writes to a store, with a folder of its own."""

    def __init__(self, store: str, given: Path, folder: Path, variables: Variables) -> None:
        module = "tests.resilience.sinks.program"
        words = [store, str(given), str(folder), json.dumps(variables)]
        command = [sys.executable, "-m", module, *words]
        super().__init__(folder, command, STORES[store].marks)
        folder.mkdir()
        Job(folder, [*command, "prepare"], self._marks).run()

    def content(self) -> rows.Content:
        """Return what the store held when the program had ended."""
        found: rows.Content = json.loads((self.folder / "content.json").read_text("utf-8"))
        return rows.in_order(found)


class UndisturbedError(RuntimeError):
    """A program failed that was not killed, or its store is wrong."""


def kill(store: str, work: Path, kills: int, seed: int) -> int:
    """Kill programs that write to a store; return the number of programs whose store is wrong.

    Raises
    ------
    UndisturbedError
        The program that runs undisturbed failed, or its store is wrong; none was killed.
    RuntimeError
        A program that was killed failed.
    """
    work.mkdir(parents=True)
    wanted = rows.write(work / "rows", seed)
    rng = random.Random(f"{seed} {store}")
    with STORES[store].server(work) as variables:

        def make(number: int) -> SinkJob:
            return SinkJob(store, work / "rows", work / f"killed-{number}", variables)

        try:
            undisturbed = SinkJob(store, work / "rows", work / "calm", variables)
            calm = undisturbed.run()
        except RuntimeError as error:
            raise UndisturbedError(str(error)) from error
        print(f"{store} undisturbed: {calm.whole:.1f} s", flush=True)
        if not is_right(store, undisturbed, wanted):
            raise UndisturbedError("other rows than those of the reference")
        jobs = disturb(make, lambda: calm.moment(rng, rows.FILES), kills)
    return sum(not is_right(store, job, wanted) for job in jobs)


def is_right(store: str, job: SinkJob, wanted: rows.Content) -> bool:
    """Print how the store of a program differs, and return True if it does not."""
    content = job.content()
    missing = [row for row in wanted if row not in content]
    extra = [row for row in content if row not in wanted]
    print(
        f"{store} {job.folder.name}: {len(content)} rows of {len(wanted)},"
        f" {missing} missing, {extra} too many",
        flush=True,
    )
    return content == wanted


def main() -> int:
    """Run the program and return the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=20, help="of each store")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=STORES, action="append", help="one store, or more")
    parser.add_argument("--work", type=Path, help="an empty directory (default: temporary)")
    args = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory(prefix="kill-sinks-") as temporary:
        for store in args.only or STORES:
            lacks = STORES[store].missing()
            if lacks:
                print(f"{store} left out: {lacks}", flush=True)
                continue
            try:
                wrong = kill(store, (args.work or Path(temporary)) / store, args.kills, args.seed)
            except UndisturbedError as error:
                print(f"{store}: no kills, its undisturbed program failed: {error}", flush=True)
                failed += 1
                continue
            except RuntimeError as error:
                print(f"the program of {store} failed with {error}")
                wrong = 1
            failed += wrong
            print(f"{store}: {args.kills} kills, {wrong} wrong", flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
