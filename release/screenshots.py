"""Takes the screenshots of the pages, and others to look at before a release.

usage: python -m release.screenshots [--no-demo] [--no-site]

Those of the pages go to docs/images: the tab Windows on the flights example, and ``explain`` in
a terminal. artifacts/screenshots has those and, in both colour schemes, ``explain`` as a page and
pages of the site, which ``make site`` has to build before.
"""

from __future__ import annotations

import argparse
import re
import shutil
import signal
import subprocess
import sys
import time
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image, ImageChops
from rich.console import Console
from rich.terminal_theme import DEFAULT_TERMINAL_THEME, MONOKAI, TerminalTheme
from tests.support.browser import picture_of

from release.versions import ROOT
from winops._tools.explain import explain

IMAGES = ROOT / "docs" / "images"
OUT = ROOT / "artifacts" / "screenshots"
MOST_BYTES = 200_000
COLOURS = 128
TAB_HEIGHT = 930
POLICY = "KEEP 3 ROWS SLACK 2 PER (symbol)"
COLUMNS = 98
# The tab is taken when each query has run this many micro-batches of the year.
BATCHES = 36
QUERIES = ("airports", "carriers")
TERMINAL = """<!doctype html><meta charset="utf-8"><style>
body {{ margin: 24px; background: {background}; color: {foreground}; }}
pre {{ font: 15px/1.3 "DejaVu Sans Mono", monospace; margin: 0; }}
{stylesheet}</style><pre>{code}</pre>
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--no-demo", action="store_true", help="without the tab Windows")
    parser.add_argument("--no-site", action="store_true", help="without the site")
    options = parser.parse_args()
    OUT.mkdir(parents=True, exist_ok=True)
    explain_in_a_terminal()
    explain_as_a_page()
    if not options.no_site:
        pages_of_the_site()
    if not options.no_demo:
        tab_windows()


def explain_in_a_terminal() -> None:
    """Take what ``python -m winops explain`` prints, on a white and on a black terminal."""
    for name, theme in (("explain", DEFAULT_TERMINAL_THEME), ("explain-dark", MONOKAI)):
        console = Console(
            record=True,
            width=COLUMNS,
            file=StringIO(),
            force_terminal=True,
            highlight=False,
            markup=False,
            emoji=False,
        )
        console.print(f'$ python -m winops explain "{POLICY}"\n', markup=False)
        explain(POLICY).show(console)
        page = OUT / f"{name}.html"
        page.write_text(_html(console, theme), encoding="utf-8")
        take(page.as_uri(), name, 1000, 800, crop=True)
    shutil.copy(OUT / "explain.png", IMAGES)


def _html(console: Console, theme: TerminalTheme) -> str:
    return console.export_html(theme=theme, clear=False, code_format=TERMINAL)


def explain_as_a_page() -> None:
    """Take what ``explain --html`` writes."""
    page = OUT / "explain-page.html"
    page.write_text(explain(POLICY).html(), encoding="utf-8")
    for scheme in ("light", "dark"):
        take(page.as_uri(), f"explain-page-{scheme}", 1000, 1250, dark=scheme == "dark")


def pages_of_the_site() -> None:
    """Take the start page and the page of windows, on a desk and on a phone."""
    version = (ROOT / "VERSION").read_text().strip()
    site = ROOT / "target" / "site" / "html" / version / "docs"
    for page in ("index", "start", "windows"):
        for scheme in ("light", "dark"):
            address = (site / f"{page}.html").as_uri()
            take(address, f"site-{page}-{scheme}", 1400, 1800, dark=scheme == "dark")
        take((site / f"{page}.html").as_uri(), f"site-{page}-narrow", 500, 1200)


def tab_windows() -> None:
    """Take the tab on the flights example while it runs."""
    with TemporaryDirectory() as folder, Path(folder, "log").open("w+") as log:
        command = [sys.executable, "examples/flights.py", "--out", folder]
        run = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log)
        try:
            while not all(f"{name:<9} batch {BATCHES} of" in said(log.name) for name in QUERIES):
                if run.poll() is not None:
                    raise SystemExit(said(log.name))
                time.sleep(0.5)
            [address] = re.findall(r"live: (\S+)", said(log.name))
            # Spark shows buttons to scroll at the bottom of the window, here below both queries.
            take(address, "windows-tab", 1400, 1200, cut=TAB_HEIGHT)
            take(address, "windows-tab-narrow", 480, 2200)
        finally:
            run.send_signal(signal.SIGINT)
            run.wait()
    shutil.copy(OUT / "windows-tab.png", IMAGES)


def said(log: str) -> str:
    return Path(log).read_text()


def take(
    address: str,
    name: str,
    width: int,
    height: int,
    *,
    dark: bool = False,
    crop: bool = False,
    cut: int | None = None,
) -> None:
    """Write a picture of a page, with few colours.

    `crop` cuts its margins down; `cut` is the height of the part at the top that is written.
    """
    with TemporaryDirectory() as folder:
        taken = Image.open(picture_of(address, Path(folder), width, height, dark=dark))
        picture = taken.convert("RGB").crop((0, 0, width, cut or height))
    if crop:
        empty = Image.new("RGB", picture.size, picture.getpixel((0, 0)))
        left, top, right, bottom = ImageChops.difference(picture, empty).getbbox()
        picture = picture.crop((left - 16, top - 16, right + 16, bottom + 16))
    file = OUT / f"{name}.png"
    picture.quantize(COLOURS, dither=Image.Dither.NONE).save(file, optimize=True)
    if file.stat().st_size > MOST_BYTES:
        raise SystemExit(f"{file} has more than {MOST_BYTES:,} bytes")
    print(f"{file.relative_to(ROOT)}: {file.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
