"""A processing-time window has the same answer for files and for a topic of the same rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.resilience.faults.batch_times import FileArrivals, TopicArrivals, replayed
from tests.resilience.faults.rows import write_files
from tests.support.transports import same_on_connect

ROWS_OF_FILE = 20
# A clock that is set back does not move time back.
TIMES = [10_000, 11_500, 1_000, 14_000]


def begun(checkpoint: Path, offsets: list[dict[str, Any]]) -> None:
    log = checkpoint / "offsets"
    log.mkdir(parents=True)
    for batch, (millis, offset) in enumerate(zip(TIMES, offsets, strict=True)):
        metadata = json.dumps({"batchTimestampMs": millis})
        (log / str(batch)).write_text(f"v1\n{metadata}\n{json.dumps(offset)}")


@same_on_connect
def test_files_and_a_topic_of_the_same_rows_give_the_same_answer(tmp_path: Path) -> None:
    rows, of_files, of_topic = (tmp_path / name for name in ("rows", "files", "topic"))
    write_files(rows, len(TIMES), ROWS_OF_FILE, seed=1)
    begun(of_files, [{"logOffset": batch} for batch in range(len(TIMES))])
    begun(of_topic, [{"rows": {"0": ROWS_OF_FILE * (n + 1)}} for n in range(len(TIMES))])
    log = of_files / "sources" / "0"
    log.mkdir(parents=True)
    for batch in range(len(TIMES)):
        entry = {"path": (rows / f"{batch:05}.parquet").as_uri(), "batchId": batch}
        (log / str(batch)).write_text(f"v1\n{json.dumps(entry)}")

    answer = replayed(of_files, FileArrivals(of_files))
    assert answer == replayed(of_topic, TopicArrivals(rows))
    changes = [json.loads(text)["_change_type"] for texts in answer.values() for text in texts]
    assert changes.count("insert") == ROWS_OF_FILE * len(TIMES)
    assert 0 < changes.count("delete") < len(changes)
