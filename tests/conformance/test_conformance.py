"""Every engine returns the answers that the conformance cases expect."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.paths import ROOT
from tests.support.transports import same_on_connect

RUNNER = ROOT / "tests" / "conformance" / "run.py"
OWN = ROOT / "tests" / "data" / "conformance"

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


def run(engine: str, path: Path, *options: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, str(RUNNER), "--engine", engine, *options, str(path)],
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        check=False,
    )


def cases_in(folder: Path) -> list[dict]:
    files = sorted(folder.rglob("*.jsonl"))
    return [json.loads(line) for file in files for line in file.read_text("utf-8").splitlines()]


def check_all_passed(result: subprocess.CompletedProcess, passed: int) -> None:
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout.splitlines()[-1] == f"{passed} passed, 0 failed"


# The numbers of cases that run neither on a table nor on a stream, in a sample and in all.
LEFT_OUT = {
    ("batch", 40): 3,
    ("stream", 40): 1,
    ("arrival", 40): 3,
    ("batch", None): 23,
    ("stream", None): 10,
    ("arrival", None): 27,
}
# The numbers of compared rows of the sample.
DIALECTS = ["apama", "ccl", "esper", "spl"]
COMPARED = {
    "batch": {"rows compared": 2371, "not compared: rows after the last input": 31},
    "stream": {"rows compared": 2492},
    "arrival": {"rows compared": 2402},
}


def counts(result: subprocess.CompletedProcess) -> dict[str, int]:
    """Return the numbers at the start of each line except the last."""
    lines = result.stdout.splitlines()[:-1]
    found = [re.fullmatch(r"(\d+) ((?:cases left|not compared|rows).*)", line) for line in lines]
    return {match[2]: int(match[1]) for match in found if match}


@same_on_connect
@pytest.mark.parametrize("save", ["never", "always", "11"])
def test_the_machine_gives_the_expected_answers(save: str) -> None:
    """The machine returns every row that the cases of all four dialects expect."""
    result = run("core", OWN, "--save", save)
    check_all_passed(result, len(cases_in(OWN)))
    assert counts(result) == {
        "rows compared": 37056,
        "not compared: values of groups that a hint drops": 10,
        "not compared: steps before the first row": 35,
        "not compared: NULL as the key of a group before its first row": 11,
    }


@pytest.mark.parametrize(
    ("engine", "options"),
    [
        ("batch", []),
        pytest.param("stream", ["--batches", "3", "--seed", "5"], marks=same_on_connect),
        pytest.param(
            "stream",
            ["--batches", "3", "--seed", "6", "--apply", "arrival"],
            marks=same_on_connect,
        ),
    ],
    ids=["batch", "stream", "stream-arrival"],
)
def test_spark_gives_the_expected_answers(engine: str, options: list[str]) -> None:
    """Spark returns every expected row, of a sample; `make conformance` compares all cases."""
    sample = None if os.environ.get("WINOPS_CONFORMANCE") == "all" else 40
    result = run(engine, OWN, *options, *([] if sample is None else ["--sample", str(sample)]))
    found = counts(result)
    way = "arrival" if "arrival" in options else engine
    left_out = LEFT_OUT[way, sample]
    assert sum(n for what, n in found.items() if what.startswith("cases")) == left_out
    check_all_passed(result, (sample or len(cases_in(OWN))) - left_out)
    assert re.findall(r"(\w+): \d+ cases", result.stdout) == DIALECTS
    if sample is not None:
        assert {what: n for what, n in found.items() if "cases" not in what} == COMPARED[way]


@same_on_connect
@pytest.mark.parametrize("engine", ["core", "batch", "stream"])
def test_a_wrong_answer_is_found(tmp_path: Path, engine: str) -> None:
    wrong = [
        CASE,
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
    ]
    file = tmp_path / "wrong.jsonl"
    file.write_text("\n".join(map(json.dumps, wrong)), encoding="utf-8")
    result = run(engine, file)
    assert result.returncode == 1, result.stderr
    reported = [line.partition(":")[0] for line in result.stdout.splitlines()]
    assert [name for name in reported if name in {c["name"] for c in wrong}] == [
        case["name"] for case in wrong[1:]
    ]
    assert re.search(r"\n1 passed, 7 failed\n\Z", result.stdout)


def test_a_run_without_cases_fails(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "absent"):
        result = run("core", path)
        assert result.returncode == 2
        assert "passed" not in result.stdout
