"""A PostgreSQL server for tests, and psycopg, or psql in its place where it is not installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace, TracebackType
from typing import Any

# Debian installs the server's programs beside each other, and not on the path.
_PROGRAMS = sorted(Path("/usr/lib/postgresql").glob("*/bin"))


def is_installed() -> bool:
    return bool(_PROGRAMS) and shutil.which("psql") is not None


class Server:
    """A server in a folder of its own, which listens on a socket there."""

    def __init__(self) -> None:
        # The path of a socket is short, so the folder is not below that of the test.
        self.folder = Path(tempfile.mkdtemp(prefix="winops-postgres-"))
        if os.geteuid() == 0:
            # The server refuses to run as root.
            shutil.chown(self.folder, "postgres")
        options = f"-c listen_addresses='' -c fsync=off -c unix_socket_directories={self.folder}"
        data = str(self.folder / "data")
        log = str(self.folder / "log")
        self._run("initdb", "--auth=trust", "--username=winops", "--no-sync", "-D", data)
        self._run("pg_ctl", "-w", "-D", data, "-l", log, "-o", options, "start")
        self.conninfo = f"host={self.folder} user=winops dbname=postgres"

    def stop(self) -> None:
        self._run("pg_ctl", "-w", "-D", str(self.folder / "data"), "-m", "immediate", "stop")
        shutil.rmtree(self.folder)

    def execute(self, script: str) -> str:
        """Run a script in one transaction, and return what it prints: rows of fields."""
        return psql(self.conninfo, script)

    def _run(self, program: str, *arguments: str) -> None:
        as_user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
        command = [*as_user, str(_PROGRAMS[-1] / program), *arguments]
        subprocess.run(command, check=True, capture_output=True, cwd=self.folder)


def psql(conninfo: str, script: str) -> str:
    command = ["psql", conninfo, "-X", "-q", "-A", "-t", "-1", "-v", "ON_ERROR_STOP=1", "-f", "-"]
    run = subprocess.run(command, input=script, capture_output=True, text=True)
    if run.returncode:
        raise RuntimeError(f"{run.stderr}\n{script}")
    return run.stdout


def stand_in() -> SimpleNamespace:
    """Return the functions of psycopg that winops calls, by psql: a transaction is a script."""
    return SimpleNamespace(connect=_Connection)


class _Connection:
    def __init__(self, conninfo: str) -> None:
        self._conninfo = conninfo
        self._script: list[str] = []

    def __enter__(self) -> _Connection:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: object, trace: TracebackType | None
    ) -> None:
        if kind is None and self._script:
            psql(self._conninfo, "\n".join(self._script))

    def execute(self, query: str) -> SimpleNamespace:
        header = psql(self._conninfo, f"CREATE TEMPORARY VIEW found AS {query};\n{_COLUMNS}")
        names = [SimpleNamespace(name=name) for name in header.split()]
        return SimpleNamespace(description=names, fetchall=lambda: self._rows(query))

    def _rows(self, query: str) -> list[list[str]]:
        """Return the rows of a query of texts."""
        printed = psql(self._conninfo, f"COPY ({query}) TO STDOUT;")
        return [line.split("\t") for line in printed.splitlines()]

    @contextmanager
    def cursor(self) -> Iterator[SimpleNamespace]:
        yield SimpleNamespace(execute=self._add, copy=self._copy)

    def _add(self, statement: str) -> None:
        self._script.append(f"{statement};")

    @contextmanager
    def _copy(self, statement: str) -> Iterator[SimpleNamespace]:
        self._add(statement)
        yield SimpleNamespace(write_row=self._write_row)
        self._script.append("\\.")

    def _write_row(self, row: tuple[Any, ...]) -> None:
        self._script.append("\t".join(map(_field, row)))


_COLUMNS = "SELECT attname FROM pg_attribute WHERE attrelid = 'found'::regclass ORDER BY attnum;"


def _field(value: Any) -> str:
    """Write a value as COPY reads it."""
    if value is None:
        return "\\N"
    escapes = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
    return "".join(escapes.get(character, character) for character in str(value))
