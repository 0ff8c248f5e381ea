"""Marks for tests that are skipped on one transport, run later, or run interpreted."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import pytest

Test = TypeVar("Test", bound=Callable[..., object])

TRANSPORT = os.environ.get("WINOPS_TRANSPORT", "classic")

# A test whose subject is not the code that Spark compiles for expressions.
interpreted = pytest.mark.usefixtures("interpreted")
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


def longer_on_classic(test: Test) -> Test:
    """Mark a test that runs in `make test` on Spark Connect only, and takes long."""
    return pytest.mark.longer(test) if TRANSPORT == "classic" else test


def first_cases(
    cases: Sequence[Any], short: int | None = None, on_connect: int | None = None
) -> list[Any]:
    """Mark the cases of a table behind the first `short` ones, which `make test` leaves out.

    On Spark Connect, `make test` runs `on_connect` cases if it is given. A case of several
    arguments is a tuple.
    """
    if TRANSPORT == "connect" and on_connect is not None:
        short = on_connect
    if short is None:
        return list(cases)
    longer = [case if type(case) is tuple else (case,) for case in cases[short:]]
    return [*cases[:short], *(pytest.param(*case, marks=pytest.mark.longer) for case in longer)]
