"""Changes of a window feed the Auto CDC flows of a spark-pipelines project, from Spark 4.3 on."""

from __future__ import annotations

import json
import random
import shutil
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.support import keyed, moving_rows
from tests.support.keyed import Call, Operation
from tests.support.transports import on_classic_spark
from tests.support.versions import MINOR, SPARK

# No release of Delta Lake or Apache Iceberg is for Spark 4.3, so the tables are those of a
# catalog of the tests.
COLUMNS = ("g", "id", "v")


def changes(operations: list[keyed.Row]) -> list[keyed.Change]:
    call = Call(
        keyed.keep_rows(2),
        ("id",),
        op="op",
        group=("g",),
        updates="update",
        buffer=2,
    )
    return keyed.run(call, [Operation(None, row) for row in operations]).changes()


def versions(of_window: list[keyed.Change]) -> list[tuple[Any, ...]]:
    """Return each state of each row with the versions from and until which it was held."""
    events: dict[tuple[Any, ...], list[keyed.Change]] = defaultdict(list)
    for change in of_window:
        if change.type != "update_before":
            events[change.row["g"], change.row["id"]].append(change)
    found = []
    for of_row in events.values():
        for change, after in pairwise([*of_row, None]):
            if change is not None and change.type != "delete":
                until = None if after is None else after.version
                values = (change.row[name] for name in COLUMNS)
                found.append((*values, change.version, until))
    return found


@on_classic_spark
@pytest.mark.built
@pytest.mark.longer
@pytest.mark.skipif(SPARK < (4, 3), reason=f"Spark {MINOR} lacks Auto CDC of both types")
def test_auto_cdc_flows_hold_the_window_and_its_history(tmp_path: Path) -> None:
    if not shutil.which("javac"):
        pytest.skip("javac, which compiles the catalog of the tests, is not installed")
    pytest.importorskip("yaml", reason="spark-pipelines needs PyYAML")
    from tests.compatibility.pipelines.project import Project

    rows = [
        {"seq": seq, **row}
        for seq, row in enumerate(moving_rows.operations(random.Random(3), count=160, keys=6))
        # A key of Auto CDC is not NULL.
        if row["g"] is not None
    ]
    project = Project(tmp_path / "project")
    half = len(rows) // 2
    for number, part in enumerate((rows[:half], rows[half:])):
        lines = "\n".join(json.dumps(row) for row in part)
        (project.rows / f"{number}.json").write_text(lines, encoding="utf-8")
        project.run()
        of_window = changes(rows[: half if number == 0 else len(rows)])
        wanted = versions(of_window)
        held = [(*version[:3],) for version in wanted if version[-1] is None]
        found = [tuple(row.get(name) for name in COLUMNS) for row in project.table("held")]
        assert sorted(found) == sorted(held)
        history = [
            (*(row.get(name) for name in COLUMNS), row.get("__START_AT"), row.get("__END_AT"))
            for row in project.table("history")
        ]
        assert sorted(history, key=repr) == sorted(wanted, key=repr)
