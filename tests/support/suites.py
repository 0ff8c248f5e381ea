"""The names of tests in the sources of suites and of test modules."""

from __future__ import annotations

import re

_SCALA = re.compile(
    r'\b(?:test|testEach|testStores|all|messages|property)(?:\[[^"\n]*\])?\(\s*s?"((?:[^"\\]|\\.)*)"'
)
_PYTHON = re.compile(r"^def (test_\w+)\(", re.MULTILINE)


def scala_tests(source: str) -> list[str]:
    """Return the names of the tests of a suite, without the cases of a table."""
    return _SCALA.findall(source)


def python_tests(source: str) -> list[str]:
    """Return the names of the tests of a module."""
    return _PYTHON.findall(source)
