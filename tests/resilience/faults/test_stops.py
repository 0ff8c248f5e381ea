"""Classification of errors as named or unnamed by the campaign."""

from __future__ import annotations

import pytest

from tests.resilience.faults.stops import ORDERED, Cause, flaw
from tests.support.transports import same_on_connect

FAILED = Cause(
    "org.apache.spark.sql.streaming.StreamingQueryException", "STREAM_FAILED", "X.run", ""
)
STATE = Cause(
    "org.apache.spark.sql.execution.streaming.state.StateStoreValueSchemaNotCompatible",
    "CANNOT_LOAD_STATE_STORE.UNCATEGORIZED",
    "Errors$.make",
    "",
)
ABORTED = Cause("org.apache.spark.SparkException", None, "DAGScheduler.abortStage", "Job aborted")
INTERNAL = Cause("org.apache.spark.SparkException", "INTERNAL_ERROR", "X.run", "")
ENDED = Cause("java.io.EOFException", None, "Reader.read", "")
ORDERED_FAILURE = Cause("java.io.IOException", None, "Orders.act", f"{ORDERED}rename")
BOUNDS = Cause("java.lang.ArrayIndexOutOfBoundsException", None, "Rows.get", "9")
NULL = Cause("java.lang.NullPointerException", None, "Rows.get", "")
MEMORY = Cause("java.lang.OutOfMemoryError", None, "Rows.get", "")
LOG = Cause("java.lang.IllegalStateException", None, "CommitLog.deserialize", "Incomplete")


@same_on_connect
@pytest.mark.parametrize("causes", [[FAILED, STATE], [FAILED, STATE, ENDED], [FAILED, LOG]])
def test_errors_with_a_condition_or_a_known_cause_are_no_flaws(causes: list[Cause]) -> None:
    assert flaw(causes, ordered=False) is None


@same_on_connect
@pytest.mark.parametrize(
    "causes",
    [
        [],
        [FAILED],
        [FAILED, ABORTED],
        [FAILED, BOUNDS],
        [FAILED, STATE, NULL],
        [FAILED, ABORTED, MEMORY],
        [FAILED, INTERNAL],
    ],
)
def test_errors_without_a_condition_or_a_known_cause_are_flaws(causes: list[Cause]) -> None:
    assert flaw(causes, ordered=False) is not None


@same_on_connect
def test_an_ordered_failure_is_recognised_by_its_text() -> None:
    assert flaw([FAILED, STATE, ORDERED_FAILURE], ordered=True) is None
    assert flaw([FAILED, STATE, ENDED], ordered=True) is not None
    assert flaw([FAILED, ORDERED_FAILURE, NULL], ordered=True) is not None
