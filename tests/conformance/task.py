"""Runs cases on the operator's task, in the JVM of ``winops.testing``, without a Spark session.

Each case runs as a stream that stores its state after every input, as a stream of a few
micro-batches, and as a table, which stores nothing. The first run gives the answer, which is a
failure if an output row of another run differs in any bit.
"""

import json
import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple

import chained
import values
from cases import Case, delay, goes_back, group_text, instant, millis, stamped
from changes import BY_TIME, Event, is_cross_group, numbering_fault, steps
from compare import Answer
from dialects import DIALECTS, group_keys, groupwin_keys, has_timers, is_subdivided, origin
from pyspark.errors import AnalysisException
from spark_engines import parameters, refusal

from winops._policy import policy_of
from winops.testing._process import PROCESS
from winops.testing._rows import as_json
from winops.testing._windows import call_of

AGG = {"output": "agg", "mode": "changes"}
EVENTS = {"output": "events"}
SNAPSHOTS = {"output": "snapshots"}
# Changes, the output of a call without options, have reasons.
CHANGES: dict[str, str] = {}

# The micro-batches into which a stream with several rows in each is cut.
BATCHES = 3


class Batch(NamedTuple):
    """The output rows of a micro-batch.

    ``cause`` is the position of the input that arrived, ``BY_TIME`` if time moved on, and None if
    the watermark decides which rows are applied.
    """

    cause: int | None
    rows: list


def answers(cases: list[Case]) -> tuple[list[Case], list[Answer]]:
    """Answer cases; those of two windows take two runs."""
    return chained.answered(cases, lambda some: (some, [_answer(case) for case in some]))


def _answer(case: Case) -> Answer:
    if case["dialect"] not in DIALECTS:
        return {"failure": f"the dialect {case['dialect']} is not supported"}
    case = stamped(case) if goes_back(case) else case
    output = _output(case)
    try:
        stream = _Stream(case, output)
    except AnalysisException as error:
        return refusal(error)
    if "input" not in case:
        return {"steps": []}
    batches = list(stream.one_by_one())
    for name, rows in (
        ("a table", _of_table(case, output, stream)),
        ("a stream of fewer micro-batches", _of_cuts(case, output)),
    ):
        if rows is not None and (difference := _difference(case, batches, rows)):
            return {"failure": f"{name} gives other rows: {difference}"}
    if output == AGG:
        return {"posts": _posts(case, batches)}
    events = _events(case, batches)
    if fault := numbering_fault(case, events):
        return {"failure": fault}
    return {
        "steps": steps(case, events + _without_rows(case, batches)),
        "final": [
            case["input"][position]["row"]["id"]
            for _, positions in stream.contents()
            for position in positions
        ],
    }


def _output(case: Case) -> dict[str, str]:
    if values.computes(case):
        return AGG
    return EVENTS if case["dialect"] == "spl" else CHANGES


class _Stream:
    """A window over the rows of a case, in the process.

    Attributes
    ----------
    applied : list of int
        The positions of the inputs that have arrived in time.
    """

    def __init__(self, case: Case, output: dict[str, str], **options: str) -> None:
        self._number = PROCESS.number()
        self._case = case
        self._output = output
        self._sent: list[int] = []
        self._late = 0
        self.applied: list[int] = []
        behind = {} if delay(case) is None else {"time": "_at"}
        call = _call(case, {**output, **behind, **options})
        PROCESS.request("open", id=self._number, **call)

    def one_by_one(self) -> Iterator[Batch]:
        """Let the inputs arrive one by one, after the timers before them have fired."""
        behind = delay(self._case)
        is_timed = _has_timers(self._case)
        now = None
        for position, entry in enumerate(self._case["input"]):
            arrived = [position] if _arrives(entry) else []
            reached = entry["at"]
            if behind is None:
                if is_timed and (now is None or reached > now):
                    yield Batch(BY_TIME, self.batch([], reached))
                now = reached
                if arrived:
                    yield Batch(position, self.batch(arrived, now))
                continue
            yield Batch(None, self.batch(arrived, now or 0))
            reached -= behind if "row" in entry else 0
            if now is None or reached > now:
                yield Batch(None, self.batch([], reached))
                now = reached
        if behind is not None:
            yield Batch(None, self.batch([], _end(self._case)))

    def batch(self, positions: list[int], now: int) -> list:
        """Run a micro-batch, and return its output rows with the positions of their rows."""
        self._sent += positions
        rows = [_row(self._case, position) for position in positions]
        reply = PROCESS.request("batch", id=self._number, rows=rows, now=now)
        late = reply["metrics"].get("numRowsDroppedByWatermark", 0)
        if late == self._late:
            self.applied += positions
        self._late = late
        return _read(self._output, reply, self._sent)

    def contents(self) -> list[tuple[str, list[int]]]:
        """Return the key of each stored group, and the positions of the rows in its windows."""
        groups = PROCESS.request("contents", id=self._number)["groups"]
        return [(key, [self._sent[number] for number in numbers]) for key, numbers in groups]

    def __del__(self) -> None:
        PROCESS.forget(self._number)


