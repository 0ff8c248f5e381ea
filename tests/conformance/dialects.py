"""Properties of the dialects for the Spark engines."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from cases import Case

from winops import WindowPolicy, apama, esper, spl

PER = re.compile(r"\bPER\s*\(([^)]*)\)", re.IGNORECASE)
PARTITION_BY = re.compile(r"\bpartition\s+by\s+(.*?)\s+(?:within|retain)\b")
PARTITION_BY_PARAM = re.compile(r"\bpartitionBy\s*:([^;]*)")
ESPER_WINDOW = re.compile(r"#(\w+)\s*(?:\(((?:[^()']|'[^']*'|\([^()]*\))*)\))?")


@dataclass(frozen=True)
class Dialect:
    """The policy of a case as an argument of ``keep``, and the group key of the policy.

    ``groups_together`` is True if timers of several groups at one instant are one step of a
    case. ``by_arrival`` is True if the rows of such a step are in order of arrival, and False if
    they are group by group.
    """

    policy: Callable[[Case], str | WindowPolicy]
    group: Callable[[str], list[str]]
    groups_together: bool = True
    by_arrival: bool = True


def statement(case: Case) -> str:
    """Return an Esper case's window, selector, columns and hints as one statement."""
    selector, columns = case.get("select", "irstream"), case.get("columns", "*")
    if selector == "irstream" and columns == "*" and "hint" not in case:
        return case["policy"]
    by = f" group by {case['group_by']}" if "group_by" in case else ""
    return f"{case.get('hint', '')} select {selector} {columns} from S{case['policy']}{by}"


def origin(case: Case) -> int | str | None:
    """Return the start of the first period: Esper's windows exist before the first row."""
    begins_before = "START_EAGER" in case["policy"] or "firsttime" in case["policy"]
    if case["dialect"] == "esper" and begins_before and "groupwin" not in case["policy"]:
        return case.get("start", 0)
    return case.get("options", {}).get("origin")


def has_timers(case: Case) -> bool:
    """Return True if an Esper case has windows with timers."""
    timed = {"ext_timed", "ext_timed_batch"}
    return any("time" in name and name not in timed for name, _ in _windows(case["policy"]))


def inserts_by_timer(case: Case) -> bool:
    """Return True if an Esper case has a batch whose rows a timer inserts."""
    return any(
        name in ("time_batch", "time_length_batch") for name, _ in _windows(case["policy"])
    )


def _windows(policy: str) -> list[tuple[str, str]]:
    return ESPER_WINDOW.findall(re.sub(r"\w+:", "", policy))


def _columns(found: re.Match | None) -> list[str]:
    columns = found.group(1).split(",") if found else []
    return [column.strip().rpartition(".")[2] for column in columns]


def groupwin_keys(policy: str) -> list[str]:
    """Return the keys of an Esper policy's groupwin."""
    found = [arguments for name, arguments in _windows(policy) if name == "groupwin"]
    return [key.strip() for arguments in found for key in arguments.split(",")]


def group_keys(case: Case) -> list[str]:
    """Return the keys of the groups in which ``keep`` runs a case.

    ``apply`` of a case is the order in which its engine applies rows. By arrival, groups have a
    clock each, so ``keep`` subdivides none.
    """
    if case["dialect"] == "esper" and case.get("apply") == "arrival":
        return groupwin_keys(case["policy"])
    return DIALECTS[case["dialect"]].group(case["policy"])


def is_subdivided(case: Case) -> bool:
    """Return True if ``keep`` subdivides the groups of a case in the order of time."""
    whole = group_keys({**case, "apply": "arrival"})
    return group_keys(case) != whole


def _esper_group(policy: str) -> list[str]:
    """Return the keys of groupwin, and those by which ``keep`` subdivides the groups."""
    windows = _windows(policy)
    others = [window for window in windows if window[0] not in ("groupwin", "merge")]
    unique = [arguments for name, arguments in others if name in ("unique", "firstunique")]
    of_row = {"unique", "firstunique", "time", "time_order", "timetolive", "keepall"}
    smaller = (
        len(unique) == 1
        and "retain-union" not in policy
        and all(name in of_row for name, _ in others)
    )
    keys = [key.strip() for key in unique[0].split(",")] if smaller else []
    return groupwin_keys(policy) + keys


DIALECTS = {
    "ccl": Dialect(
        policy=lambda case: case["policy"], group=lambda text: _columns(PER.search(text))
    ),
    "apama": Dialect(
        policy=lambda case: apama(case["policy"]),
        group=lambda text: _columns(PARTITION_BY.search(text)),
    ),
    "spl": Dialect(
        policy=lambda case: spl(case["policy"]),
        group=lambda text: _columns(PARTITION_BY_PARAM.search(text)),
        groups_together=False,
    ),
    "esper": Dialect(
        policy=lambda case: esper(statement(case)), group=_esper_group, by_arrival=False
    ),
}
