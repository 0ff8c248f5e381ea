"""Programs for other versions of Spark leave out only the aggregates that are known to fail."""

from __future__ import annotations

import re

import pytest

from tests.compatibility.releases import smoke
from tests.compatibility.releases.smoke import check_left_out
from tests.support.paths import ROOT

SKETCHES = set(smoke._SKETCHES)


@pytest.mark.parametrize(
    ("lacking", "failing", "minor", "java", "problem"),
    [
        (set(), set(), "4.1", 17, None),
        (set(), SKETCHES, "4.2", 25, None),
        (set(), {"theta_sketch_agg"}, "4.2", 25, None),
        (set(), SKETCHES, "4.2", 21, "fails to compute"),
        (set(), SKETCHES, "4.3", 25, "fails to compute"),
        (set(), {"sum"}, "4.2", 25, r"fails to compute \['sum'\]"),
        ({"theta_sketch_agg"}, set(), "4.2", 25, r"has no \['theta_sketch_agg'\]"),
    ],
)
def test_aggregates_are_left_out_where_they_are_known_to_fail(
    capsys: pytest.CaptureFixture[str],
    lacking: set[str],
    failing: set[str],
    minor: str,
    java: int,
    problem: str | None,
) -> None:
    if problem is None:
        check_left_out(lacking, failing, minor, java)
    else:
        with pytest.raises(AssertionError, match=problem):
            check_left_out(lacking, failing, minor, java)
    printed = capsys.readouterr().out
    assert all(name in printed for name in lacking | failing)
    assert bool(printed) == bool(lacking | failing)


def test_an_aggregate_that_a_version_lacks_is_listed_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(smoke, "_LACKING", {"4.1": {"theta_sketch_agg"}})
    check_left_out({"theta_sketch_agg"}, set(), "4.1", 17)
    with pytest.raises(AssertionError, match="which _LACKING does not list"):
        check_left_out({"theta_sketch_agg"}, set(), "4.2", 17)


def test_the_page_names_the_java_without_sketches() -> None:
    page = (ROOT / "docs/compatibility.md").read_text()
    named = re.findall(r"Sketches \(.*?\) fail on Java (\d+) with Spark ([\d.]+),", page)
    assert {(minor, int(java)) for java, minor in named} == smoke._WITHOUT_SKETCHES
