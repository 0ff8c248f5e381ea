"""The flights example, on a few days."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pandas as pd
import pytest
from matplotlib.image import imread

from tests.support.browser import BROWSER, dom_and_picture, in_a_browser
from tests.support.paths import ROOT
from tests.support.programs import run_program
from tests.support.transports import on_classic_spark

SCRIPT = ROOT / "examples" / "flights.py"
OPTIONS = ("--days", "3", "--files", "6")
NAMES = ("airports", "carriers")
PNG = b"\x89PNG\r\n\x1a\n"

pytestmark = [on_classic_spark, pytest.mark.built, pytest.mark.longer]


def run(out: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return run_program(SCRIPT, "--out", str(out), "--day", "2013-07-03", *options)


def committed(out: Path) -> dict[str, int]:
    return {
        commits.parent.name: len(list(commits.glob("[0-9]*")))
        for commits in out.glob("checkpoints/*/commits")
    }


@dataclass(frozen=True)
class Demo:
    """A run that has ended but for Spark's UI.

    Attributes
    ----------
    live
        What the tab showed as JSON while the queries ran.
    dom, picture
        The tab in the browser, after three micro-batches; None without a browser.
    """

    out: Path
    output: str
    progress: str
    live: dict[str, Any]
    dom: str | None
    picture: Path | None


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    out = tmp_path_factory.mktemp("flights")
    command = [sys.executable, str(SCRIPT), "--out", str(out), "--day", "2013-07-03", *OPTIONS]
    dom, picture, live = None, None, {}
    log, progress = out / "stdout", out / "stderr"
    with (
        log.open("w") as stdout,
        progress.open("w") as stderr,
        subprocess.Popen([*command, "--stay"], stdout=stdout, stderr=stderr) as run,
    ):
        try:
            deadline = time.monotonic() + 600
            while "until Ctrl-C" not in (lines := progress.read_text()):
                assert run.poll() is None, lines
                assert time.monotonic() < deadline, lines
                # Three micro-batches of each query have ended.
                if not live and all(f"{name:<9} batch 3 of" in lines for name in NAMES):
                    address = re.findall(r"live: (\S+)", lines)[0]
                    with urlopen(f"{address}json/", timeout=60) as answer:
                        live = json.load(answer)
                    if BROWSER:
                        folder = tmp_path_factory.mktemp("browser")
                        dom, picture = dom_and_picture(address, folder, 1400, 1000)
                time.sleep(0.2)
        finally:
            run.send_signal(signal.SIGINT)
    assert run.returncode == 0, progress.read_text()
    return Demo(out, log.read_text(), progress.read_text(), live, dom, picture)


@in_a_browser
def test_the_tab_shows_both_windows_in_a_browser(demo: Demo) -> None:
    assert demo.dom is not None
    assert demo.picture is not None
    assert sorted(re.findall(r"<h4>(\w+)</h4>", demo.dom)) == list(NAMES)
    text = re.sub("<.*?>", "", demo.dom)
    assert "For each carrier, keeps the newest 20 rows." in text
    assert "For each origin, keeps each row for 1 hour." in text
    assert "EWR" in demo.dom
    assert demo.dom.count("<svg") == 20
    # The text of a script or style would show up as text if its element were broken.
    shown = re.sub("(?s)<(style|script).*?</(style|script)>", "", demo.dom)
    assert "{" not in re.sub("<.*?>", "", shown)
    # Each tile is a white area with a border; lines of the rows held are blue.
    pixels = imread(demo.picture)[:, :, :3]
    assert pixels.shape == (1000, 1400, 3)
    blue = (abs(pixels - [31 / 255, 111 / 255, 178 / 255]) < 0.04).all(axis=2)
    assert blue.sum() > 100


# Counts the texts that are wider than their cards, or reach out of the page.
MEASURE = """<script>
const texts = document.querySelectorAll(".winops-tile > span, .winops-query header > *");
const wide = [...texts].filter(one => one.scrollWidth > one.clientWidth + 1
  || one.getBoundingClientRect().right > one.parentElement.getBoundingClientRect().right + 1);
