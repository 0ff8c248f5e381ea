"""Checkpoints of former versions continue without a difference, or are refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.state.golden.cases import CASES
from tests.state.golden.checkpoints import (
    CHECKPOINTS,
    archives,
    current_format,
    format_of,
    output_lines,
    readable_formats,
    unpack,
)
from tests.support.replay import failure, finish
from tests.support.settings import INTERPRETED, settings
from tests.support.transports import same_on_connect


@same_on_connect
@pytest.mark.parametrize(
    "archive", archives(), ids=lambda path: f"{path.parent.name}/{path.name.partition('.')[0]}"
)
def test_a_checkpoint_continues_or_is_refused_by_its_format(
    spark: SparkSession, archive: Path, tmp_path: Path
) -> None:
    golden = unpack(archive, tmp_path)
    with settings(spark, {**(golden.query.settings or {}), **INTERPRETED}):
        query = golden.query.start(spark, golden.folder)
        if format_of(archive) in readable_formats():
            finish(query)
            assert sorted(output_lines(golden.folder)) == golden.expected
        else:
            error = failure(query)
            assert "WINOPS_STATE_FORMAT" in error
            assert f"format {format_of(archive)}" in error
            assert output_lines(golden.folder) == []


def test_the_current_format_has_all_checkpoints() -> None:
    today = {
        archive.name.partition(".")[0]
        for archive in archives()
        if format_of(archive) == current_format()
    }
    assert {case.name for case in CASES} <= today


def test_checkpoints_of_readable_and_refused_formats_are_kept() -> None:
    kept = {format_of(archive) for archive in archives()}
    assert kept >= {readable_formats()[0] - 1, *readable_formats()}


def test_checkpoints_are_small() -> None:
    for version in CHECKPOINTS.iterdir():
        assert sum(archive.stat().st_size for archive in version.iterdir()) < 450_000
