"""Puts the JARs and the list of Spark versions into the wheel, and README into its metadata.

The JARs therefore cannot be of another version than the package.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

_RELATIVE_LINK = re.compile(
    r"(?P<picture>!?)\[(?P<text>[^\]]*)\]\((?!https?:)(?P<target>[^)]+)\)"
)


class JarBuildHook(BuildHookInterface):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        # A checkout can be installed before its JARs are built, and built again afterwards.
        if version == "editable":
            return
        release = self.metadata.version
        lines = Path(self.root, "spark-versions.json")
        build_data["force_include"][str(lines)] = f"winops/{lines.name}"
        versions = json.loads(lines.read_text(encoding="utf-8"))
        for spark in versions:
            name = f"winops_{spark['minor']}_2.13-{release}.jar"
            jar = Path(self.root, "target", "jars", name)
            if not jar.is_file():
                raise RuntimeError(
                    f"The wheel needs the JAR of each Spark version in spark-versions.json. "
                    f"target/jars/{name} is missing. Run `make jars` first."
                )
            build_data["force_include"][str(jar)] = f"winops/jars/{name}"


class ReadmeMetadataHook(MetadataHookInterface):
    """Sets the description to README with links to the repository at the tag of the version.

    PyPI shows the description on a page that has no other files of the checkout.
    """

    def update(self, metadata: dict[str, Any]) -> None:
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {
            "content-type": "text/markdown",
            "text": with_absolute_links(
                text, metadata["urls"]["Repository"], f"v{metadata['version']}"
            ),
        }


def with_absolute_links(markdown: str, repository: str, tag: str) -> str:
    """Return README with its relative links and pictures taken from the repository at a tag."""

    def absolute(link: re.Match[str]) -> str:
        target = link["target"]
        path = f"README.md{target}" if target.startswith("#") else target
        kind = "raw" if link["picture"] else "blob"
        return f"{link['picture']}[{link['text']}]({repository}/{kind}/{tag}/{path})"

    return _RELATIVE_LINK.sub(absolute, markdown)
