"""A campaign fails if it does less than required."""

from __future__ import annotations

from tests.resilience.faults.answers import Verdict
from tests.resilience.faults.kinds import KINDS, Struck
from tests.resilience.faults.report import table
from tests.resilience.faults.tally import FULL, Tally
from tests.support.transports import same_on_connect

KILLED = KINDS[0].name


def struck(tally: Tally, kind: str, times: int, *, acted: bool = True) -> None:
    for _ in range(times):
        tally.fault(kind, Struck("a file", "stopped", acted=acted), 1.0)


def full(tally: Tally) -> None:
    for kind in KINDS:
        struck(tally, kind.name, FULL)
    tally.clock_moved(by_batch_time=True)


@same_on_connect
def test_fewer_faults_than_asked_for_are_not_enough() -> None:
    tally = Tally(3, 60.0)
    struck(tally, KILLED, 2)
    assert not tally.good
    assert tally.shortfalls == ["2 faults, not 3"]
    struck(tally, KILLED, 1)
    assert tally.good


@same_on_connect
def test_a_full_campaign_has_effective_faults_of_every_kind() -> None:
    tally = Tally(FULL, 60.0)
    for kind in KINDS:
        struck(tally, kind.name, FULL, acted=kind.name != KILLED)
    tally.clock_moved(by_batch_time=True)
    assert tally.shortfalls == [f"none that acted: {KILLED}"]
    struck(tally, KILLED, 1)
    assert tally.good


@same_on_connect
def test_a_full_campaign_leaves_nothing_out() -> None:
    tally = Tally(FULL, 60.0)
    full(tally)
    tally.left_out.append("without Kafka")
    assert tally.shortfalls == ["without Kafka"]


@same_on_connect
def test_a_full_campaign_moves_the_clock_under_a_window_by_batch_time() -> None:
    tally = Tally(FULL, 60.0)
    for kind in KINDS:
        struck(tally, kind.name, FULL)
    tally.clock_moved(by_batch_time=False)
    assert not tally.good


@same_on_connect
def test_a_lost_row_or_a_problem_fails_the_campaign() -> None:
    lost, told = Tally(1, 60.0), Tally(1, 60.0)
    for tally in (lost, told):
        struck(tally, KILLED, 1)
    lost.compared(Verdict(10, lost=1), "a run")
    told.problem("an error without a name")
    assert not lost.good
    assert not told.good


@same_on_connect
def test_faults_without_effect_are_counted_separately() -> None:
    tally = Tally(1, 60.0)
    struck(tally, KILLED, 3)
    struck(tally, KILLED, 2, acted=False)
    assert f"| {KILLED} | 5 | 3 | 0 | 5 | 5 stopped |" in table(tally)
