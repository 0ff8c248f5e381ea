"""Classification of task failures as the operator's own."""

from __future__ import annotations

import pytest

from tests.resilience.faults.lives import Attempt
from tests.support.transports import same_on_connect


def attempt(reason: str) -> Attempt:
    return Attempt.read(f"3\t0\t1\tspeculative\tFAILED\t{reason}")


@same_on_connect
def test_an_attempt_is_read_from_its_line() -> None:
    assert attempt("TaskKilled") == Attempt(
        later=True, speculative=True, status="FAILED", reason="TaskKilled"
    )


@same_on_connect
@pytest.mark.parametrize(
    ("reason", "own"),
    [
        ("java.lang.NullPointerException in winops.spark.execution.GroupTask.run", True),
        ("java.lang.NullPointerException in org.apache.spark.scheduler.Task.run", False),
        ("java.io.IOException in winops.faults.Orders.act", False),
        ("org.apache.spark.SparkException in winops.spark.Errors.state", False),
    ],
)
def test_a_common_exception_counts_as_the_operator_s_only_if_its_code_throws_it(
    reason: str, own: bool
) -> None:
    assert attempt(reason).own is own
