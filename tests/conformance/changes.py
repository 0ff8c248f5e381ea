"""Conversion of a query's output to the steps that a case expects."""

import json
from collections import Counter, defaultdict
from typing import NamedTuple

import values
from cases import Case
from dialects import DIALECTS, group_keys, has_timers, inserts_by_timer

CHANGES = {"INSERTION": "insert", "EVICTION": "remove", "PARTITION_EVICTION": "remove"}

# The cause of the events of a micro-batch in which no row arrived.
BY_TIME = -1


class Event(NamedTuple):
    """An event: inserted or deleted rows, or window contents.

    ``sequence`` is the number of its first change, or None for events without numbers;
    ``positions`` are the positions of the rows in the case's input. ``cause`` is the position of
    the row that arrived, or ``BY_TIME``; None if the micro-batch had several rows.
    """

    case: str
    group: str
    kind: str
    at: int
    step: int
    sequence: int | None
    positions: list[int]
    ids: list[int]
    cause: int | None = None


class Step(NamedTuple):
    """The events of one group in one step.

    ``created`` is the time and the position of the first row of the group.
    """

    at: int
    group: str
    created: tuple[int, int]
    number: int
    events: list[Event]

    def rows(self, *kinds: str) -> list[tuple[int, int]]:
        return [
            row
            for event in self.events
            if event.kind in kinds
            for row in zip(event.positions, event.ids, strict=True)
        ]


def steps(case: Case, events: list[Event], *, rows_evict: bool = False) -> list[dict]:
    """Return the steps of all groups up to the case's last instant, in the order of a case.

    Steps are ordered by time. At the same instant, timers precede rows. Rows are in input order.
    A change does not say whether a timer or a row of that instant evicted it in a policy that
    can do both: ``rows_evict`` says that rows did.
    """
    end = max((entry["at"] for entry in case["input"]), default=None)
    dialect = DIALECTS[case["dialect"]]
    found = [step for step in _by_step(case, events) if end is not None and step.at <= end]
    placed: dict[tuple, list[Step]] = defaultdict(list)
    of_one_group = len({step.group for step in found}) == 1
    for step in found:
        position = None if of_one_group else _arrived_position(case, step, rows_evict)
        if of_one_group:
            place = (step.at, 0, 0, step.number)
        elif position is not None:
            place = (step.at, 1, position, step.number)
        elif dialect.groups_together:
            place = (step.at, 0, 0, _timer_number(step, found))
        else:
            place = (step.at, 0, step.created, step.number)
        placed[place].append(step)
    return [_as_in_a_case(case, placed[place]) for place in sorted(placed)]


def numbering_fault(case: Case, events: list[Event]) -> str | None:
    """Return the error in the step and sequence numbers, or None.

    The numbers of a partition that ``partitionAge`` evicts start again.
    """
    if "partitionAge" in case["policy"]:
        return None
    groups = defaultdict(list)
    for event in events:
        groups[None if is_cross_group(case) else event.group].append(event)
    for group, of_group in groups.items():
        numbered = [event for event in of_group if event.sequence is not None]
        numbered.sort(key=lambda event: event.sequence)
        if [event.sequence for event in numbered] != list(range(len(numbered))):
            return f"group {group}: sequence numbers have gaps, or stand twice"
        for ordered in (numbered, sorted(of_group, key=lambda event: event.step)):
            numbers = [event.step for event in ordered]
            if numbers != sorted(numbers):
                return f"group {group}: step numbers go back"
            times = [event.at for event in ordered]
            if times != sorted(times):
                return f"group {group}: time goes back"
        if set(numbers) != set(range(numbers[-1] + 1)):
            return f"group {group}: step numbers have gaps"
    return None


def _may_report_without_a_change(case: Case) -> bool:
    return any(word in case["policy"] for word in ("FORCE_UPDATE", "START_EAGER"))


def fault_of_values(case: Case, events: list[Event]) -> str | None:
    """Return the error in the sequence numbers of computed values, or None.

    The numbers of a group that a hint removes start again. A step that a timer makes
    without a change has the number of the step before it.
    """
    if "hint" in case:
        return None
    parts = defaultdict(list)
    for event in events:
        parts[values.key(case, json.loads(event.group)), event.kind].append(event)
    for (part, _), of_part in parts.items():
        of_part.sort(key=lambda event: (event.step, event.at))
        numbers = [event.step for event in of_part]
        if len(set(numbers)) < len(numbers) and not _may_report_without_a_change(case):
            return f"part {part}: sequence numbers stand twice"
        times = [event.at for event in of_part]
        if times != sorted(times):
            return f"part {part}: time goes back"
    return None


def difference_of_outputs(events: list[Event], changes: list[Event]) -> str | None:
    """Return the difference between the rows of events and those of changes, or None."""

    def rows(events: list[Event]) -> Counter:
        return Counter(
            (event.group, event.at, event.step, CHANGES[event.kind], position)
            for event in events
            if event.kind in CHANGES
            for position in event.positions
        )

    of_events, of_changes = rows(events), rows(changes)
    if of_events == of_changes:
        return None
    return (
        f"only events() has {sorted(of_events - of_changes)}, "
        f"only changes() {sorted(of_changes - of_events)}"
    )


