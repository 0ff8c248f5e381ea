"""The benchmarks run on a few rows; their measurements are not checked."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

import measure
from sides import Counts, Times
from tests.support.paths import ROOT
from tests.support.programs import output_of
from tests.support.transports import on_classic_spark
from workloads import W1, W4, Workload

pytestmark = pytest.mark.built

SCRIPTS = ROOT / "benchmarks"
BUFFER = "spark.sql.streaming.stateStore.rocksdb.writeBufferSizeMB"


@dataclass
class FakeSide:
    """Answers each micro-batch of 1,000 rows with the given numbers of inserts and deletes."""

    name: str
    inserted: int = 1000
    deleted: int = 1000

    def take(self, _path: Path, _rows: int) -> Times:
        counted = {"rowsInserted": self.inserted, "rowsDeleted": self.deleted}
        return Times(1.0, 1.0, self.inserted + self.deleted, counted)

    def count(self, _path: Path, _rows: int) -> Counts:
        return Counts(self.inserted, self.deleted)

    def stop(self) -> None:
        pass


def compared(workload: Workload, peer: FakeSide, folder: Path) -> None:
    small = replace(workload, rows=1000, keys=10, warm_up=1)
    sides = [FakeSide(measure.WINOPS), FakeSide(measure.FLOOR, 7, 7), peer]
    measure.measure(small, sides, 2, folder)


@on_classic_spark
@pytest.mark.parametrize("workload", [W1, W4], ids=lambda workload: workload.name)
@pytest.mark.parametrize(
    ("inserted", "deleted"), [(900, 1000), (1000, 900), (900, 1100), (1100, 900), (1000, 1011)]
)
def test_a_candidate_with_other_changes_fails_the_run(
    tmp_path: Path, workload: Workload, inserted: int, deleted: int
) -> None:
    compared(workload, FakeSide("equal"), tmp_path)
    with pytest.raises(RuntimeError, match="of other"):
        compared(workload, FakeSide("other", inserted, deleted), tmp_path)


@on_classic_spark
@pytest.mark.parametrize(
    "named",
    # The query of w1 is among those of the others.
    [["rows-10", "w7", "w8"], pytest.param(["w1", "rows-10"], marks=pytest.mark.longer)],
    ids=" ".join,
)
def test_small_runs_write_ratios_and_versions(tmp_path: Path, named: list[str]) -> None:
    output = output_of(
        SCRIPTS / "run.py",
        *named,
        *("--rows", "5000", "--keys", "10", "--warm-up", "1", "--batches", "2"),
        *("--conf", f"{BUFFER}=8"),
        # For measurements, the JVM touches a heap of 4 GB before it starts.
        *("--conf", "spark.driver.memory=1g"),
        *("--conf", "spark.driver.extraJavaOptions=-Xms256m"),
        *("--data", str(tmp_path / "data"), "--out", str(tmp_path)),
    )
    results = json.loads((tmp_path / "results.json").read_text())
    assert [workload["workload"]["name"] for workload in results["workloads"]] == named
    for workload in results["workloads"]:
        assert len(workload["rounds"]) == 2
        for one in workload["rounds"]:
            assert one["winops"]["counted"]["rowsInserted"] == 5000
            out = 10_000 if workload["workload"]["question"] == "changes" else 5000
            assert one["winops"]["rows_out"] == out
            assert one["floor"]["counted"] == {}
            assert one["winops"]["changelog_bytes"] > 0
            assert one["winops"]["counted"]["stateBytesWritten"] > 0
            assert one["floor"]["rows_out"] == 5000
        assert workload["ratio"]["winops"] > 0
    assert results["versions"]["spark"].startswith("4.")
    assert results["versions"][BUFFER] == "8"
    assert (tmp_path / "results.md").read_text() in output
    family = [line for line in output.splitlines() if line.startswith("| rows-size |")]
    assert len(family) == 1
    assert family[0].endswith("| **1.00** |")


@pytest.mark.longer
@on_classic_spark
def test_tables_are_compared_with_spark_s_own_windows(tmp_path: Path) -> None:
    output = output_of(
        SCRIPTS / "table.py",
        *("--millions", "0.1", "--rounds", "1"),
        *("--data", str(tmp_path / "data"), "--out", str(tmp_path)),
    )
    results = json.loads((tmp_path / "table.json").read_text())
    assert list(results["ratios"]) == ["last rows", "mean, low, high"]
    assert (tmp_path / "table.md").read_text() in output


@pytest.mark.longer
@on_classic_spark
def test_a_rebuilt_aggregate_is_compared_with_a_replay(tmp_path: Path) -> None:
    output = output_of(
        SCRIPTS / "rebuild.py",
        *("--keys", "40", "--rows", "50", "--rounds", "1"),
        *("--data", str(tmp_path / "data"), "--out", str(tmp_path)),
    )
    assert (tmp_path / "rebuild.md").read_text() in output
    [taken] = json.loads((tmp_path / "rebuild.json").read_text())["rounds"]
    ordinary, restarted, changed, afterwards, replayed = taken.values()
    for one in (ordinary, restarted, changed, afterwards):
        assert one["counted"]["rowsInserted"] == one["rows_out"] == 40
    assert replayed["counted"]["rowsInserted"] == 40 * (50 + 4)
    assert changed["counted"]["stateBytesRead"] > restarted["counted"]["stateBytesRead"]
    assert 0 < changed["changelog_bytes"] < replayed["changelog_bytes"]


@pytest.mark.longer
@on_classic_spark
def test_deletes_are_timed_in_windows_of_few_and_of_many_rows(tmp_path: Path) -> None:
    output = output_of(
        SCRIPTS / "deletes.py",
        *("--rows", "3000", "--deletes", "20", "--batches", "2", "--rounds", "1"),
        *("--out", str(tmp_path)),
    )
    assert "20 deletes in a window of 3,000 rows take" in output
    [taken] = json.loads((tmp_path / "deletes.json").read_text())["rounds"]
    assert list(taken) == ["100", "3000"]
    assert all(each["bytes_written"] > 0 for each in taken.values())


@pytest.mark.longer
@on_classic_spark
def test_lookups_are_compared_with_other_queries(tmp_path: Path) -> None:
    output = output_of(
        SCRIPTS / "lookups.py",
        *("--events", "0.003", "--labels", "0.0006", "--keys", "20", "--rounds", "1"),
        *("--batch", "300", "--batches", "2"),
        *("--data", str(tmp_path / "data"), "--out", str(tmp_path)),
    )
    assert (tmp_path / "lookups.md").read_text() in output
    rounds = json.loads((tmp_path / "lookups.json").read_text())["rounds"]
    assert list(rounds) == ["training", "one-row", "stream"]
    assert all(each > 0 for [times] in rounds.values() for each in times.values())
    assert "| stream | lookup on streams | withColumns |" in output
