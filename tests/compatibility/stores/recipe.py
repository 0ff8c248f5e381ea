"""Runs the blocks of a page on PostgreSQL or Redis beside a server."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from pyspark.sql import SparkSession

from tests.support import postgres_server
from tests.support.markdown import check_blocks
from tests.support.paths import ROOT

FOLDER = ROOT / "docs" / "how-to"
_PATIENCE_SECONDS = 30.0


@contextmanager
def postgres(folder: Path) -> Iterator[dict[str, str]]:
    server = postgres_server.Server()
    try:
        yield {"conninfo": server.conninfo}
    finally:
        server.stop()


@contextmanager
def redis_server(folder: Path) -> Iterator[dict[str, str]]:
    import redis

    socket = folder / "redis.sock"
    settings = ["--port", "0", "--unixsocket", str(socket), "--save", "", "--dir", str(folder)]
    process = subprocess.Popen(["redis-server", *settings], stdout=subprocess.DEVNULL)
    url = f"unix://{socket}"
    try:
        end = time.monotonic() + _PATIENCE_SECONDS
        while not socket.exists():
            if time.monotonic() > end or process.poll() is not None:
                raise SystemExit("redis-server did not start")
            time.sleep(0.05)
        redis.Redis.from_url(url).ping()
        yield {"url": url}
    finally:
        process.terminate()
        process.wait()


SERVERS = {"postgresql.md": postgres, "redis.md": redis_server}


def check_page(spark: SparkSession, page: str) -> int:
    """Run the blocks of a page, and return their number."""
    with TemporaryDirectory() as name, SERVERS[page](Path(name)) as variables:
        return check_blocks(FOLDER / page, {"spark": spark, **variables})
