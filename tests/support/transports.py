"""Marks for tests that are skipped on one of the transports."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TypeVar

import pytest

Test = TypeVar("Test", bound=Callable[..., object])

TRANSPORT = os.environ.get("WINOPS_TRANSPORT", "classic")

on_classic_spark = pytest.mark.skipif(
    TRANSPORT == "connect", reason="a program has a session of its own, on classic Spark"
)
same_on_connect = pytest.mark.skipif(
    TRANSPORT == "connect", reason="what runs in the server is the same there"
)
on_spark_connect = pytest.mark.skipif(
    TRANSPORT == "classic", reason="the tests of the flights demo show the same on classic Spark"
)


def longer_on_connect(test: Test) -> Test:
    """Mark a test that runs in `make test` on classic Spark only, and takes long."""
    return pytest.mark.longer(test) if TRANSPORT == "connect" else test
