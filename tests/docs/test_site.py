"""The documentation site: its navigation, its versions, and what it loads."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path
from types import ModuleType

import pytest

from tests.support.paths import ROOT

DOCS = ROOT / "docs"


def versions() -> ModuleType:
    """Load the program that make site runs after Sphinx."""
    spec = importlib.util.spec_from_file_location("versions", DOCS / "versions.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_page_has_one_place_in_the_navigation() -> None:
    named = re.findall(r"(?:file|root): (\S+)", (DOCS / "_toc.yml").read_text())
    pages = [*DOCS.glob("**/*.md"), *DOCS.glob("**/*.ipynb")]
    inside = {str(page.relative_to(ROOT).with_suffix("")) for page in pages}
    assert sorted(name for name in named if name.startswith("docs/")) == sorted(inside)
    assert all((ROOT / f"{name}.md").is_file() for name in set(named) - inside)


def test_settings_of_winops_are_documented() -> None:
    sources = (ROOT / "jvm/spark/src/main").rglob("*.scala")
    named = (re.findall(r'"(spark\.winops\.[\w.]+)"', file.read_text()) for file in sources)
    settings = {setting for settings in named for setting in settings}
    assert settings
    page = (DOCS / "settings.md").read_text()
    assert set(re.findall(r"^\| `(spark\.winops\.[\w.]+)`", page, re.MULTILINE)) == settings


def test_the_newest_version_is_the_first_page(tmp_path: Path) -> None:
    for version in ("0.9.0", "0.10.0", "0.10.0-rc.1"):
        (tmp_path / version / "docs").mkdir(parents=True)
        (tmp_path / version / "docs" / "index.html").touch()
    versions().main(tmp_path)
    listed = json.loads((tmp_path / "versions.json").read_text())
    assert [entry["version"] for entry in listed] == ["0.10.0", "0.10.0-rc.1", "0.9.0"]
    assert 'href="0.10.0/docs/index.html"' in (tmp_path / "index.html").read_text()


@pytest.mark.parametrize("file", sorted((ROOT / "docs").glob("**/*.ipynb")), ids=lambda f: f.stem)
def test_a_notebook_shows_output_and_no_state_of_a_run(file: Path) -> None:
    notebook = json.loads(file.read_text())
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert any(cell["outputs"] for cell in cells)
    assert all(cell["execution_count"] is None for cell in cells)