def _has_timers(case: Case) -> bool:
    """Return False if only rows change the windows of a case, so that no time need pass."""
    if case["dialect"] == "esper":
        return has_timers(case)
    # CCL has many spellings of an interval.
    is_timed = re.search("time|within|age", case["policy"], re.IGNORECASE)
    return case["dialect"] == "ccl" or is_timed is not None


def _of_table(case: Case, output: dict[str, str], stream: _Stream) -> list:
    """Return the output rows of a table of the rows that the stream has applied."""
    call = _call(case, {**output, **_timed(case)})
    rows = [_row(case, position) for position in stream.applied]
    reply = PROCESS.request("table", rows=rows, until=_end(case), **call)
    return _read(output, reply, stream.applied)


def _of_cuts(case: Case, output: dict[str, str]) -> list | None:
    """Return the output rows of a stream that is cut at random, the same way each time.

    A watermark that drops rows depends on the micro-batches, so that there are no other ones.
    """
    if delay(case) is not None:
        return None
    stream = _Stream(case, output, **_timed(case))
    size = len(case["input"])
    chosen = random.Random(case["name"])
    cuts = sorted({size, *(chosen.randrange(size + 1) for _ in range(BATCHES - 1))} - {0})
    rows = []
    for start, end in zip([0, *cuts], cuts, strict=False):
        inputs = case["input"][start:end]
        positions = [start + i for i, entry in enumerate(inputs) if _arrives(entry)]
        rows += stream.batch(positions, inputs[-1]["at"])
    return rows


def _call(case: Case, options: Mapping[str, str]) -> dict[str, Any]:
    """Return the members of a request for the window of a case."""
    own = [("_position", "long"), ("_punct", "string"), ("_at", "timestamp")]
    columns = ", ".join(f"`{name}` {kind}" for name, kind in [*case["schema"].items(), *own])
    policy = policy_of(
        DIALECTS[case["dialect"]].policy(case),
        rows=None,
        slack=None,
        interval=None,
        every=False,
        params=parameters(case),
    )
    marks = any("punct" in entry for entry in case.get("input", []))
    given: dict[str, int | str | None] = {
        **options,
        "origin": origin(case),
        "punct": "_punct" if marks or "punct()" in case["policy"] else None,
    }
    known = {name: value for name, value in given.items() if value is not None}
    return {"schema": columns, **call_of(policy, (), (), known)}


def _timed(case: Case) -> dict[str, str]:
    """Return the options with which the rows of one micro-batch have a time each."""
    return {"time": "_at", "apply": "arrival" if delay(case) is None else "event_time"}


def _row(case: Case, position: int) -> Any:
    entry = case["input"][position]
    own = {"_position": position, "_punct": entry.get("punct"), "_at": instant(entry["at"])}
    return as_json({**entry.get("row", {}), **own})


def _arrives(entry: dict) -> bool:
    return "row" in entry or "punct" in entry


def _end(case: Case) -> int:
    """Return the instant up to which time goes on; behind a watermark, past all rows."""
    last: int = max((entry["at"] for entry in case["input"]), default=0)
    return last if delay(case) is None else last + 1


def _read(output: dict[str, str], reply: Mapping[str, Any], sent: list[int]) -> list:
    """Return the output rows of a reply, which have no numbers of rows but positions."""
    if output == CHANGES:
        return [(*change, sent[number]) for *change, number in reply["changes"]]
    rows = [json.loads(text) for text in reply["rows"]]
    if output == AGG:
        # The text has the sign of a zero, which values that are equal can differ in.
        return list(zip(rows, reply["rows"], strict=True))
    array = "rows" if output == EVENTS else "content"
    return [{**row, array: [held["_position"] for held in row[array]]} for row in rows]


def _difference(case: Case, batches: list[Batch], others: list) -> str | None:
    """Return the first group whose output rows differ, or None. Groups have no order."""
    expected = _by_group(case, [row for batch in batches for row in batch.rows])
    found = _by_group(case, others)
    for group in expected.keys() | found.keys():
        if expected[group] != found[group]:
            return f"group {group}\n  expected {expected[group]}\n  got      {found[group]}"
    return None


