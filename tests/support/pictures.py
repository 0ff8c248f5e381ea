"""The program that draws the pictures of the documentation."""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType

from tests.support.paths import ROOT


def make_windows() -> ModuleType:
    """Import ``docs/images/make_windows.py``, which is in no package."""
    path = ROOT / "docs" / "images" / "make_windows.py"
    spec = importlib.util.spec_from_file_location("make_windows", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
