"""From a change stream back to the steps that a case expects."""

from collections import defaultdict
from typing import NamedTuple

from cases import Case


class Change(NamedTuple):
    """One row of a change stream; ``position`` is the row's place in the case's input."""

    case: str
    group: str
    is_insert: bool
    at: int
    step: int
    sequence: int
    position: int
    id: int


def steps(case: Case, changes: list[Change]) -> list[dict]:
    """Give the steps of all groups up to the case's last instant, in the order of a case.

    That is by time; what time does comes before what a row does; rows come in the order of the
    input. What time does at one instant is one step, whatever the groups.
    """
    end = max((entry["at"] for entry in case["input"]), default=None)
    arrivals, timers = [], defaultdict(list)
    for step in _by_step(changes):
        at = step[0].at
        if end is None or at > end:
            continue
        inserts = [change for change in step if change.is_insert]
        removes = [change for change in step if not change.is_insert]
        if inserts:
            arrivals.append((at, 1, inserts[0].position, _step(at, inserts, removes)))
        else:
            timers[at] += removes
    fired = [
        (at, 0, 0, _step(at, [], sorted(removes, key=lambda change: change.position)))
        for at, removes in timers.items()
    ]
    return [step for *_, step in sorted(fired + arrivals, key=lambda entry: entry[:3])]


def numbering_fault(changes: list[Change]) -> str | None:
    """Tell what is wrong with the step and sequence numbers; None when nothing is."""
    groups = defaultdict(list)
    for change in changes:
        groups[change.group].append(change)
    for group, of_group in groups.items():
        of_group.sort(key=lambda change: change.sequence)
        if [change.sequence for change in of_group] != list(range(len(of_group))):
            return f"group {group}: sequence numbers have gaps, or stand twice"
        numbers = [change.step for change in of_group]
        if numbers != sorted(numbers) or set(numbers) != set(range(numbers[-1] + 1)):
            return f"group {group}: step numbers have gaps, or go back"
        times = [change.at for change in of_group]
        if times != sorted(times):
            return f"group {group}: time goes back"
    return None


def _by_step(changes: list[Change]) -> list[list[Change]]:
    by_step = defaultdict(list)
    for change in sorted(changes, key=lambda change: change.sequence):
        by_step[change.group, change.step].append(change)
    return list(by_step.values())


def _step(at: int, inserts: list[Change], removes: list[Change]) -> dict:
    return {
        "at": at,
        "insert": [change.id for change in inserts],
        "remove": [change.id for change in removes],
    }
