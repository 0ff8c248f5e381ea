"""Marks for tests that are skipped on one of the transports."""

from __future__ import annotations

import os

import pytest

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