def _by_group(case: Case, rows: list) -> dict[str, list]:
    groups = defaultdict(list)
    output = _output(case)
    if output == CHANGES and is_subdivided(case):
        # By arrival with a time, the numbers count over all keys.
        rows = [(kind, at, *others) for kind, at, _, _, *others in rows]
    for row in sorted(rows) if output == CHANGES else rows:
        if output == CHANGES:
            groups[""].append(row)
        elif output == AGG:
            groups[str(_key(case, row[0]))].append(row[1])
        else:
            groups[_group_of_event(row)].append(row)
    return groups


def _events(case: Case, batches: list[Batch]) -> list[Event]:
    """Return changes, or events of IBM Streams, as events."""
    if _output(case) == EVENTS:
        return [
            Event(
                case["name"],
                _group_of_event(row),
                row["_event_type"],
                _millis(row["_change_time"]),
                row["_change_step"],
                None,
                row["rows"],
                [case["input"][position]["row"]["id"] for position in row["rows"]],
                batch.cause,
            )
            for batch in batches
            for row in batch.rows
        ]
    group = _groups(case)
    return [
        Event(
            case["name"],
            group(position),
            "INSERTION" if kind == "insert" else "EVICTION",
            micros // 1000,
            step,
            sequence,
            [position],
            [case["input"][position]["row"]["id"]],
            batch.cause,
        )
        for batch in batches
        for kind, micros, step, sequence, _, _, position in batch.rows
    ]


def _group_of_event(row: Mapping[str, Any]) -> str:
    return group_text(row[name] for name in row if not name.startswith("_") and name != "rows")


def _groups(case: Case) -> Callable[[int], str]:
    """Return a function that gives the group of the row at a position.

    The operator evaluates keys that are expressions, in a window that keeps all rows.
    """
    keys = group_keys(case)
    if all(key in case["schema"] for key in keys):
        rows = [entry.get("row", {}) for entry in case["input"]]
        texts = [group_text(row.get(key) for key in keys) for row in rows]
        return lambda position: texts[position]
    everything = {**case, "policy": f"#groupwin({', '.join(keys)})#keepall()"}
    stream = _Stream(everything, CHANGES)
    for _ in stream.one_by_one():
        pass
    found = {position: key for key, positions in stream.contents() for position in positions}
    return found.__getitem__


def _without_rows(case: Case, batches: list[Batch]) -> list[Event]:
    """Return the steps without rows of an Esper batch, each of which is a report of its contents.

    A step that only deletes is no change of a statement that selects inserts, so these two are
    compared only where the statement selects both.
    """
    selects_both = case.get("select", "irstream") == "irstream"
    if case["dialect"] != "esper" or "batch" not in case["policy"] or not selects_both:
        return []
    found = []
    reported = list(_Stream(case, SNAPSHOTS).one_by_one())
    for batch, reports in zip(batches, reported, strict=True):
        changed = {micros // 1000 for _, micros, *_ in batch.rows}
        instants = {_millis(report["_change_time"]) for report in reports.rows}
        found += [
            Event(case["name"], "[]", "NONE", at, batch.cause, None, [], [], batch.cause)
            for at in instants - changed
        ]
    return found


def _posts(case: Case, batches: list[Batch]) -> list[dict]:
    """Return the values of each step, in the order of a case."""
    posts = []
    for batch in batches:
        by_instant = defaultdict(list)
        for row, _ in batch.rows:
            by_instant[_millis(row["_change_time"])].append(row)
        for at, rows in sorted(by_instant.items()):
            post: dict = {"at": at, "insert": [], "remove": []}
            for row in rows if is_cross_group(case) else sorted(rows, key=_creation(case)):
                side = "insert" if row["_change_type"] == "insert" else "remove"
                post[side].append({name: row[name] for name in row if not name.startswith("_")})
            posts.append(post)
    return posts


def _key(case: Case, row: Mapping[str, Any]) -> tuple:
    return tuple(row[name] for name in groupwin_keys(case["policy"]) if name in row)


def _creation(case: Case) -> Callable[[Mapping[str, Any]], int]:
    """Return a function that gives the position of the first row in the group of values."""
    first: dict[tuple, int] = {}
    for position, entry in enumerate(case["input"]):
        if "row" in entry:
            key = tuple(entry["row"].get(name) for name in groupwin_keys(case["policy"]))
            first.setdefault(key, position)
    return lambda row: first.get(_key(case, row), 0)


def _millis(text: str) -> int:
    return millis(datetime.fromisoformat(text))
