"""The files of a checkpoint, read without Spark."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.settings import OFFSET_LOG_FORMAT, ROW_CHECKSUM, STORE_PARTITIONS

FORMATS = {OFFSET_LOG_FORMAT: {"1"}, ROW_CHECKSUM: {"false"}, STORE_PARTITIONS: {"2"}}
"""The formats of a checkpoint that the test session starts, from Spark 4.2 on."""


def batch_settings(checkpoint: Path) -> list[dict[str, str]]:
    """Return the settings of all batches, in order."""
    batches = sorted(checkpoint.glob("offsets/[0-9]*"), key=lambda file: int(file.name))
    return [json.loads(file.read_text().splitlines()[1])["conf"] for file in batches]


def formats(checkpoint: Path) -> dict[str, set[str]]:
    """Return the values that settings for formats had in the batches of a checkpoint."""
    versions = {file.read_text().splitlines()[0] for file in checkpoint.glob("offsets/[0-9]*")}
    stores = [folder for folder in checkpoint.glob("state/0/[0-9]*") if folder.is_dir()]
    return {
        OFFSET_LOG_FORMAT: {version.removeprefix("v") for version in versions},
        ROW_CHECKSUM: {batch[ROW_CHECKSUM] for batch in batch_settings(checkpoint)},
        # Spark logs this setting under another name.
        STORE_PARTITIONS: {str(len(stores))},
    }