def is_cross_group(case: Case) -> bool:
    """Return True if groups depend on each other, so that they share one numbering of steps."""
    grouped = bool(group_keys(case))
    words = ("partitionCount", "tupleCount", "punct()")
    marks = any("punct" in entry for entry in case.get("input", []))
    hints = "reclaim_group_aged" in case.get("hint", "")
    return grouped and (marks or hints or any(word in case["policy"] for word in words))


def _by_step(case: Case, events: list[Event]) -> list[Step]:
    by_step = defaultdict(list)
    cross_group = is_cross_group(case)
    for event in events:
        by_step["" if cross_group else event.group, event.at, event.step].append(event)
    created: dict[str, int] = {}
    found = []
    for (group, at, number), events in sorted(by_step.items(), key=_in_time):
        if number == 0:
            # The steps of a group that has been removed start again.
            created.pop(events[0].group, None)
        for event in events:
            if event.kind == "INSERTION" and event.positions:
                created.setdefault(event.group, event.positions[0])
        first = created.get(events[0].group)
        if first is None:
            first = _first_position(case, events)
        # Behind a watermark, rows are applied in the order of their times.
        place = (case["input"][first]["at"], first)
        found.append(Step(at, group, place, number, events))
        for event in events:
            if event.kind == "PARTITION_EVICTION":
                created.pop(event.group, None)
    return found


def _first_position(case: Case, events: list[Event]) -> int:
    """Return the position of the first row of a group whose inserts the policy does not emit."""
    of_group = (
        position
        for position, entry in enumerate(case["input"])
        if "row" in entry and _is_of_group(case, entry["row"], events[0].group)
    )
    oldest = next((event.positions[0] for event in events if event.positions), 0)
    return next(of_group, oldest)


def _in_time(step: tuple[tuple, list[Event]]) -> tuple:
    """Return a sort key by time; a group that ends at an instant does so before it restarts."""
    (_, at, number), events = step
    return at, any(event.kind == "INSERTION" for event in events), number


def _arrived_position(case: Case, step: Step, rows_evict: bool) -> int | None:
    """Return the position of the row that caused the step; None if a timer caused it."""
    cause = step.events[0].cause
    if cause is not None:
        return None if cause == BY_TIME else cause
    inputs = case["input"]
    arrived = [
        position for position, _ in step.rows("INSERTION") if inputs[position]["at"] == step.at
    ]
    if arrived:
        return max(arrived)
    if case["dialect"] == "esper":
        here = [i for i, entry in enumerate(inputs) if entry["at"] == step.at and "row" in entry]
        of_group = [i for i in here if _is_of_group(case, inputs[i]["row"], step.group)]
        if _has_no_timer(case, step):
            return min(of_group or here, default=None)
        if rows_evict:
            return min(of_group, default=None)
    return None


def _has_no_timer(case: Case, step: Step) -> bool:
    """Return True if only an arriving row can have caused the step.

    A timer of ``#time_order`` evicts. It inserts no rows that came before.
    """
    return not (inserts_by_timer(case) if step.rows("INSERTION") else has_timers(case))


def _is_of_group(case: Case, row: dict, group: str) -> bool:
    values = [row.get(key) for key in group_keys(case)]
    return json.loads(group) == [None if value is None else str(value) for value in values]


def _timer_number(step: Step, found: list[Step]) -> int:
    """Return the index of the step among its group's steps at the same instant."""
    same = [s.number for s in found if (s.at, s.group) == (step.at, step.group)]
    return sorted(same).index(step.number)


def _as_in_a_case(case: Case, together: list[Step]) -> dict:
    ordered = sorted(together, key=lambda step: (step.created, step.number))
    if case["dialect"] == "spl":
        return _events_as_in_a_case(ordered)
    rows = {
        "insert": [row for step in ordered for row in step.rows("INSERTION")],
        "remove": [row for step in ordered for row in step.rows("EVICTION")],
    }
    if len(ordered) > 1 and _is_by_arrival(case):
        times = [entry["at"] for entry in case["input"]]
        rows = {
            side: sorted(of_side, key=lambda row: (times[row[0]], row))
            for side, of_side in rows.items()
        }
    ids = {side: [row for _, row in of_side] for side, of_side in rows.items()}
    return {"at": ordered[0].at, **ids}


def _is_by_arrival(case: Case) -> bool:
    """Return True if the rows of several groups are in order of arrival, not group by group."""
    return DIALECTS[case["dialect"]].by_arrival or "groupwin" not in case["policy"]


def _events_as_in_a_case(ordered: list[Step]) -> dict:
    events = [event for step in ordered for event in step.events]
    step: dict = {"at": ordered[0].at, "insert": [], "remove": []}
    for event in events:
        if event.kind in CHANGES:
            step[CHANGES[event.kind]] += event.ids
    step["events"] = [[event.kind, event.ids] for event in events]
    for kind, field in (("TRIGGER", "trigger"), ("FINAL", "final")):
        contents = [event.ids for event in events if event.kind == kind]
        if contents:
            step[field] = contents[0]
    return step
