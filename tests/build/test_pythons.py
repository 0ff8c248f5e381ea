"""`make test-pythons` fails if a version that it is given is missing."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.support.paths import ROOT

DECLARED = re.findall(
    r'"Programming Language :: Python :: (3\.\d+)"', (ROOT / "pyproject.toml").read_text()
)
# Makes an environment with itself as its Python, and accepts every other command.
PYTHON = """#!/usr/bin/env bash
if [[ "$1 $2" == "-m venv" ]]; then mkdir -p "$3/bin" && cp "$0" "$3/bin/python"; fi
"""
# No version of pyenv.
PYENV = """#!/usr/bin/env bash
mkdir -p "$(dirname "$0")/versions" && dirname "$0"
"""


@pytest.mark.parametrize(
    ("given", "missing", "code"),
    [([], DECLARED[-1], 0), (["3.98"], None, 0), (["3.98", "3.99"], "3.99", 1)],
)
def test_a_version_that_is_given_must_be_found(
    tmp_path: Path, given: list[str], missing: str | None, code: int
) -> None:
    found = [version for version in given or DECLARED if version != missing]
    programs = {f"python{version}": PYTHON for version in found} | {"pyenv": PYENV}
    if not given:
        programs[f"python{missing}"] = "#!/usr/bin/env bash\nexit 127\n"
    for name, text in programs.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    done = subprocess.run(
        [ROOT / "tests/compatibility/releases/pythons", *given],
        env={**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    reported = re.findall(r"Python (\S+): not found, not tried", done.stdout)
    assert reported == ([missing] if missing else []), done.stdout + done.stderr
    assert done.returncode == code, done.stdout + done.stderr
