"""Jobs that are killed at random moments, and started again until they end."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from tests.support.paths import ROOT

POLL_SECONDS = 0.02


@dataclass(frozen=True)
class Moment:
    """A moment to kill: `seconds` after the start, or after the next micro-batch began."""

    seconds: float
    in_batches: bool

    def __str__(self) -> str:
        since = "a batch began" if self.in_batches else "the start"
        return f"{self.seconds:5.2f} s after {since}"


@dataclass(frozen=True)
class Calm:
    """The durations of the undisturbed run and of its start until the first batch, in seconds."""

    until_first_batch: float
    whole: float

    def moment(self, rng: random.Random, parts: int) -> Moment:
        """Draw a moment: one in four during the job's start, the others while batches run.

        A start includes the repetition of the batch that the last kill interrupted. The others
        are within one and a half of `parts` equal parts of the work.
        """
        if rng.random() < 0.25:
            return Moment(rng.uniform(0, 1.3 * self.until_first_batch), in_batches=False)
        work = self.whole - self.until_first_batch
        return Moment(rng.uniform(0, 1.5 * work / parts), in_batches=True)


class Job:
    """A program that goes on where it was killed.

    Parameters
    ----------
    folder
        The folder of the program's files.
    command
        The program and its arguments.
    marks
        The pattern of files in the folder of which each micro-batch makes one when it begins.
    """

    def __init__(self, folder: Path, command: list[str], marks: str) -> None:
        self.folder = folder
        self.log = folder.with_suffix(".log")
        self._command = command
        self._marks = marks

    def run(self) -> Calm:
        """Run to the end.

        Raises
        ------
        RuntimeError
            The job failed.
        """
        began = time.monotonic()
        process = self._start()
        first = None
        while process.poll() is None:
            if first is None and self.begun():
                first = time.monotonic() - began
            time.sleep(POLL_SECONDS)
        whole = time.monotonic() - began
        self._expect_success(process)
        return Calm(first or whole, whole)

    def run_and_kill(self, moment: Moment) -> bool:
        """Start the job, kill it at that moment, and return True if it was still running."""
        known = self.begun()
        process = self._start()
        while moment.in_batches and process.poll() is None and self.begun() == known:
            time.sleep(POLL_SECONDS)
        try:
            process.wait(moment.seconds)
        except subprocess.TimeoutExpired:
            # The JVM belongs to the group too, and no handler of either process can run.
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return True
        self._expect_success(process)
        return False

    def begun(self) -> set[Path]:
        """Return the marks of the micro-batches that have begun."""
        return set(self.folder.glob(self._marks))

    def progress(self) -> str:
        """Return what the job has done so far, for the log."""
        return f"{len(self.begun())} begun"

    def _start(self) -> subprocess.Popen[bytes]:
        with self.log.open("ab") as log:
            return subprocess.Popen(
                self._command,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                cwd=ROOT,
            )

    def _expect_success(self, process: subprocess.Popen[bytes]) -> None:
        if process.returncode != 0:
            tail = self.log.read_text(errors="replace").splitlines()[-40:]
            raise RuntimeError(f"exit status {process.returncode}:\n" + "\n".join(tail))


AnyJob = TypeVar("AnyJob", bound=Job)


def disturb(
    make: Callable[[int], AnyJob], moment: Callable[[], Moment], kills: int
) -> list[AnyJob]:
    """Kill jobs until the number of kills is reached; all jobs have ended on return.

    Parameters
    ----------
    make
        Makes the job with a number, from 1. The next job begins if one has ended before the last
        kill.
    moment
        Draws the moment of the next kill.
    """
    jobs = [make(1)]
    done = 0
    while done < kills:
        at = moment()
        if jobs[-1].run_and_kill(at):
            done += 1
            print(f"kill {done:>3} of {kills}, {at}; batches: {jobs[-1].progress()}", flush=True)
        else:
            name = jobs[-1].folder.name
            print(f"{name} came to its end; the next one begins", flush=True)
            jobs.append(make(len(jobs) + 1))
    jobs[-1].run()
    return jobs
