"""Every engine returns the answers that the conformance cases expect."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from runpy import run_path

import pytest

from tests.support.paths import ROOT
from tests.support.settings import INTERPRETED
from tests.support.transports import TRANSPORT, same_on_connect
from tests.support.versions import SPARK

RUNNER = ROOT / "tests" / "conformance" / "run.py"
OWN = ROOT / "tests" / "data" / "conformance"
# `make conformance` runs all cases in place of samples.
ALL = os.environ.get("WINOPS_CONFORMANCE") == "all"

CASE = {
    "name": "one-row",
    "dialect": "ccl",
    "policy": "KEEP 1 ROW",
    "schema": {"id": "long"},
    "input": [{"at": 0, "row": {"id": 1}}, {"at": 5, "row": {"id": 2}}],
    "expect": [
        {"at": 0, "insert": [1], "remove": []},
        {"at": 5, "insert": [2], "remove": [1]},
    ],
}

VALUES = {
    "name": "values",
    "dialect": "esper",
    "policy": "#length(1)",
    "emit": "values",
    "columns": "sum(price) as total",
    "schema": {"id": "long", "price": "double"},
    "input": [
        {"at": 0, "row": {"id": 1, "price": 1.5}},
        {"at": 5, "row": {"id": 2, "price": 4.0}},
    ],
    "expect": [
        {"at": 0, "insert": [{"total": 1.5}], "remove": [{"total": None}]},
        {"at": 5, "insert": [{"total": 4.0}], "remove": [{"total": 1.5}]},
    ],
}
# The key of the window's own group is a column of the list.
LISTED = {
    "name": "listed",
    "dialect": "esper",
    "policy": "#groupwin(symbol)#length(1)",
    "emit": "values",
    "columns": "sum(price) as total, symbol, count(*) as n",
    "group_by": "symbol",
    "schema": {"id": "long", "symbol": "string", "price": "double"},
    "input": [
        {"at": 0, "row": {"id": 1, "symbol": "A", "price": 1.5}},
        {"at": 5, "row": {"id": 2, "symbol": "A", "price": 4.0}},
    ],
    "expect": [
        {
            "at": 0,
            "insert": [{"n": 1, "symbol": "A", "total": 1.5}],
            "remove": [{"n": 0, "symbol": "A", "total": None}],
        },
        {
            "at": 5,
            "insert": [{"n": 1, "symbol": "A", "total": 4.0}],
            "remove": [{"n": 1, "symbol": "A", "total": 1.5}],
        },
    ],
}
EVENTS = {
    "name": "events",
    "dialect": "spl",
    "policy": "sliding, count(1)",
    "schema": {"id": "long"},
    "input": CASE["input"],
    "expect": [
        {
            "at": 0,
            "insert": [1],
            "remove": [],
            "events": [["INSERTION", [1]], ["INITIAL_FULL", [1]], ["TRIGGER", [1]]],
            "trigger": [1],
        },
        {
            "at": 5,
            "insert": [2],
            "remove": [1],
            "events": [["EVICTION", [1]], ["INSERTION", [2]], ["TRIGGER", [2]]],
            "trigger": [2],
        },
    ],
}


def run(
    engine: str, path: Path, *options: str, settings: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess:
    given = [f"-D{name}={value}" for name, value in (settings or {}).items()]
    return subprocess.run(
        [sys.executable, str(RUNNER), "--engine", engine, *options, str(path)],
        capture_output=True,
        encoding="utf-8",
        env={
            **os.environ,
            "PYTHONDONTWRITEBYTECODE": "1",
            "SPARK_SUBMIT_OPTS": " ".join([os.environ["SPARK_SUBMIT_OPTS"], *given]),
        },
        check=False,
    )


@pytest.fixture
def run_here(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., subprocess.CompletedProcess]:
    """Return a function that runs an engine without Spark in this process, as ``run``."""
    monkeypatch.syspath_prepend(str(RUNNER.parent))

    def run(engine: str, path: Path, *options: str) -> subprocess.CompletedProcess:
        command = [str(RUNNER), "--engine", engine, *options, str(path)]
        monkeypatch.setattr(sys, "argv", command)
        with pytest.raises(SystemExit) as ended:
            run_path(str(RUNNER), run_name="__main__")
        shown = capsys.readouterr()
        return subprocess.CompletedProcess(command, ended.value.code, shown.out, shown.err)

    return run


def second_step(case: dict, name: str, **expected: object) -> dict:
    """Return a case under another name, of whose second step something else is expected."""
    first, second = case["expect"]
    return {**case, "name": name, "expect": [first, {**second, **expected}]}


def cases_in(folder: Path) -> list[dict]:
    files = sorted(folder.rglob("*.jsonl"))
    return [json.loads(line) for file in files for line in file.read_text("utf-8").splitlines()]


def check_all_passed(result: subprocess.CompletedProcess, passed: int) -> None:
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout.splitlines()[-1] == f"{passed} passed, 0 failed"


# The numbers of cases that do not run on a table or on a stream.
NOT_BY_HAND = 235
LEFT_OUT = {"batch": 23, "stream": 10, "stream-more": 10, "stream-arrival": 27}
DIALECTS = ["apama", "ccl", "esper", "spl"]
# The number of cases before a sample, and that in it. The samples of a table and of streams by
# event time are different cases. One of `stream-more` takes 56 micro-batches.
SAMPLES = {
    "batch": (0, 40),
    "stream": (40, 36),
    "stream-more": (76, 4),
    "stream-arrival": (80, 40),
    "testing": (120, 40),
    "real-time": (160, 40),
}
# The numbers of compared rows of the samples.
COMPARED = {
    "batch": {"rows compared": 1240, "not compared: rows after the last input": 74},
    "stream": {
        "rows compared": 1391,
        "not compared: steps in which no row comes in or leaves": 16,
    },
    "stream-more": {"rows compared": 522},
    "stream-arrival": {"rows compared": 2334},
}


def sample_of(name: str) -> list[str]:
    """Return the options that select a sample."""
    skipped, count = SAMPLES[name]
    return [] if ALL else ["--sample", str(count), "--skip", str(skipped)]


def counts(result: subprocess.CompletedProcess) -> dict[str, int]:
    """Return the numbers at the start of each line except the last."""
    lines = result.stdout.splitlines()[:-1]
    found = [re.fullmatch(r"(\d+) ((?:cases left|not compared|rows).*)", line) for line in lines]
    return {match[2]: int(match[1]) for match in found if match}


BY_EVENT_TIME = ["--batches", "3", "--seed", "5"]


@pytest.mark.parametrize(
    ("name", "options"),
    [
        pytest.param(
            "batch",
            [],
            marks=[pytest.mark.longer] if TRANSPORT == "connect" else [],
            id="batch",
        ),
        pytest.param("stream", BY_EVENT_TIME, marks=same_on_connect, id="stream"),
        pytest.param(
            "stream-more",
            BY_EVENT_TIME,
            marks=[
                same_on_connect,
                pytest.mark.longer,
                pytest.mark.skipif(ALL, reason="the stream has all cases"),
            ],
            id="stream-more",
        ),
        pytest.param(
            "stream-arrival",
            ["--batches", "3", "--seed", "6", "--apply", "arrival"],
            marks=[same_on_connect, pytest.mark.longer],
            id="stream-arrival",
        ),
    ],
)
def test_spark_gives_the_expected_answers(name: str, options: list[str]) -> None:
    """Spark returns every expected row, of a sample; `make conformance` compares all cases."""
    engine = name.partition("-")[0]
    # Spark compiles the expressions of the table, and those of `make conformance`.
    settings = INTERPRETED if engine == "stream" and not ALL else {}
    result = run(engine, OWN, *options, *sample_of(name), settings=settings)
    found = counts(result)
    assert sum(n for what, n in found.items() if what.startswith("cases")) == LEFT_OUT[name]
    check_all_passed(result, len(cases_in(OWN)) - LEFT_OUT[name] if ALL else SAMPLES[name][1])
    assert re.findall(r"(\w+): \d+ cases", result.stdout) == DIALECTS
    if not ALL:
        assert {what: n for what, n in found.items() if "cases" not in what} == COMPARED[name]


@same_on_connect
@pytest.mark.skipif(SPARK < (4, 3), reason="real-time mode needs Spark 4.3")
def test_real_time_mode_gives_the_expected_answers() -> None:
    """Real-time mode returns every expected row in order of arrival, or refuses the window."""
    result = run("real-time", OWN, *sample_of("real-time"))
    left_out = sum(n for what, n in counts(result).items() if what.startswith("cases"))
    cases = len(cases_in(OWN)) - left_out if ALL else SAMPLES["real-time"][1]
    check_all_passed(result, cases)
    assert left_out == LEFT_OUT["stream-arrival"]
    refused = re.search(r"(\d+) cases refused in real-time mode", result.stdout)
    assert refused is not None
    # Windows whose groups depend on each other are few.
    assert cases - int(refused[1]) >= (800 if ALL else 30)


@same_on_connect
def test_windows_of_user_tests_give_the_expected_answers(
    run_here: Callable[..., subprocess.CompletedProcess],
) -> None:
    """``winops.testing`` returns every expected row, of a sample or of all cases."""
    result = (run if ALL else run_here)("testing", OWN, *sample_of("testing"))
    left_out = sum(n for what, n in counts(result).items() if what.startswith("cases"))
    assert left_out == NOT_BY_HAND
    check_all_passed(result, len(cases_in(OWN)) - left_out if ALL else SAMPLES["testing"][1])
    assert re.findall(r"(\w+): \d+ cases", result.stdout) == DIALECTS


def test_the_samples_have_every_dialect_and_window(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(RUNNER.parent))
    cases, engines, sample = map(import_module, ("cases", "spark_engines", "sample"))
    everything = cases.load([OWN])
    found = set()
    for engine in ("batch", "stream"):
        runnable = [
            case
            for case in everything
            if engines.reason_not_to_run(engine, "event_time", case) is None
        ]
        skipped, count = SAMPLES[engine]
        chosen = sample.sampled(runnable, count, skipped)
        assert len(chosen) == count
        assert sorted({case["dialect"] for case in chosen}) == DIALECTS
        found |= {(case["dialect"], sample.family(case)) for case in chosen}
    assert found == {(case["dialect"], sample.family(case)) for case in everything}


@same_on_connect
@pytest.mark.parametrize(
    "engine",
    [
        "task",
        pytest.param("batch", marks=pytest.mark.longer),
        pytest.param("stream", marks=pytest.mark.longer),
    ],
)
def test_a_wrong_answer_is_found(
    tmp_path: Path, run_here: Callable[..., subprocess.CompletedProcess], engine: str
) -> None:
    right = [CASE, VALUES, LISTED, EVENTS]
    wrong = [
        {
            **CASE,
            "name": "other-id",
            "expect": [*CASE["expect"][:1], {**CASE["expect"][1], "remove": [2]}],
        },
        {**CASE, "name": "step-too-many", "expect": CASE["expect"][:1]},
        {**CASE, "name": "step-missing", "expect": [*CASE["expect"], CASE["expect"][1]]},
        {**CASE, "name": "not-refused", "error": "syntax"},
        {**CASE, "name": "refused", "policy": "KEEP"},
        {**CASE, "name": "not-that-error", "policy": "KEEP 0 ROWS", "error": "syntax"},
        {**CASE, "name": "no-such-dialect", "dialect": "klingon"},
        second_step(VALUES, "other-value", insert=[{"total": 4.1}]),
        second_step(VALUES, "other-replaced-value", remove=[{"total": 1.4}]),
        second_step(VALUES, "other-column", insert=[{"sum": 4.0}]),
        second_step(VALUES, "other-time-of-a-value", at=4),
        second_step(LISTED, "column-missing", insert=[{"n": 1, "total": 4.0}]),
        second_step(LISTED, "other-key", insert=[{"n": 1, "symbol": "B", "total": 4.0}]),
        second_step(VALUES, "value-missing", remove=[{"total": 1.5}, {"total": 1.5}]),
        {**VALUES, "name": "value-too-many", "expect": VALUES["expect"][:1]},
        second_step(EVENTS, "other-event", events=[["INSERTION", [2]]]),
        second_step(
            EVENTS,
            "other-order-of-events",
            events=[["INSERTION", [2]], ["EVICTION", [1]], ["TRIGGER", [2]]],
        ),
        second_step(EVENTS, "other-contents", trigger=[1, 2]),
    ]
    file = tmp_path / "wrong.jsonl"
    file.write_text("\n".join(map(json.dumps, right + wrong)), encoding="utf-8")
    result = (run_here if engine == "task" else run)(engine, file)
    assert result.returncode == 1, result.stderr
    reported = [line.partition(":")[0] for line in result.stdout.splitlines()]
    assert [name for name in reported if name in {c["name"] for c in right + wrong}] == [
        case["name"] for case in wrong
    ]
    assert result.stdout.splitlines()[-1] == f"{len(right)} passed, {len(wrong)} failed"


def test_columns_in_another_order_than_the_list_are_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(str(RUNNER.parent))
    values, compare = import_module("values"), import_module("compare")
    assert values.names(LISTED) == ["total", "symbol", "n"]
    assert values.names(CASE) is None
    nested = {**LISTED, "columns": "max(greatest(price, 1)) as `top`, count(*)"}
    assert values.names(nested) == ["top", "count(*)"]

    def ordered(*columns: str) -> list[dict]:
        return [
            {
                **step,
                **{
                    side: [{name: row[name] for name in columns} for row in step[side]]
                    for side in ("insert", "remove")
                },
            }
            for step in LISTED["expect"]
        ]

    for answer in ("posts", "posts_by_group"):
        right = {answer: ordered("total", "symbol", "n")}
        assert compare.compare(LISTED, right).difference is None
        other = {answer: ordered("symbol", "total", "n")}
        assert "the list has total, symbol, n" in compare.compare(LISTED, other).difference


def test_wrong_numbers_and_wrong_changes_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(RUNNER.parent))
    changes = import_module("changes")

    def events_of(*events: tuple[str, int, int, int | None, list[int]]) -> list:
        return [
            changes.Event("name", "[]", kind, at, step, sequence, positions, positions)
            for kind, at, step, sequence, positions in events
        ]

    first, second = ("INSERTION", 0, 0, 0, [0]), ("INSERTION", 5, 1, 1, [1])
    right = events_of(first, second, ("EVICTION", 5, 1, 2, [0]))
    assert changes.numbering_fault(CASE, right) is None
    for wrong, fault in (
        (("EVICTION", 5, 1, 3, [0]), "sequence numbers have gaps"),
        (("EVICTION", 5, 1, 1, [0]), "stand twice"),
        (("EVICTION", 5, 0, 2, [0]), "step numbers go back"),
        (("EVICTION", 4, 1, 2, [0]), "time goes back"),
        (("EVICTION", 5, 3, 2, [0]), "step numbers have gaps"),
    ):
        assert fault in changes.numbering_fault(CASE, events_of(first, second, wrong))

    events = events_of(("INSERTION", 0, 0, None, [0]), ("EVICTION", 5, 1, None, [0]))
    assert changes.numbering_fault(EVENTS, events) is None
    assert "have gaps" in changes.numbering_fault(EVENTS, events[1:])
    assert "time goes back" in changes.numbering_fault(
        EVENTS, events_of(("INSERTION", 6, 0, None, [0]), ("EVICTION", 5, 1, None, [0]))
    )
    same = events_of(("INSERTION", 0, 0, 0, [0]), ("EVICTION", 5, 1, 1, [0]))
    assert changes.difference_of_outputs(events, same) is None
    assert "only changes() []" in changes.difference_of_outputs(events, same[:1])
    assert "only events() has []" in changes.difference_of_outputs(events[:1], same)

    def values(*numbers: tuple[int, int]) -> list:
        return [changes.Event("v", "{}", "insert", at, n, None, [], []) for at, n in numbers]

    assert changes.fault_of_values(VALUES, values((0, 0), (5, 2))) is None
    assert "stand twice" in changes.fault_of_values(VALUES, values((0, 0), (5, 0)))
    assert "time goes back" in changes.fault_of_values(VALUES, values((5, 0), (0, 2)))


def test_a_run_without_cases_fails(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "absent"):
        result = run("task", path)
        assert result.returncode == 2
        assert "passed" not in result.stdout


@pytest.mark.parametrize(
    ("changed", "unknown"),
    [
        ({"options": {"jump": 1}}, "jump"),
        ({"input": [{"at": 0, "op": "reset"}]}, "op"),
        ({"input": [{"at": 0, "punct": "row"}]}, "row"),
    ],
)
def test_a_case_with_a_key_that_no_engine_reads_is_refused(
    tmp_path: Path, changed: dict, unknown: str
) -> None:
    file = tmp_path / "unknown.jsonl"
    file.write_text(json.dumps({**CASE, **changed}), encoding="utf-8")
    result = run("task", file)
    assert result.returncode == 2
    assert f"one-row has unknown keys: {unknown}" in result.stderr
