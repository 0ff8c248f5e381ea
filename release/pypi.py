"""Checks of the metadata of the wheel: versions that PyPI refuses, links that its page breaks."""

from __future__ import annotations

import re
import zipfile
from email.parser import Parser
from pathlib import Path

# The newest metadata version that each release of pypa/gh-action-pypi-publish accepts, by the
# version of twine in it.
ACCEPTED = {"v1.12.4": "2.4", "v1.13.0": "2.4", "v1.14.2": "2.5"}

_ACTION = re.compile(r"pypa/gh-action-pypi-publish@(\S+)")
_LINKS = (
    # [text](target) and ![text](target)
    re.compile(r"\]\(([^)\s]+)"),
    # [name]: target
    re.compile(r"^\[[^\]]+\]:\s*(\S+)", re.MULTILINE),
    re.compile(r"""(?:href|src)=["']([^"']+)"""),
)
_BLOCK = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def accepted_version(workflow: str) -> str:
    """Return the newest metadata version that the upload action of a workflow takes."""
    (action,) = _ACTION.findall(workflow)
    if action not in ACCEPTED:
        raise ValueError(
            f"pypa/gh-action-pypi-publish@{action} is not in ACCEPTED of release/pypi.py: add "
            "the newest metadata version that its twine takes"
        )
    return ACCEPTED[action]


def relative_links(markdown: str) -> list[str]:
    """Return the targets of links and pictures that have no host."""
    text = _BLOCK.sub("", markdown)
    targets = [target for pattern in _LINKS for target in pattern.findall(text)]
    return [target for target in targets if not target.startswith(("https://", "http://"))]


def metadata_problems(metadata: str, accepted: str) -> list[str]:
    """Return the problems of the text of a METADATA file."""
    message = Parser().parsestr(metadata)
    problems = []
    version = message["Metadata-Version"]
    if _numbers(version) > _numbers(accepted):
        problems.append(f"Metadata-Version is {version}; the upload takes at most {accepted}")
    if not message.get_all("Project-URL"):
        problems.append("there is no Project-URL")
    description = message.get_payload()
    if not description:
        problems.append("there is no description")
    problems += [f"{link} is a relative link" for link in relative_links(str(description))]
    return problems


def metadata_of(wheel: Path) -> str:
    """Return the text of the METADATA file of a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return archive.read(name).decode()


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".")]
