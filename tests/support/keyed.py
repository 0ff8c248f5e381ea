"""A naive reference of windows with a primary key: lists, and one function for each rule.

The rules are K1 to K55 of tests/data/keyed/README.md. The reference shares no code with the
operator.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

Row = dict[str, Any]

INSERT, UPDATE, UPSERT, DELETE = "insert", "update", "upsert", "delete"

# K3
WORDS = {
    INSERT: ("insert", "c", "i"),
    UPDATE: ("update", "u"),
    UPSERT: ("upsert", "r", "update_postimage", "update_after"),
    DELETE: ("delete", "d", "update_preimage", "update_before"),
}


class QueryFails(Exception):
    """The query fails with an error condition."""


@dataclass(frozen=True)
class Window:
    """A window: its kind, and the numbers and columns of its text.

    `order` has pairs of a column and whether it is descending. `origin` is None if each group
    counts its intervals from its first row.
    """

    kind: str
    rows: int = 0
    slack: int = 1
    length: int = 0
    origin: int | None = 0
    unique: str = ""
    order: tuple[tuple[str, bool], ...] = ()


def keep_all() -> Window:
    return Window("all")


def keep_rows(rows: int, slack: int = 1) -> Window:
    return Window("rows", rows=rows, slack=slack)


def keep_every_rows(rows: int) -> Window:
    return Window("every rows", rows=rows)


def keep_interval(length: int) -> Window:
    return Window("interval", length=length)


def keep_every_interval(length: int, origin: int | None = 0) -> Window:
    return Window("every interval", length=length, origin=origin)


def unique(column: str) -> Window:
    return Window("unique", unique=column)


def sort(rows: int, *order: tuple[str, bool]) -> Window:
    return Window("sort", rows=rows, order=order)


def rank(column: str, rows: int, *order: tuple[str, bool]) -> Window:
    return Window("rank", rows=rows, unique=column, order=order)


class Operation(NamedTuple):
    """An input row at an instant, which is None without a time.

    `has_time` is False for a row whose time is NULL, `is_late` is True for one behind the
    watermark.
    """

    at: int | None
    row: Row
    has_time: bool = True
    is_late: bool = False


@dataclass(frozen=True)
class Call:
    """The arguments of ``keep``. `op` names a column of the rows, `group` several."""

    window: Window
    key: tuple[str, ...]
    op: str | None = None
    group: tuple[str, ...] = ()
    updates: str = "delete_insert"
    late: str = "drop"
    max_rows: int = 10_000_000
    buffer: int = 0


class Change(NamedTuple):
    """A row of ``changes()`` without effect on numbers: K39 has None for all of them."""

    type: str
    at: int | None
    step: int | None
    seq: int | None
    change_row: int | None
    version: int | None
    reason: str
    row: Row


class Enriched(NamedTuple):
    """A row of ``withColumns``: the row, and the window contents after its step."""

    row: Row
    content: list[Row]
    is_correction: bool


class Step(NamedTuple):
    """A step that emitted changes, and the window contents after it."""

    at: int | None
    number: int
    changes: list[Change]
    content: list[Row]


@dataclass
class Held:
    """A row in the window: `number` is its place and its ``_change_row``, `arrived` its age."""

    number: int
    arrived: int
    row: Row


@dataclass
class Group:
    """A window and its numbers. The group has state if a row has entered it."""

    clock: int | None = None
    first: int | None = None
    held: list[Held] = field(default_factory=list)
    behind: list[Held] = field(default_factory=list)
    entered: int = 0
    next_step: int = 0
    next_seq: int = 0
    steps: list[Step] = field(default_factory=list)
    enriched: list[Enriched] = field(default_factory=list)


@dataclass
class Counts:
    """The numbers of K42 and K54.

    `deleted` has the rows that K13 took out, and `left_window` those of them that were in the
    window and not behind it.
    """

    entered: int = 0
    updated: int = 0
    deleted: int = 0
    evicted: int = 0
    held: int = 0
    behind: int = 0
    returned: int = 0
    left_window: int = 0
    late: int = 0
    refused: int = 0


@dataclass
class Answer:
    """All outputs: the groups by their values, and the rows without effect in their order."""

    groups: dict[tuple[Any, ...], Group] = field(default_factory=dict)
    without_effect: list[Change] = field(default_factory=list)
    counts: Counts = field(default_factory=Counts)

    def changes(self) -> list[Change]:
        """Return the changes of all groups, group by group, and then K39."""
        return [
            *(c for group in self.groups.values() for step in group.steps for c in step.changes),
            *self.without_effect,
        ]


class _Effect(NamedTuple):
    """A change before it has its numbers."""

    type: str
    held: Held
    reason: str


# ---- Operations


def kind_of(call: Call, row: Row) -> str | None:
    """K3: the kind of an operation, or None for another text and for NULL."""
    if call.op is None:
        return UPSERT
    word = row.get(call.op)
    if word is None:
        return None
    for kind, words in WORDS.items():
        if word.lower() in words:
            return kind
    return None


def comparable(value: Any) -> Any:
    """K6: a value that is equal to those values that are the same key."""
    if isinstance(value, float) and math.isnan(value):
        return "NaN of any kind"
    if isinstance(value, float) and value == 0.0:
        return 0.0
    return value


def values_of(columns: Iterable[str], row: Row) -> tuple[Any, ...]:
    return tuple(comparable(row.get(column)) for column in columns)


def key_is_null(call: Call, row: Row) -> bool:
    """K5: NULL in any column of the key."""
    return any(row.get(column) is None for column in call.key)


def without_op(call: Call, row: Row) -> Row:
    """K7: the columns of the output."""
    return {name: value for name, value in row.items() if name != call.op}


def held_of(call: Call, group: Group, row: Row) -> Held | None:
    """H: the row with the key of an operation, if it is in the window or behind it (K47)."""
    key = values_of(call.key, row)
    for held in [*group.held, *group.behind]:
        if values_of(call.key, held.row) == key:
            return held
    return None


# ---- Time


def due(window: Window, group: Group, held: Held) -> int | None:
    """K22 and K23: the instant at which a row expires, or None."""
    if window.kind == "interval":
        return held.arrived + window.length
    if window.kind == "every interval":
        start = group.first if window.origin is None else window.origin
        assert start is not None
        return start + ((held.arrived - start) // window.length + 1) * window.length
    return None


def reason_of_expiry(window: Window) -> str:
    return "expired" if window.kind == "interval" else "trigger"


def fire_timers(call: Call, group: Group, instant: int | None) -> None:
    """K17: all rows of an instant leave in one step, the earliest instant first."""
    while instant is not None:
        instants = [due(call.window, group, held) for held in group.held]
        reached = [at for at in instants if at is not None and at <= instant]
        if not reached:
            return
        earliest = min(reached)
        gone = [held for held in group.held if due(call.window, group, held) == earliest]
        reason = reason_of_expiry(call.window)
        effects = [leave(group, held, reason) for held in sorted(gone, key=lambda h: h.number)]
        emit(call, group, earliest, effects)


def move_clock(call: Call, group: Group, instant: int | None) -> int | None:
    """K15, K16, K18: return the instant at which a row of an instant is applied."""
    if instant is None or group.entered == 0:
        return instant
    at = instant if group.clock is None else max(instant, group.clock)
    fire_timers(call, group, at)
    group.clock = at
    return at


# ---- Effects


def leave(group: Group, held: Held, reason: str) -> _Effect:
    """Take a row out of the window, and return its delete with the values that it had."""
    group.held.remove(held)
    if reason == "displaced":
        group.behind.append(held)  # K46; `divide` takes it away if there is no buffer
    return _Effect("delete", replace(held), reason)


def enter(call: Call, group: Group, at: int | None, row: Row) -> list[_Effect]:
    """K8: the row enters, and the window evicts by its rule."""
    group.clock = at
    group.first = at if group.first is None else group.first
    entering = Held(group.entered, at or 0, row)
    group.entered += 1
    group.held.append(entering)
    effects = [_Effect("insert", replace(entering), "arrived")]
    return [*effects, *EVICTIONS[call.window.kind](call.window, group, entering)]


def change_values(call: Call, group: Group, held: Held, row: Row) -> list[_Effect]:
    """K10, K29: the held row gets other values, and keeps its place, its age and its number."""
    old, new = ("delete", "insert")
    if call.updates == "update":
        old, new = ("update_before", "update_after")
    before = _Effect(old, replace(held), "updated")
    held.row = row
    after = _Effect(new, replace(held), "updated")
    pair = [before, after] if held in group.held else []  # K47
    return [*pair, *replaced(call.window, group, held)]


def delete(group: Group, held: Held) -> list[_Effect]:
    """K13: the row leaves wherever it lies; the change has its held values."""
    if held in group.behind:  # K47
        group.behind.remove(held)
        return []
    return [leave(group, held, "deleted")]


def exceeds_limit(call: Call, group: Group, at: int | None, row: Row) -> bool:
    """K41, K53: the group would hold too many rows when the window has evicted."""
    if len(group.held) + len(group.behind) < call.max_rows:
        return False
    trial = deepcopy(group)
    enter(call, trial, at, row)
    divide(call, trial)
    return len(trial.held) + len(trial.behind) > call.max_rows


# ---- Rows behind the window


def divide(call: Call, group: Group) -> list[_Effect]:
    """K46, K48, K49: the best rows of all are in the window, and the next ones behind it."""
    if call.buffer == 0:
        group.behind.clear()
        return []
    window = call.window
    if window.kind in ("sort", "rank"):
        best_first = in_order(window, [*group.held, *group.behind])
        first, rest = best_first[: window.rows], best_first[window.rows :]
    else:
        newest_first = sorted(group.behind, key=lambda held: held.number, reverse=True)
        room = max(0, window.rows - len(group.held))
        first, rest = [*group.held, *newest_first[:room]], newest_first[room:]
    displaced = [held for held in group.held if held not in first]
    returned = [held for held in first if held not in group.held]
    effects = [leave(group, held, "displaced") for held in displaced]
    group.held.extend(returned)
    group.behind = rest[: call.buffer]
    return [*effects, *(_Effect("insert", replace(held), "returned") for held in returned)]


# ---- Windows


def evict_none(window: Window, group: Group, entering: Held) -> list[_Effect]:
    """K19, K22, K23: no row leaves because another one enters."""
    return []


def evict_beyond_rows(window: Window, group: Group, entering: Held) -> list[_Effect]:
    """K20: at n + s rows or more, the oldest leave until n are left."""
    if len(group.held) < window.rows + window.slack:
        return []
    oldest_first = sorted(group.held, key=lambda held: held.number)
    excess = oldest_first[: len(group.held) - window.rows]
    # A window of one row and slack is one of KEEP EVERY.
    reason = "trigger" if window.rows == 1 and window.slack > 1 else "displaced"
    return [leave(group, held, reason) for held in excess]


def evict_older(window: Window, group: Group, entering: Held) -> list[_Effect]:
    """K21: the row that makes n + 1 evicts all older rows."""
    if len(group.held) < window.rows + 1:
        return []
    reason = "displaced" if window.rows == 1 else "trigger"
    older = [held for held in group.held if held is not entering]
    return [leave(group, held, reason) for held in sorted(older, key=lambda h: h.number)]


def replaced(window: Window, group: Group, held: Held) -> list[_Effect]:
    """K24, K26: another row with the same value of the unique column leaves."""
    if window.kind not in ("unique", "rank"):
        return []
    value = comparable(held.row.get(window.unique))
    # K50: a row behind the window leaves without a change.
    group.behind = [
        other
        for other in group.behind
        if other is held or comparable(other.row.get(window.unique)) != value
    ]
    others = [
        other
        for other in group.held
        if other is not held and comparable(other.row.get(window.unique)) == value
    ]
    return [leave(group, other, "replaced") for other in others]


def evict_replaced(window: Window, group: Group, entering: Held) -> list[_Effect]:
    """K24."""
    return replaced(window, group, entering)


def in_order(window: Window, held: Iterable[Held]) -> list[Held]:
    """K25: the rows in the order of the window; of equal rows the later place is first.

    NULL is first, or last in descending order.
    """
    rows = sorted(held, key=lambda one: one.number, reverse=True)
    for column, is_descending in reversed(window.order):
        # Sorting is stable, in descending order too.
        rows.sort(key=lambda one: _sortable(one.row.get(column)), reverse=is_descending)
    return rows


def _sortable(value: Any) -> tuple[bool, Any]:
    return (value is not None, 0 if value is None else comparable(value))


def evict_last(window: Window, group: Group, entering: Held) -> list[_Effect]:
    """K25: the last row leaves, which may be the row that has just entered."""
    if len(group.held) <= window.rows:
        return []
    return [leave(group, in_order(window, group.held)[-1], "displaced")]


def evict_replaced_then_last(window: Window, group: Group, entering: Held) -> list[_Effect]:
    """K26."""
    return [*replaced(window, group, entering), *evict_last(window, group, entering)]


EVICTIONS: Mapping[str, Callable[[Window, Group, Held], list[_Effect]]] = {
    "all": evict_none,
    "rows": evict_beyond_rows,
    "every rows": evict_older,
    "interval": evict_none,
    "every interval": evict_none,
    "unique": evict_replaced,
    "sort": evict_last,
    "rank": evict_replaced_then_last,
}


# ---- Output


def content(call: Call, group: Group) -> list[Row]:
    """K27: the rows that the window holds."""
    if call.window.kind == "sort":
        return [held.row for held in in_order(call.window, group.held)]
    return [held.row for held in sorted(group.held, key=lambda held: held.number)]


def emit(call: Call, group: Group, at: int | None, effects: Sequence[_Effect]) -> list[Row]:
    """K32 to K34: number the changes of a step; one without changes takes no number (K47).

    Returns the rows that return into the window.
    """
    changes = []
    effects = [*effects, *divide(call, group)]
    if not effects:
        return []
    for effect in effects:
        seq = group.next_seq
        group.next_seq += 1
        changes.append(
            Change(
                effect.type,
                at,
                group.next_step,
                seq,
                effect.held.number,
                seq,
                effect.reason,
                effect.held.row,
            )
        )
    group.steps.append(Step(at, group.next_step, changes, content(call, group)))
    group.next_step += 1
    return [effect.held.row for effect in effects if effect.reason == "returned"]


def enrich(call: Call, group: Group, rows: Iterable[Row], *, is_correction: bool) -> None:
    """K37, K52: rows of ``withColumns``, after their step."""
    found = content(call, group)
    group.enriched.extend(Enriched(row, found, is_correction) for row in rows)


def without_effect(
    call: Call, answer: Answer, kind: str, reason: str, at: int | None, row: Row
) -> None:
    """K15, K39 to K41: emit or count a row that has no effect."""
    if kind == "late":
        answer.counts.late += 1
    else:
        answer.counts.refused += 1
    if call.late == "emit":
        output = without_op(call, row)
        answer.without_effect.append(Change(kind, at, None, None, None, None, reason, output))


def apply(call: Call, answer: Answer, operation: Operation) -> None:
    """K1: apply one operation, in the order of the tests."""
    row = without_op(call, operation.row)
    if not operation.has_time:
        without_effect(call, answer, "refused", "time missing", None, operation.row)
        return
    if operation.is_late:
        without_effect(call, answer, "late", "late", None, operation.row)
        return
    name = values_of(call.group, operation.row)
    group = answer.groups.get(name, Group())
    at = move_clock(call, group, operation.at)

    def refuse(reason: str) -> None:
        without_effect(call, answer, "refused", reason, at, operation.row)

    kind = kind_of(call, operation.row)
    if kind is None:
        if call.late == "drop":
            raise QueryFails("WINOPS_OP_UNKNOWN")
        refuse("op unknown")  # K4
        return
    if key_is_null(call, operation.row):
        if call.late == "drop":
            raise QueryFails("WINOPS_KEY_NULL")
        refuse("key missing")  # K5
        return
    held = held_of(call, group, row)
    if kind == INSERT and held is not None:
        refuse("key held")  # K9
    elif kind in (UPDATE, DELETE) and held is None:
        refuse("not held")  # K11, K14
    elif kind == DELETE:
        assert held is not None
        answer.counts.deleted += 1
        returned = emit(call, group, at, delete(group, held))
        enrich(call, group, returned, is_correction=True)
    elif held is not None:
        answer.counts.updated += 1
        is_in_window = held in group.held
        returned = emit(call, group, at, change_values(call, group, held, row))
        if is_in_window:  # K52
            enrich(call, group, [row], is_correction=True)
        enrich(call, group, returned, is_correction=True)
    elif exceeds_limit(call, group, at, row):
        if call.late == "drop":
            raise QueryFails("WINOPS_MAX_ROWS")
        refuse("max rows")
    else:
        answer.counts.entered += 1
        answer.groups[name] = group
        returned = emit(call, group, at, enter(call, group, at, row))
        enrich(call, group, [row], is_correction=False)
        enrich(call, group, returned, is_correction=True)


def run(call: Call, operations: Iterable[Operation], end: int | None = None) -> Answer:
    """Apply operations in their order, and then move the time to `end`."""
    answer = Answer()
    for operation in operations:
        apply(call, answer, operation)
    for group in answer.groups.values():
        fire_timers(call, group, end)
    count(answer)
    check_conservation(answer, call)
    return answer


def count(answer: Answer) -> None:
    """Count the rows that are held, and those that a rule of the window evicted."""
    of_operations = ("arrived", "updated", "deleted", "returned")
    for group in answer.groups.values():
        reasons = [change.reason for step in group.steps for change in step.changes]
        answer.counts.held += len(group.held)
        answer.counts.behind += len(group.behind)
        answer.counts.returned += reasons.count("returned")
        answer.counts.left_window += reasons.count("deleted")
        answer.counts.evicted += sum(reason not in of_operations for reason in reasons)


def check_conservation(answer: Answer, call: Call) -> None:
    """K42, K54: the rows that entered are held, were evicted or were deleted."""
    counts = answer.counts
    out = counts.evicted + counts.left_window
    assert counts.entered + counts.returned == counts.held + out
    if call.buffer == 0:
        assert counts.left_window == counts.deleted
        assert counts.behind == counts.returned == 0


def late_by_row(operations: Iterable[tuple[int, Row]], delay: int) -> list[Operation]:
    """Return operations in the order in which they are applied behind a watermark.

    The watermark is behind the greatest time of the rows before (MB-6). Late rows come first,
    because they are emitted while other rows wait.
    """
    newest: int | None = None
    late, waiting = [], []
    for at, row in operations:
        if newest is not None and at < newest - delay:
            late.append(Operation(at, row, is_late=True))
        else:
            waiting.append(Operation(at, row))
        newest = at if newest is None else max(newest, at)
    waiting.sort(key=lambda operation: operation.at or 0)
    return [*late, *waiting]


def by_group(operations: Iterable[Operation], group: Sequence[str]) -> dict[Any, list[Operation]]:
    """Return the operations of each group in their order."""
    found: dict[Any, list[Operation]] = defaultdict(list)
    for operation in operations:
        found[values_of(group, operation.row)].append(operation)
    return found
