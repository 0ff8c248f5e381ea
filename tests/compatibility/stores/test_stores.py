"""The pages on PostgreSQL and Redis, with servers."""

from __future__ import annotations

import shutil
from importlib.util import find_spec

import pytest
from pyspark.sql import SparkSession

from tests.compatibility.stores.recipe import check_page
from tests.support import postgres_server

IS_MISSING = {
    "postgresql.md": not (postgres_server.is_installed() and find_spec("psycopg")),
    "redis.md": not (shutil.which("redis-server") and find_spec("redis")),
}


@pytest.mark.parametrize(("page", "blocks"), [("postgresql.md", 2), ("redis.md", 3)])
def test_a_page_on_a_store_prints_its_output(spark: SparkSession, page: str, blocks: int) -> None:
    if IS_MISSING[page]:
        pytest.skip(f"{page} needs a server and its client library")
    assert check_page(spark, page) == blocks
