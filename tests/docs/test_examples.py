"""The small examples; each compares itself with a batch computation."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from stream_lib.arrival import as_they_arrive
from stream_lib.program import difference, report
from tests.support.one_process import OneProcess
from tests.support.paths import ROOT
from tests.support.programs import output_of, run_program
from tests.support.transports import on_classic_spark
from tests.support.versions import SPARK

EXAMPLES = ROOT / "examples"

pytestmark = [on_classic_spark, pytest.mark.built]


@pytest.fixture(scope="module")
def programs() -> Iterator[OneProcess]:
    process = OneProcess()
    yield process
    process.close()


@pytest.mark.parametrize(
    ("program", "rows"),
    [
        ("rolling_vwap", 3_000),
        ("card_velocity", 1_500),
        ("device_offline", 3_000),
        ("flight_features", 3_000),
        ("nexmark_q6", 15_000),
        ("nexmark_q9", 15_000),
        ("nexmark_q19", 15_000),
        # Its session has a setting that the others do not have, so it is not the first one.
        ("carrier_delays", 3_000),
    ],
)
@pytest.mark.parametrize(
    "alone", [False, pytest.param(True, marks=pytest.mark.longer)], ids=["together", "alone"]
)
def test_an_example_checks_itself(
    programs: OneProcess, program: str, rows: int, alone: bool
) -> None:
    run = output_of if alone else programs.output_of
    output = run(EXAMPLES / f"{program}.py", "--rows", str(rows), "--files", "2")
    [passed] = [line for line in output.splitlines() if line.startswith("self-check passed: ")]
    compared = int(passed.split()[2].replace(",", ""))
    # Exclude an empty stream and a stream that stopped early.
    assert compared >= rows / 100
    assert "+---" in output


def test_programs_run_after_one_that_ends_its_process(tmp_path: Path) -> None:
    ends, prints = tmp_path / "ends.py", tmp_path / "prints.py"
    ends.write_text("import os; os._exit(1)")
    prints.write_text("print('ran')")
    process = OneProcess()
    try:
        with pytest.raises(BrokenProcessPool):
            process.output_of(ends)
        assert process.output_of(prints) == "ran\n"
    finally:
        process.close()


@pytest.mark.skipif(SPARK < (4, 3), reason="real-time mode needs Spark 4.3")
def test_the_example_in_real_time_checks_itself_and_draws_its_latency(tmp_path: Path) -> None:
    picture = tmp_path / "latency.png"
    output = output_of(
        EXAMPLES / "price_alert.py",
        *("--rows", "3000", "--rate", "300", "--picture", str(picture)),
    )
    [passed] = [line for line in output.splitlines() if line.startswith("self-check passed: ")]
    assert int(passed.split()[2].replace(",", "")) >= 30
    assert " latencies: p50 " in output
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.skipif(SPARK >= (4, 3), reason="Spark 4.3 has the mode")
def test_the_example_in_real_time_says_that_it_needs_spark_4_3() -> None:
    run = run_program(EXAMPLES / "price_alert.py")
    assert run.returncode == 2
    assert run.stderr.startswith("price_alert.py: real-time mode needs Spark 4.3; this is ")


def table(**changed: object) -> pd.DataFrame:
    columns = {
        "key": [1, 2, 3],
        "ts": pd.to_datetime([10, 20, 30], unit="s"),
        "mean": [0.1, 0.2, None],
        "name": ["a", "b", "c"],
    }
    return pd.DataFrame(columns | changed)


def test_equal_tables_have_no_difference() -> None:
    shuffled = table(mean=[0.1, 0.2 + 1e-12, None]).sample(frac=1, random_state=1)
    assert difference(shuffled, table(ts=table()["ts"].dt.tz_localize("UTC")), ["key"]) is None


@pytest.mark.parametrize(
    "changed",
    [
        {"key": [1, 2, 4]},
        {"ts": pd.to_datetime([10, 20, 31], unit="s")},
        {"ts": pd.to_datetime([10, 20, 30], unit="s").tz_localize("Etc/GMT+1")},
        {"mean": [0.1, 0.2001, None]},
        {"mean": [0.1, 0.2, 0.3]},
        {"name": ["a", "b", "x"]},
    ],
)
def test_a_different_value_is_a_difference(changed: dict[str, object]) -> None:
    assert difference(table(**changed), table(), ["key"])


def test_a_missing_row_is_a_difference() -> None:
    assert difference(table().head(2), table(), ["key"]) == "2 rows instead of 3"


def test_a_difference_sets_the_exit_status(capsys: pytest.CaptureFixture[str]) -> None:
    assert report(table(), table(), ["key"], by="hand") == 0
    assert capsys.readouterr().out == "self-check passed: 3 rows, all as computed by hand\n"
    assert report(table().head(2), table(), ["key"], by="hand") == 1
    assert "self-check FAILED: 2 rows instead of 3" in capsys.readouterr().err
    assert report(table().head(0), table().head(0), ["key"], by="hand") == 1


def test_rows_arrive_out_of_order_by_at_most_the_delay() -> None:
    rows = pd.DataFrame({"ts": pd.to_datetime(np.arange(500), unit="s")})
    arrived = as_they_arrive(rows, "ts", 20, np.random.default_rng(1))["ts"]
    behind = arrived.cummax() - arrived
    assert pd.Timedelta(0) < behind.max() <= pd.Timedelta(seconds=20)
    assert sorted(arrived) == list(rows["ts"])
