"""Checkpoints of former versions continue without a difference."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.state.golden.cases import CASES, SPARK_CASES
from tests.state.golden.checkpoints import (
    CHECKPOINTS,
    archives,
    current_format,
    output_lines,
    spark_of,
    unpack,
)
from tests.support.replay import failure, finish
from tests.support.settings import INTERPRETED, OFFSET_LOG_FORMAT, ROW_CHECKSUM, settings
from tests.support.transports import same_on_connect
from tests.support.versions import DEFAULT, SPARK, SUPPORTED

# Spark's own refusal of the forms that it has from 4.2 on.
_SPARK_4_1_SAYS = {
    OFFSET_LOG_FORMAT: "INVALID_LOG_VERSION.MAX_SUPPORTED_VERSION",
    ROW_CHECKSUM: "STATE_STORE_VALUE_ROW_FORMAT_VALIDATION_FAILURE",
}


# The case with a standard deviation, its column "spread", over more than 32 rows. Spark 4.3
# merges buffers of parts of a window to other last digits.
_MERGES_DEVIATIONS = "long-window-large-buffers"

# Most of what these store, the other checkpoints have, too.
_LONGER = {
    "few-rows-interval",
    "few-rows-values",
    "interval",
    "rows-slack",
    "sort",
    "sort-values",
    "time-unique",
}


def case_name(archive: Path) -> str:
    return archive.name.partition(".")[0]


@same_on_connect
@pytest.mark.parametrize(
    "archive",
    [
        pytest.param(archive, marks=pytest.mark.longer)
        if case_name(archive) in _LONGER
        else archive
        for archive in archives()
    ],
    ids=lambda path: f"{path.parent.name}/{case_name(path)}",
)
def test_a_checkpoint_continues(spark: SparkSession, archive: Path, tmp_path: Path) -> None:
    golden = unpack(archive, tmp_path)
    made_with = golden.query.settings or {}
    newer = [said for setting, said in _SPARK_4_1_SAYS.items() if setting in made_with]
    with settings(spark, {**made_with, **INTERPRETED}):
        query = golden.query.start(spark, golden.folder)
        if newer and SPARK < (4, 2):
            assert newer[0] in failure(query)
            assert output_lines(golden.folder) == []
        else:
            finish(query)
            found = sorted(output_lines(golden.folder))
            if SPARK >= (4, 3) and case_name(archive) == _MERGES_DEVIATIONS:
                assert list(map(rounded, found)) == list(map(rounded, golden.expected))
            else:
                assert found == golden.expected


def test_another_format_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    golden = unpack(next(a for a in archives() if spark_of(a) is None), tmp_path)
    own, other = (f'\\"format\\":{number}' for number in (current_format(), 999))
    (metadata,) = (golden.folder / "checkpoint/state/0/_metadata/v2").glob("[0-9]*")
    (metadata.parent / f".{metadata.name}.crc").unlink(missing_ok=True)
    assert own in metadata.read_text()
    metadata.write_text(metadata.read_text().replace(own, other))
    with settings(spark, {**(golden.query.settings or {}), **INTERPRETED}):
        error = failure(golden.query.start(spark, golden.folder))
    assert "WINOPS_STATE_FORMAT" in error
    assert "format 999" in error
    assert output_lines(golden.folder) == []


def rounded(line: str) -> str:
    """Return a row with 14 digits of its standard deviation."""
    return re.sub(
        r'(?<="spread":)-?\d[^,}]*', lambda number: f"{float(number[0]):.13e}", line, count=1
    )


def test_the_current_format_has_all_checkpoints() -> None:
    today = {
        case_name(archive)
        for archive in archives()
        if archive.parent.name.endswith(f"-format{current_format()}")
    }
    assert {case.name for case in CASES} <= today


@pytest.mark.parametrize("minor", [minor for minor in SUPPORTED if minor != DEFAULT])
def test_each_other_spark_version_has_its_checkpoints(minor: str) -> None:
    made = {case_name(archive) for archive in archives() if spark_of(archive) == minor}
    assert made == {case.name for case in SPARK_CASES}


def test_checkpoints_are_small() -> None:
    for version in CHECKPOINTS.iterdir():
        archived = list(version.iterdir())
        # The repository keeps these bytes. Measured: 522 KB, and 18 KB of another Spark.
        most = 540_000 if spark_of(archived[0]) is None else 25_000
        assert sum(archive.stat().st_size for archive in archived) < most
