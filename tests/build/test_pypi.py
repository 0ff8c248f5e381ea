"""The metadata of the wheel and the source archive: the version of its form, and its links."""

from __future__ import annotations

import re
from email.parser import Parser
from pathlib import Path

import pytest
from hatchling.builders.plugin.interface import BuilderInterface
from hatchling.builders.sdist import SdistBuilder
from hatchling.builders.wheel import WheelBuilder
from release import pypi
from release.versions import version

from tests.support.paths import ROOT

WORKFLOW = (ROOT / ".github/workflows/release.yml").read_text()


def metadata(builder: type[BuilderInterface]) -> str:
    made = builder(str(ROOT))
    return str(made.config.core_metadata_constructor(made.metadata))


@pytest.mark.parametrize("builder", [WheelBuilder, SdistBuilder])
def test_the_upload_takes_the_version_of_the_metadata(builder: type[BuilderInterface]) -> None:
    found = Parser().parsestr(metadata(builder))["Metadata-Version"]
    accepted = pypi.accepted_version(WORKFLOW)
    assert [int(part) for part in found.split(".")] <= [int(part) for part in accepted.split(".")]


def test_metadata_that_is_too_new_is_a_problem() -> None:
    text = "Metadata-Version: 2.5\nProject-URL: Home, https://example.com\n\nA package.\n"
    assert pypi.metadata_problems(text, "2.5") == []
    (problem,) = pypi.metadata_problems(text, "2.4")
    assert problem == "Metadata-Version is 2.5; the upload takes at most 2.4"


def test_an_unknown_release_of_the_upload_action_is_refused() -> None:
    with pytest.raises(ValueError, match="is not in ACCEPTED"):
        pypi.accepted_version("- uses: pypa/gh-action-pypi-publish@v0.0.1")


@pytest.mark.parametrize("builder", [WheelBuilder, SdistBuilder])
def test_the_page_of_pypi_has_no_relative_link(builder: type[BuilderInterface]) -> None:
    text = metadata(builder)
    assert pypi.metadata_problems(text, pypi.accepted_version(WORKFLOW)) == []
    description = str(Parser().parsestr(text).get_payload())
    readme = (ROOT / "README.md").read_text()
    assert description.splitlines()[0] == readme.splitlines()[0]
    of_checkout = pypi.relative_links(readme)
    assert len(of_checkout) > 10
    for target in of_checkout:
        path = target.partition("#")[0]
        assert (ROOT / path).is_file(), target
        kind = "raw" if path.endswith(".svg") else "blob"
        assert f"](https://github.com/winops/winops/{kind}/v{version()}/{target})" in description


@pytest.mark.parametrize(
    "text",
    [
        "[a](docs/a.md)",
        "![a](a.svg)",
        "[a](#part)",
        "[a]: docs/a.md",
        '<img src="a.svg">',
        "<a href='docs/a.md'>",
    ],
)
def test_a_relative_link_of_each_form_is_found(text: str) -> None:
    (found,) = pypi.relative_links(f"[x](https://example.com)\n{text}\n")
    assert found in text
    assert pypi.relative_links(f"```\n{text}\n```\n") == []


def test_the_package_and_the_pom_name_the_same_repository() -> None:
    (pom,) = re.findall(r'page = "(.*)"', (ROOT / "project/Publishing.scala").read_text())
    urls = Parser().parsestr(metadata(WheelBuilder)).get_all("Project-URL")
    assert f"Repository, {pom}" in urls
    assert len(urls) >= 4
    assert all(url.split(", ")[1].startswith(pom) for url in urls)


def test_files_of_the_repository_in_urls_exist() -> None:
    text = (ROOT / "pyproject.toml").read_text()
    files = re.findall(r"/blob/main/([^\"]+)", text)
    assert files
    assert [name for name in files if not Path(ROOT, name).is_file()] == []