const page = document.documentElement;
document.body.id = `${texts.length} ${wide.length} ${page.scrollWidth - page.clientWidth}`;
</script>"""


@in_a_browser
@pytest.mark.parametrize("width", [480, 800, 1400])
def test_large_numbers_fit_into_their_cards(demo: Demo, tmp_path: Path, width: int) -> None:
    assert demo.dom is not None
    [tab] = re.findall('(?s)<div class="winops">.*</section>\\s*</div>', demo.dom)
    large = re.sub('(<span class="winops-value">)[^<]*', "\\g<1>9,999,999", tab)
    large = re.sub("(<span>m(?:in|ax) )[^<]*", "\\g<1>12,345.6 M", large)
    page = tmp_path / "tab.html"
    page.write_text(f"<!doctype html><body>{large}{MEASURE}</body>")
    dom, _ = dom_and_picture(page.as_uri(), tmp_path, width, 2000)
    [(texts, wide, beyond)] = re.findall(r'<body id="(\d+) (\d+) (\d+)"', dom)
    assert int(texts) > 40
    assert (wide, beyond) == ("0", "0")


def test_the_tab_shows_the_queries_while_they_run(demo: Demo) -> None:
    queries = {query["name"]: query for query in demo.live["queries"]}
    assert sorted(queries) == list(NAMES)
    assert "running" in {query["status"] for query in queries.values()}
    [airports] = queries["airports"]["windows"]
    assert {group["group"] for group in airports["largestGroups"]} == {"EWR", "JFK", "LGA"}
    assert airports["metrics"]["rowsHeld"] == airports["history"][-1]["rowsHeld"] > 0


def test_the_page_of_the_demo_is_complete(demo: Demo) -> None:
    page = (demo.out / "index.html").read_text()
    assert f"page: {(demo.out / 'index.html').as_uri()}" in demo.output
    assert page.count("<svg") >= 3 + 20
    assert "For each <code>carrier</code>, keeps the newest 20 rows." in page
    # Counted by hand from the data: the first departure from JFK, and a bar for each of 28.
    assert "The first departure was at 05:38" in page
    assert page.count('id="bar-0-') == 28
    # It needs neither the network nor scripts.
    assert not re.search(r"<script|<link|src=|@import", page)


def test_flights_checks_itself_and_reports(demo: Demo) -> None:
    tmp_path, options = demo.out, OPTIONS
    assert "self-check passed" in demo.output
    # Counted by hand from the data: departures from EWR, JFK and LGA from 08:01 to 09:00.
    assert [line.split() for line in demo.output.splitlines() if line.startswith("09:00")] == [
        ["09:00", "23", "28", "24"]
    ]
    assert (tmp_path / "flights-2013-07-03.png").read_bytes().startswith(PNG)
    assert "airports  batch 6 of 6" in demo.progress

    # A second run finds no new files. An altered row then differs from the streams' input.
    batches = committed(tmp_path)
    file = tmp_path / "departures" / "data" / "0001.parquet"
    rows = pd.read_parquet(file)
    rows.loc[7, "dest"] = "XXX"
    rows.to_parquet(file, index=False, coerce_timestamps="us")
    second = run(tmp_path, *options)
    assert committed(tmp_path) == batches
    assert second.returncode == 1, second.stdout + second.stderr
    # The insert and the delete of that row, and nothing else.
    assert "self-check FAILED: airports: changes: 2 too many" in second.stderr
    assert "self-check FAILED: carriers: changes: 2 missing" in second.stderr
    assert second.stderr.count("self-check FAILED") == 4


def test_flights_on_the_hdfs_backed_state_store(tmp_path: Path) -> None:
    job = run(tmp_path, "--days", "1", "--files", "2", "--provider", "hdfs")
    assert job.returncode == 0, job.stdout + job.stderr
    assert "self-check passed" in job.stdout


def test_other_options_on_the_same_directory_are_refused(tmp_path: Path) -> None:
    (tmp_path / "departures").mkdir()
    (tmp_path / "departures" / "manifest.json").write_text("{}")
    refused = run(tmp_path, "--days", "1", "--files", "2")
    assert refused.returncode == 2
    assert "was prepared with {}" in refused.stderr
