"""Engines that run as separate processes."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from peers.peer import JOBS, ROOT, Job, ProcessPeer

# Several processes run at the same time and share the machine's memory.
PEER_HEAP = "2g"
_CLASSPATHS = ROOT / "target" / "peers"
_CHECKPOINT_MILLIS = 2_000
# The JVM options that Flink 1.20's own scripts set.
_OPENED = ("java.lang", "java.net", "java.io", "java.nio", "java.text", "java.time", "java.util")

_IN_PROCESS = "its state is lost when the process ends, and restored from nowhere"


def _java() -> str:
    home = os.environ.get("JAVA_HOME")
    return str(Path(home) / "bin" / "java") if home else "java"


def _classpath(engine: str) -> Path:
    return _CLASSPATHS / f"{engine}.classpath"


def java_command(engine: str, program: str, heap: str, *arguments: str) -> list[str]:
    """Return the command of a program of an engine, a class of its package."""
    return [
        _java(),
        f"-Xmx{heap}",
        *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _OPENED),
        "-cp",
        _classpath(engine).read_text(),
        f"winops.peers.{engine}.{program}",
        *arguments,
    ]


def _command(engine: str, **options: object) -> Callable[[Job, str], list[str]]:
    def command(job: Job, heap: str) -> list[str]:
        named = {**options, "job": job.kind, "size": job.size}
        arguments = (f"{name}={value}" for name, value in named.items())
        return java_command(engine, "Main", heap, *arguments)

    return command


def _flink(
    name: str,
    missing: str,
    *,
    windows: str,
    state: str,
    checkpoint: int = 0,
    longest: int | None = None,
    jobs: frozenset[str] = frozenset({"rows", "time"}),
) -> ProcessPeer:
    return ProcessPeer(
        name=f"Flink, {name}",
        missing=missing,
        jobs=jobs,
        longest=longest,
        needs=_classpath("flink"),
        command=_command("flink", windows=windows, state=state, checkpoint=checkpoint),
    )


def _esper(
    name: str,
    missing: str,
    *,
    window: str,
    jobs: frozenset[str],
    most_keys: int | None = None,
) -> ProcessPeer:
    return ProcessPeer(
        name=f"Esper, {name}",
        missing=missing,
        jobs=jobs,
        most_keys=most_keys,
        needs=_classpath("esper"),
        command=_command("esper", window=window),
    )


_ORDER = "order is that of arrival"
_ONCE = f"a sink that takes part in checkpoints is needed for exactly once; {_ORDER}"

PROCESSES = (
    _flink(
        "function, heap, no checkpoints",
        f"{_IN_PROCESS}; {_ORDER}",
        windows="function",
        state="heap",
        jobs=JOBS,
    ),
    _flink(
        "function, heap",
        f"state has to fit into memory; {_ONCE}",
        windows="function",
        state="heap",
        checkpoint=_CHECKPOINT_MILLIS,
        jobs=JOBS,
    ),
    _flink(
        "function, RocksDB",
        _ONCE,
        windows="function",
        state="rocksdb",
        checkpoint=_CHECKPOINT_MILLIS,
    ),
    _flink(
        "function, RocksDB, aggregates",
        _ONCE,
        windows="function",
        state="rocksdb",
        checkpoint=_CHECKPOINT_MILLIS,
        longest=1_000,
        jobs=frozenset({"aggregates"}),
    ),
    _flink(
        "evictor, heap",
        f"rows of a silent key do not leave; state has to fit into memory; {_ONCE}",
        windows="evictor",
        state="heap",
        checkpoint=_CHECKPOINT_MILLIS,
        longest=1_000,
        jobs=JOBS,
    ),
    _flink(
        "evictor, RocksDB",
        f"rows of a silent key do not leave; {_ONCE}",
        windows="evictor",
        state="rocksdb",
        checkpoint=_CHECKPOINT_MILLIS,
        longest=100,
        jobs=JOBS,
    ),
    _flink(
        "SQL OVER, heap",
        f"state has to fit into memory; {_ONCE}",
        windows="sql",
        state="heap",
        checkpoint=_CHECKPOINT_MILLIS,
        jobs=frozenset({"over"}),
    ),
    _flink(
        "SQL OVER, RocksDB",
        _ONCE,
        windows="sql",
        state="rocksdb",
        checkpoint=_CHECKPOINT_MILLIS,
        jobs=frozenset({"over"}),
    ),
    _esper("groupwin", f"{_IN_PROCESS}; {_ORDER}", window="groupwin", jobs=JOBS),
    _esper(
        "context",
        f"{_IN_PROCESS}; {_ORDER}",
        window="context",
        jobs=JOBS,
        most_keys=100_000,
    ),
    _esper(
        "one window of all keys",
        f"{_IN_PROCESS}; {_ORDER}; says nothing of keys",
        window="whole",
        jobs=frozenset({"time"}),
    ),
)
