"""A real browser without a display."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

# The names of the packages of Debian, Ubuntu and Google.
NAMES = ("chromium", "chromium-browser", "google-chrome")
BROWSER = next(filter(None, map(shutil.which, NAMES)), None)

in_a_browser = pytest.mark.skipif(BROWSER is None, reason="chromium is not installed")


def dom_and_picture(address: str, folder: Path, width: int, height: int) -> tuple[str, Path]:
    """Open a page; return its elements as the browser reads them, and a PNG of the page."""
    if BROWSER is None:
        raise FileNotFoundError("chromium")
    picture = folder / "page.png"
    common = [
        BROWSER,
        "--headless=new",
        # The sandbox cannot be used by root, as whom containers run tests.
        "--no-sandbox",
        "--disable-gpu",
        "--hide-scrollbars",
        f"--user-data-dir={folder / 'profile'}",
        f"--window-size={width},{height}",
    ]
    run = {"capture_output": True, "text": True, "timeout": 300, "check": True}
    subprocess.run([*common, f"--screenshot={picture}", address], **run)
    dom = subprocess.run([*common, "--dump-dom", address], **run)
    return dom.stdout, picture
