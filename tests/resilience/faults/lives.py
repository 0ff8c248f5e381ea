"""Driver processes: each lives until it is closed or killed."""

from __future__ import annotations

import json
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyspark

from tests.resilience.faults.orders import Orders
from tests.support.paths import ROOT
from tests.support.versions import MINOR

HERE = Path(__file__).parent
JAR = ROOT / "target" / "jars" / f"winops-faults_{MINOR}.jar"
KAFKA_CLASSPATH = ROOT / "target" / "faults" / "kafka.classpath"
POLL_SECONDS = 0.01
# A machine with more to do needs minutes for a cluster of three processes and its first batch.
PATIENCE_SECONDS = 600.0


class Stuck(RuntimeError):
    """An expected event did not occur."""


@dataclass(frozen=True)
class Place:
    """The environment of a driver: a master, and the shift of its clock in days."""

    master: str
    clock_days: int = 0

    @property
    def retries(self) -> bool:
        """True if a failed task is tried again."""
        return self.clustered or "," in self.master

    @property
    def clustered(self) -> bool:
        """True if executors are separate processes."""
        return self.master.startswith("local-cluster")

    def __str__(self) -> str:
        return f"{self.master}, clock {self.clock_days:+} days"


@dataclass(frozen=True)
class Attempt:
    """The end of a task, as TaskAttempts writes it."""

    later: bool
    speculative: bool
    status: str
    reason: str

    @classmethod
    def read(cls, line: str) -> Attempt:
        """Parse a line."""
        _, _, number, kind, status, reason = line.split("\t")
        return cls(number != "0", kind == "speculative", status, reason)

    def __str__(self) -> str:
        kind = "speculative" if self.speculative else "ordinary"
        which = "later" if self.later else "first"
        return f"{kind}, {which} attempt, {self.status}: {self.reason}"

    @property
    def own(self) -> bool:
        """True if the operator threw an exception of a general Java class."""
        return re.match(r"java\.lang\..* in winops\.(?!faults\.)", self.reason) is not None


