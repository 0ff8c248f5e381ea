"""The pages on PostgreSQL and Redis, with servers."""

from __future__ import annotations

import shutil
from importlib.util import find_spec

import pytest

from tests.support import postgres_server
from tests.support.programs import output_of_module
from tests.support.transports import TRANSPORT

IS_MISSING = {
    "postgresql.md": not (postgres_server.is_installed() and find_spec("psycopg")),
    "redis.md": not (shutil.which("redis-server") and find_spec("redis")),
}


@pytest.mark.parametrize(("page", "blocks"), [("postgresql.md", 2), ("redis.md", 3)])
def test_a_page_on_a_store_prints_its_output(page: str, blocks: int) -> None:
    if IS_MISSING[page]:
        pytest.skip(f"{page} needs a server and its client library")
    output = output_of_module("tests.compatibility.stores.recipe", TRANSPORT, page)
    assert f"{blocks} blocks of the page ran" in output
