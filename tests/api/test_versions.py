"""The versions of Spark and Java that the package reads from spark-versions.json."""

from __future__ import annotations

import pytest

from tests.support.versions import SUPPORTED
from winops import _versions
from winops._tools.doctor import _java


@pytest.fixture
def others(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = {"4.10": {"java": [25, 21]}, "4.9": {"java": [21]}, "5.0": {"java": [25]}}
    monkeypatch.setattr(_versions, "_lines", lambda: lines)


@pytest.mark.usefixtures("others")
def test_versions_are_in_the_order_of_their_numbers() -> None:
    assert _versions.spark_versions() == ["4.9", "4.10", "5.0"]
    assert _versions.java_versions("4.10") == [21, 25]


@pytest.mark.usefixtures("others")
def test_the_doctor_takes_the_oldest_java_from_the_versions() -> None:
    assert _versions.oldest_java() == 21
    finding = _java("17.0.1", "4.9.0")
    assert (finding.status, finding.found) == ("error", "17.0.1")
    assert finding.remedy == "Install JDK 21 or later, and set JAVA_HOME to its folder."
    assert _java("21.0.1", "4.9.0").status == "ok"


def test_versions_of_this_package() -> None:
    assert _versions.spark_versions() == SUPPORTED
    assert _versions.oldest_java() == 17
