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
    picture = picture_of(address, folder, width, height)
    return _browse(folder, width, height, "--dump-dom", address), picture


def picture_of(
    address: str, folder: Path, width: int, height: int, *, dark: bool = False
) -> Path:
    """Open a page for a reader who prefers light or dark colours; return a PNG of the page."""
    picture = folder / "page.png"
    scheme = 0 if dark else 1
    options = [f"--blink-settings=preferredColorScheme={scheme}", f"--screenshot={picture}"]
    _browse(folder, width, height, *options, address)
    return picture


def _browse(folder: Path, width: int, height: int, *options: str) -> str:
    if BROWSER is None:
        raise FileNotFoundError("chromium")
    command = [
        BROWSER,
        "--headless=new",
        # The sandbox cannot be used by root, as whom containers run tests.
        "--no-sandbox",
        "--disable-gpu",
        "--hide-scrollbars",
        f"--user-data-dir={folder / 'profile'}",
        f"--window-size={width},{height}",
        *options,
    ]
    run = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    return run.stdout
