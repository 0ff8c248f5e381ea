"""Pages name the version of winops in VERSION, and `make docs` writes it into all of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from release import pages
from release.versions import version

from tests.support.paths import ROOT

NAMING = ("docs/install.md", "docs/platforms.md", ".github/ISSUE_TEMPLATE/bug_report.yml")


@pytest.mark.parametrize("page", pages.pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_names_this_version(page: Path) -> None:
    text = page.read_text()
    assert pages.with_version(text, version()) == text, "`make docs` writes the version"


@pytest.mark.parametrize("name", NAMING)
def test_another_version_replaces_this_one_in_each_place(name: str) -> None:
    text = (ROOT / name).read_text()
    this = re.compile(rf"(?<![\d.]){re.escape(version())}(?!\.?\d)")
    lines = [line for line in text.splitlines() if "winops" in line or "JAR" in line]
    places = sum(len(this.findall(line)) for line in lines)
    assert places > 0
    changed = pages.with_version(text, "99.98.97")
    assert changed.count("99.98.97") == places
    assert pages.with_version(changed, version()) == text


def test_only_these_pages_name_a_version() -> None:
    found = {
        str(page.relative_to(ROOT))
        for page in pages.pages()
        if "99.98.97" in pages.with_version(page.read_text(), "99.98.97")
    }
    assert found == set(NAMING)