class Life:
    """A driver process and all processes that it starts."""

    def __init__(self, folder: Path, place: Place, preload: Path | None) -> None:
        folder.mkdir(parents=True)
        self.place = place
        self.orders = Orders(folder / "orders")
        self._attempts = folder / "attempts"
        # Number of restarts of its query due to the bug in Spark's Kafka source.
        self.resumed = 0
        self._folder = folder
        self._events: queue.Queue[dict[str, Any]] = queue.Queue()
        self._replies: queue.Queue[dict[str, Any]] = queue.Queue()
        environment = {**os.environ, "SPARK_HOME": str(_spark_home(folder)), "TZ": "UTC"}
        environment["PYTHONPATH"] = os.pathsep.join([str(ROOT / "python"), str(ROOT)])
        if place.clock_days and preload is not None:
            environment["LD_PRELOAD"] = str(preload)
            environment["MOVED_CLOCK_SECONDS"] = str(place.clock_days * 86_400)
        settings = json.dumps(self._settings(folder))
        with (folder / "log").open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.resilience.faults.driver", settings],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                cwd=folder,
                env=environment,
                text=True,
                start_new_session=True,
            )
        threading.Thread(target=self._listen, daemon=True).start()

    def await_ready(self) -> None:
        """Wait until the session is ready."""
        self._await_reply()

    def ask(self, do: str, **arguments: object) -> None:
        """Send a command and wait until it is done."""
        self.tell(do, **arguments)
        self._await_reply()

    def tell(self, do: str, **arguments: object) -> None:
        """Send a command."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"do": do, **arguments}) + "\n")
        self._process.stdin.flush()

    def event(self) -> dict[str, Any] | None:
        """Return the next event if one is available."""
        try:
            return self._events.get_nowait()
        except queue.Empty:
            return None

    def await_event(self, *names: str) -> dict[str, Any]:
        """Wait for the next event, which must be one of these.

        Raises
        ------
        Stuck
            No event came, or another one.
        """
        try:
            event = self._events.get(timeout=PATIENCE_SECONDS)
        except queue.Empty:
            raise Stuck(f"no event of {names}") from None
        if event["event"] not in names:
            raise Stuck(f"expected {names}, got {event}")
        return event

    def speculative(self) -> int:
        """Count the speculative tasks that have ended."""
        return sum(attempt.speculative for attempt in self.unusual_attempts())

    def failed(self) -> int:
        """Count the failed attempts."""
        return sum(attempt.status == "FAILED" for attempt in self.unusual_attempts())

    def unusual_attempts(self) -> list[Attempt]:
        """Read the attempts that were retries, speculative or failed."""
        if not self._attempts.exists():
            return []
        return [Attempt.read(line) for line in self._attempts.read_text().splitlines()]

    def await_until(self, holds: Callable[[], bool], seconds: float = PATIENCE_SECONDS) -> bool:
        """Wait until a condition holds or the query has ended; return True if it holds."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if holds():
                return True
            if not self._events.empty():
                return holds()
            time.sleep(POLL_SECONDS)
        return False

    def kill(self) -> None:
        """Send SIGKILL to the Python driver, its JVM and all executors that are still running."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def close(self) -> None:
        """Let the driver exit by itself."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill_executor(self, pid: int) -> None:
        """Send SIGKILL to one process of this application other than the driver.

        Raises
        ------
        Stuck
            The process does not belong to this application.
        """
        if os.getpgid(pid) != self._process.pid:
            raise Stuck(f"process {pid} is not of this application")
        os.kill(pid, signal.SIGKILL)

    def _await_reply(self) -> None:
        try:
            reply = self._replies.get(timeout=PATIENCE_SECONDS)
        except queue.Empty:
            raise Stuck("the driver does not answer") from None
        if reply["event"] == "gone":
            raise Stuck(f"the driver is gone; {self._folder} has its log")
        if reply["event"] == "refused":
            raise Stuck(reply["error"])

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith("{"):
                event = json.loads(line)
                if event["event"] == "resumed":
                    self.resumed += 1
                    continue
                replies = event["event"] in ("ready", "answered", "refused")
                (self._replies if replies else self._events).put(event)
        for events in (self._replies, self._events):
            events.put({"event": "gone"})

    def _settings(self, folder: Path) -> Mapping[str, str]:
        classes = [str(JAR), *kafka_classes()]
        light = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"
        return {
            "spark.master": self.place.master,
            "spark.driver.host": "localhost",
            "spark.driver.memory": "1g",
            "spark.executor.memory": "768m",
            "spark.driver.extraJavaOptions": light,
            "spark.executor.extraJavaOptions": light,
            "spark.driver.extraClassPath": os.pathsep.join(classes),
            "spark.executor.extraClassPath": os.pathsep.join(classes),
            "spark.extraListeners": "winops.faults.TaskAttempts",
            "spark.winops.faults.attempts": str(self._attempts),
            "spark.hadoop.fs.file.impl": "winops.faults.FaultyFileSystem",
            "spark.hadoop.winops.faults.orders": str(self.orders.folder),
            "spark.executorEnv.JAVA_HOME": str(HERE / "hosts"),
            "spark.executorEnv.FAULTS_JAVA": java(),
            "spark.local.dir": str(folder / "local"),
            "spark.sql.warehouse.dir": str(folder / "warehouse"),
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.sql.session.timeZone": "UTC",
            "spark.sql.streaming.checkpointFileManagerClass": (
                "org.apache.spark.sql.execution.streaming.checkpointing"
                ".FileSystemBasedCheckpointFileManager"
            ),
            "spark.sql.streaming.stateStore.maintenanceShutdownTimeout": "1s",
            "spark.sql.streaming.stateStore.maintenanceInterval": "2s",
            # The campaign may kill any number of executors.
            "spark.deploy.maxExecutorRetries": "-1",
            "spark.task.maxFailures": "8",
            "spark.speculation": "true",
            "spark.speculation.interval": "100ms",
            "spark.speculation.multiplier": "1.2",
            "spark.speculation.quantile": "0.5",
            "spark.speculation.minTaskRuntime": "500ms",
            "spark.speculation.task.duration.threshold": "1s",
        }


def java() -> str:
    """Return the command of a JVM."""
    home = os.environ.get("JAVA_HOME")
    return str(Path(home) / "bin" / "java") if home else shutil.which("java") or "java"


def kafka_classes() -> list[str]:
    """Return the class path of Spark's Kafka source, without the JARs that Spark includes."""
    if not KAFKA_CLASSPATH.exists():
        return []
    installed = {_artifact(jar) for jar in (Path(pyspark.__file__).parent / "jars").iterdir()}
    classes = map(Path, KAFKA_CLASSPATH.read_text().split(os.pathsep))
    return [str(path) for path in classes if _artifact(path) not in installed]


def _artifact(jar: Path) -> str:
    return re.sub(r"-\d[^-]*\.jar$", "", jar.name)


def _spark_home(folder: Path) -> Path:
    """Create a Spark home so that executors do not work in the installed one."""
    installed = Path(pyspark.__file__).parent
    home = folder / "home"
    home.mkdir()
    for name in ("bin", "sbin", "jars"):
        if (installed / name).exists():
            (home / name).symlink_to(installed / name)
    return home


def moved_clock(folder: Path) -> Path | None:
    """Build the library that moves a clock, if a C compiler is available."""
    library = folder / "moved_clock.so"
    source = HERE / "clock" / "moved_clock.c"
    command = ["cc", "-shared", "-fPIC", "-O1", "-o", str(library), str(source), "-ldl"]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return library
