"""A campaign fails if it does less than required."""

from __future__ import annotations

from tests.resilience.faults.answers import Verdict
from tests.resilience.faults.counts import FULL, SOME, FaultCounts
from tests.resilience.faults.kinds import IN_REAL_TIME, KINDS, Struck
from tests.resilience.faults.report import table
from tests.support.transports import same_on_connect

KILLED = KINDS[0].name


def struck(counts: FaultCounts, kind: str, times: int, *, acted: bool = True) -> None:
    for _ in range(times):
        counts.fault(kind, Struck("a file", "stopped", acted=acted), 1.0)


def full(counts: FaultCounts) -> None:
    for kind in KINDS:
        struck(counts, kind.name, FULL)
    counts.clock_moved(by_batch_time=True)


@same_on_connect
def test_fewer_faults_than_asked_for_are_not_enough() -> None:
    counts = FaultCounts(3, 60.0)
    struck(counts, KILLED, 2)
    assert not counts.good
    assert counts.shortfalls == ["2 faults, not 3"]
    struck(counts, KILLED, 1)
    assert counts.good


@same_on_connect
def test_a_full_campaign_has_effective_faults_of_every_kind() -> None:
    counts = FaultCounts(FULL, 60.0)
    for kind in KINDS:
        struck(counts, kind.name, FULL, acted=kind.name != KILLED)
    counts.clock_moved(by_batch_time=True)
    assert counts.shortfalls == [f"none that acted: {KILLED}"]
    struck(counts, KILLED, 1)
    assert counts.good


@same_on_connect
def test_a_full_campaign_leaves_nothing_out() -> None:
    counts = FaultCounts(FULL, 60.0)
    full(counts)
    counts.left_out.append("without Kafka")
    assert counts.shortfalls == ["without Kafka"]


@same_on_connect
def test_a_full_campaign_moves_the_clock_under_a_window_by_batch_time() -> None:
    counts = FaultCounts(FULL, 60.0)
    for kind in KINDS:
        struck(counts, kind.name, FULL)
    counts.clock_moved(by_batch_time=False)
    assert not counts.good


@same_on_connect
def test_some_kills_in_real_time_include_one_within_a_batch() -> None:
    counts = FaultCounts(1, 60.0)
    struck(counts, IN_REAL_TIME, SOME - 1, acted=False)
    assert counts.good
    struck(counts, IN_REAL_TIME, 1, acted=False)
    assert counts.shortfalls == ["no query was killed within a batch of real-time mode"]
    struck(counts, IN_REAL_TIME, 1)
    assert counts.good


@same_on_connect
def test_a_lost_row_or_a_problem_fails_the_campaign() -> None:
    lost, unnamed = FaultCounts(1, 60.0), FaultCounts(1, 60.0)
    for counts in (lost, unnamed):
        struck(counts, KILLED, 1)
    lost.compared(Verdict(10, lost=1), "a run")
    unnamed.problem("an error without a name")
    assert not lost.good
    assert not unnamed.good


@same_on_connect
def test_faults_without_effect_are_counted_separately() -> None:
    counts = FaultCounts(1, 60.0)
    struck(counts, KILLED, 3)
    struck(counts, KILLED, 2, acted=False)
    assert f"| {KILLED} | 5 | 3 | 0 | 5 | 5 stopped |" in table(counts)
