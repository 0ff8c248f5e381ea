"""Puts the JAR into the wheel, so that the two cannot be of different versions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class JarBuildHook(BuildHookInterface):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        # A checkout can be installed before its JAR is built, and rebuilt without a new install.
        if version == "editable":
            return
        release = self.metadata.version
        folder = Path(self.root, "target", "jars")
        jars = sorted(folder.glob("winops_*.jar"))
        if len(jars) != 1 or not jars[0].name.endswith(f"-{release}.jar"):
            found = ", ".join(jar.name for jar in jars) or "none"
            raise RuntimeError(
                f"The wheel needs exactly one JAR of version {release}, "
                f"target/jars/winops_*-{release}.jar. Found: {found}. Run `make jar` first."
            )
        build_data["force_include"][str(jars[0])] = f"winops/jars/{jars[0].name}"
