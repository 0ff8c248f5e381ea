"""The process that runs windows for tests: the operator's own task, without a Spark session."""

from __future__ import annotations

import atexit
import json
import os
import shutil
import subprocess
import tempfile
import threading
from itertools import count
from pathlib import Path
from typing import IO, Any, cast

from pyspark.errors import AnalysisException, PySparkRuntimeError, SparkRuntimeException

from winops._errors import test_process, with_condition
from winops._session import jar_path, spark_home
from winops._versions import oldest_java

_MAIN = "winops.spark.harness.WindowProcess"

# A test runs most code once, so optimization would cost more than it saves.
_OPTIONS = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto", "-Xss4m")

_OPENING = "open"


class WindowProcess:
    """A JVM that answers requests for windows, one JSON object per line."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._log = ""
        self._owner = 0
        self._forgotten: list[int] = []
        self._windows: set[int] = set()
        self._numbers = count()

    def number(self) -> int:
        """Return a number for a further window."""
        return next(self._numbers)

    def forget(self, number: int) -> None:
        """Remove a window with the next request; a finalizer must not wait for a reply."""
        self._forgotten.append(number)

    def request(self, what: str, **members: Any) -> dict[str, Any]:
        """Send a request and return the reply; an error in the reply is raised."""
        with self._lock:
            process = self._started()
            while self._forgotten:
                number = self._forgotten.pop()
                if number in self._windows:
                    self._windows.remove(number)
                    self._answer(process, {"do": "close", "id": number})
            self._check_window(what, members.get("id"))
            reply = self._answer(process, {"do": what, **members})
            if what == _OPENING and "error" not in reply:
                self._windows.add(members["id"])
        return checked(reply)

    def _check_window(self, what: str, number: int | None) -> None:
        if number is not None and number not in self._windows and what != _OPENING:
            raise test_process(
                "The process that ran this window has stopped, and the rows of the window are "
                "lost with it. Create the window again."
            )

    def _answer(self, process: subprocess.Popen[str], request: dict[str, Any]) -> dict[str, Any]:
        line = json.dumps(request, allow_nan=False)
        requests, replies = cast(IO[str], process.stdin), cast(IO[str], process.stdout)
        try:
            requests.write(f"{line}\n")
            requests.flush()
            answer = replies.readline()
        except BrokenPipeError:
            answer = ""
        except BaseException:
            # The reply may still come, and would be taken for that of the next request.
            self._process = None
            process.kill()
            process.wait()
            self._remove_log()
            raise
        if not answer:
            raise self._stopped()
        reply: dict[str, Any] = json.loads(answer)
        return reply

    def close(self) -> None:
        """Stop the JVM, if it runs."""
        process, self._process = self._process, None
        # A forked worker of pytest must not stop the JVM of its parent.
        if process is not None and self._owner == os.getpid():
            cast(IO[str], process.stdin).close()
            process.wait()
            self._remove_log()

    def _started(self) -> subprocess.Popen[str]:
        if self._process is None or self._owner != os.getpid():
            # Windows of another process are unknown to this one.
            self._forgotten.clear()
            self._windows.clear()
            start = [_java(), *_OPTIONS, "-cp", _class_path(), _MAIN]
            descriptor, self._log = tempfile.mkstemp(prefix="winops-", suffix=".log")
            try:
                self._process = subprocess.Popen(  # noqa: S603 - paths and constants alone
                    start,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=descriptor,
                    encoding="utf-8",
                )
            except BaseException as error:
                self._remove_log()
                if isinstance(error, OSError):
                    raise test_process(
                        f"Java does not start: {error}. Let JAVA_HOME name a JDK or JRE of "
                        f"version {oldest_java()} or later, as for Spark, or unset it."
                    ) from error
                raise
            finally:
                os.close(descriptor)
            self._owner = os.getpid()
            atexit.register(self.close)
        return self._process

    def _stopped(self) -> PySparkRuntimeError:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
        said = Path(self._log).read_text(encoding="utf-8", errors="replace")[-2000:]
        self._remove_log()
        return test_process(f"The process that runs windows for tests has stopped: {said}")

    def _remove_log(self) -> None:
        Path(self._log).unlink(missing_ok=True)


def _class_path() -> str:
    """Return the JARs of the Spark that programs start here, after that of winops for it."""
    jars = spark_home() / "jars"
    if not any(jars.glob("*.jar")):
        raise test_process(
            f"There are no JARs of Spark in {jars}. Set SPARK_HOME to the folder of a Spark, or "
            "unset it and install pyspark: pyspark-client has no JARs."
        )
    return f"{jar_path()}{os.pathsep}{jars / '*'}"


def installed_java() -> str | None:
    """Return the program that Spark's launcher starts, of JAVA_HOME or from the path."""
    home = os.environ.get("JAVA_HOME")
    return str(Path(home) / "bin" / "java") if home else shutil.which("java")


def _java() -> str:
    java = installed_java()
    if java is None:
        raise test_process(
            "Neither JAVA_HOME nor PATH leads to a Java. Install a JDK or JRE of version "
            f"{oldest_java()} or later, as for Spark."
        )
    return java


def checked(reply: dict[str, Any]) -> dict[str, Any]:
    """Return a reply to a request; an error in the reply is raised."""
    if "error" in reply:
        raise _error(**reply["error"])
    return reply


def _error(condition: str | None, message: str, analysis: bool, **parameters: str) -> Exception:
    if condition is None:
        return test_process(message)
    kind = AnalysisException if analysis else SparkRuntimeException
    return with_condition(kind, condition, message, **parameters)


PROCESS = WindowProcess()
