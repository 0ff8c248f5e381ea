"""Puts the JARs and the list of Spark versions into the wheel.

The JARs therefore cannot be of another version than the package.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


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
