"""The metadata of the wheel and the source archive: the version of its form, and its links."""

from __future__ import annotations

from email.parser import Parser

import pytest
from hatchling.builders.plugin.interface import BuilderInterface
from hatchling.builders.sdist import SdistBuilder
from hatchling.builders.wheel import WheelBuilder
from release import pypi

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
