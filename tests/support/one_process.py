"""Programs that run one after the other in one process, of which only the first starts a JVM."""

from __future__ import annotations

import os
import signal
import sys
import traceback
from concurrent import futures
from concurrent.futures.process import BrokenProcessPool
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from multiprocessing import get_context
from pathlib import Path
from runpy import run_path

from pyspark.sql import SparkSession

from tests.support.programs import TIMEOUT


class OneProcess:
    """A process for programs that start a session and stop it. The caller closes it.

    The settings of the first session remain in the JVM, where those of others replace them. After
    a program that takes too long, or ends its process, the next ones run in another process.
    """

    def __init__(self) -> None:
        self._start()

    def _start(self) -> None:
        # A forked process would share the connections of this one.
        self._worker = futures.ProcessPoolExecutor(1, get_context("spawn"))
        self._process = self._worker.submit(os.getpid).result()

    def output_of(self, script: Path, *arguments: str) -> str:
        """Run a program to its end, which must be a success, and return its output."""
        ran = self._worker.submit(_run, str(script), *arguments)
        try:
            status, output, errors = ran.result(TIMEOUT)
        except futures.TimeoutError:
            # The end of the pool would wait for the program.
            os.kill(self._process, signal.SIGKILL)
            self._start()
            raise
        except BrokenProcessPool:
            self._start()
            raise
        assert status == 0, output + errors
        return output

    def close(self) -> None:
        """End the process."""
        self._worker.shutdown()


def _run(script: str, *arguments: str) -> tuple[int, str, str]:
    """Run a program in this process, and return its exit status, its output and its errors."""
    status, output, errors = 0, StringIO(), StringIO()
    sys.argv = [script, *arguments]
    sys.path.insert(0, str(Path(script).parent))
    with redirect_stdout(output), redirect_stderr(errors):
        try:
            run_path(script, run_name="__main__")
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else int(end.code is not None)
        except Exception:  # noqa: BLE001 - an error of Spark cannot go to another process
            traceback.print_exc()
            status = 1
        finally:
            # A program that has failed may have left its session.
            if (session := SparkSession.getActiveSession()) is not None:
                session.stop()
    return status, output.getvalue(), errors.getvalue()
