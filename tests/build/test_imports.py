"""The four parts of the Python package: which modules an import loads."""

from __future__ import annotations

import json
import pkgutil
import subprocess
import sys

import pytest

import winops

SHIM = {
    "winops",
    "winops._arguments",
    "winops._as_of",
    "winops._call",
    "winops._dialects",
    "winops._errors",
    "winops._history",
    "winops._keep",
    "winops._kept",
    "winops._literals",
    "winops._options",
    "winops._policy",
    "winops._session",
    "winops._versions",
}
ALL = {
    "winops",
    *(found.name for found in pkgutil.walk_packages(winops.__path__, "winops.")),
}
TESTING = {name for name in ALL if name.startswith("winops.testing")}
TOOLS = {name for name in ALL if name.startswith("winops._tools")}
SINKS = {name for name in ALL if name.startswith("winops._sinks")}


def loaded_by(statement: str) -> set[str]:
    """Return the modules that a statement loads in a Python that has loaded PySpark."""
    script = (
        "import json, sys, pyspark.sql.functions\n"
        "before = set(sys.modules)\n"
        f"{statement}\n"
        "print(json.dumps(sorted(set(sys.modules) - before)))"
    )
    return set(json.loads(subprocess.check_output([sys.executable, "-c", script], text=True)))


def own(modules: set[str]) -> set[str]:
    return {name for name in modules if name.partition(".")[0] == "winops"}


def test_winops_loads_the_shim_alone() -> None:
    loaded = loaded_by("import winops")
    assert own(loaded) == SHIM
    others = {name.partition(".")[0] for name in loaded} - {"winops", "pyspark", "py4j"}
    assert others <= sys.stdlib_module_names


def test_each_module_is_of_one_part() -> None:
    assert {*SHIM, *TESTING, *TOOLS, *SINKS, "winops.__main__"} == ALL


def test_testing_loads_no_tool() -> None:
    assert own(loaded_by("import winops.testing")) == SHIM | TESTING


def test_a_sink_loads_no_tool_and_no_client() -> None:
    names = ("merge_into", "to_kafka", "to_postgres", "to_redis")
    loaded = loaded_by(f"import winops\nfor name in {names}: getattr(winops, name)")
    assert own(loaded) == SHIM | SINKS
    assert loaded.isdisjoint({"psycopg", "redis"})


def test_each_public_name_is_imported_when_a_program_asks_for_it() -> None:
    names = [*winops.__all__, "testing"]
    assert set(names) <= set(dir(winops))
    loaded = own(loaded_by(f"import winops\nfor name in {names}: getattr(winops, name)"))
    assert loaded > SHIM | TESTING
    assert loaded < ALL


def test_another_name_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match=r"module 'winops' has no attribute 'kep'"):
        _ = winops.kep
