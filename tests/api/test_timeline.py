"""Pictures of windows: of change rows, of a keep, and of every window in the documentation."""

from __future__ import annotations

import io
import json
import re
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from pyspark.errors import AnalysisException, PySparkValueError
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from tests.support.pictures import make_windows
from tests.support.replay import NewReplay, at
from tests.support.transports import first_cases, longer_on_connect, same_on_connect
from winops import Timeline, esper, keep, spl, testing, timeline
from winops._tools.timeline import _figure
from winops.testing._process import WindowProcess

SVG = "{http://www.w3.org/2000/svg}"
ROWS = [{"n": i, "symbol": "AB"[i % 2]} for i in range(6)]


def titles(svg: str) -> list[str]:
    root = ElementTree.fromstring(svg)
    return [
        str(title.text)
        for group in root.iter(f"{SVG}g")
        for title in group.findall(f"{SVG}title")
    ]


def picture(policy: Any = "KEEP 2 ROWS PER (symbol)", **options: Any) -> Timeline:
    return timeline(testing.changes(ROWS, policy), **options)


def test_each_row_is_a_bar_from_its_insert_to_its_delete() -> None:
    lanes = picture(per="symbol").lanes
    assert [lane.name for lane in lanes] == ["symbol=A", "symbol=B"]
    first = lanes[0]
    assert [(bar.row["n"], bar.enters, bar.leaves, bar.reason) for bar in first.bars] == [
        (0, 0.0, 2.0, "displaced"),
        (2, 1.0, None, ""),
        (4, 2.0, None, ""),
    ]
    assert first.sizes() == [(0.0, 1), (1.0, 2), (2.0, 2)]


def test_equal_rows_leave_in_the_order_in_which_they_entered() -> None:
    changes = testing.changes([{"n": 1}, {"n": 1}, {"n": 1}], "KEEP 1 ROW")
    assert [bar.leaves for bar in timeline(changes).lanes[0].bars] == [1.0, 2.0, None]


def test_an_update_ends_a_bar_and_begins_another() -> None:
    names = ("type", "step", "seq", "row", "version", "reason")
    rows = [
        ("insert", 0, 0, 0, 0, "arrived", 10),
        ("refused", None, None, None, None, "not held", 20),
        ("update_before", 1, 1, 0, 1, "updated", 10),
        ("update_after", 1, 2, 0, 2, "updated", 15),
        ("delete", 2, 3, 0, 3, "deleted", 15),
    ]
    changes = [
        {f"_change_{name}": value for name, value in zip(names, row, strict=False)}
        | {"_change_time": None, "price": row[-1]}
        for row in rows
    ]
    bars = timeline(changes).lanes[0].bars
    assert [(bar.row, bar.enters, bar.leaves, bar.reason) for bar in bars] == [
        ({"price": 10}, 0.0, 1.0, "updated"),
        ({"price": 15}, 1.0, 2.0, "deleted"),
    ]


def test_a_picture_has_tooltips_and_the_same_bytes_each_time(
    tmp_path: Path,
) -> None:
    shown = picture(per="symbol", title="A <title>")
    svg = shown.svg()
    assert len(titles(svg)) == len(ROWS)
    assert titles(svg)[0] == "n=0, symbol=A\nentered: arrived, left: displaced"
    assert "A &lt;title&gt;" in svg
    assert svg == picture(per="symbol", title="A <title>").svg()
    assert shown.png().startswith(b"\x89PNG")
    page = shown.save(tmp_path / "window.html").read_text(encoding="utf-8")
    assert "<script" not in page
    # Names of namespaces are the only addresses.
    assert set(re.findall(r"https?://([^/\"]+)", page)) == {"www.w3.org"}
    assert shown.save(tmp_path / "window.svg").read_text(encoding="utf-8") == svg
    with pytest.raises(PySparkValueError, match=r"\.gif"):
        shown.save(tmp_path / "window.gif")


@pytest.mark.parametrize("sentences", [1, 4, 40])
@pytest.mark.parametrize("groups", [1, 6])
def test_the_whole_title_is_above_the_first_lane(sentences: int, groups: int) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    rows = [{"n": i, "symbol": i % groups} for i in range(40)]
    title = " ".join(["Keeps the newest 10 rows; keeps each row for 15 seconds."] * sentences)
    drawn = _figure(timeline(testing.changes(rows, "KEEP ALL"), per="symbol", title=title))
    renderer = FigureCanvasAgg(drawn).get_renderer()
    (caption,) = drawn.texts
    place = caption.get_window_extent(renderer)
    assert place.y1 <= drawn.bbox.y1
    assert place.x1 <= drawn.bbox.x1
    lane = next(axes for axes in drawn.axes if axes.get_title(loc="left"))
    first = lane.get_tightbbox(renderer)
    assert first is not None
    assert first.y1 < place.y0
    # A title that does not fit says so.
    assert caption.get_text().endswith("...") == (sentences == 40)


def test_a_terminal_shows_the_picture() -> None:
    from rich.console import Console

    out = io.StringIO()
    Console(width=80, file=out).print(picture(per="symbol"))
    lines = out.getvalue().splitlines()
    assert sum("displaced" in line for line in lines) == 2
    assert "symbol=A" in lines[0]


@pytest.mark.parametrize(
    ("changes", "words"), [([], "there are none"), ([{"n": 1}], "_change_type")]
)
def test_wrong_changes_are_refused(changes: list[Any], words: str) -> None:
    with pytest.raises(PySparkValueError, match=words):
        timeline(changes)


def test_too_many_changes_and_wrong_columns_are_refused() -> None:
    with pytest.raises(PySparkValueError, match="at most 400"):
        timeline(testing.changes([{"n": i} for i in range(401)], "KEEP ALL"))
    with pytest.raises(PySparkValueError, match=r"no column nothing\. .* are n, symbol\."):
        picture(per="nothing")
    with pytest.raises(PySparkValueError, match="no column typo"):
        picture(label="typo")


def test_a_keep_draws_its_changes_and_shows_itself_in_a_notebook(
    spark: SparkSession, replay: NewReplay
) -> None:
    df = spark.createDataFrame([(i, "AB"[i % 2]) for i in range(6)], "n long, symbol string")
    kept = keep(df.coalesce(1), "KEEP 2 ROWS PER (symbol)", order_by="n")
    assert kept.timeline().lanes == picture(per="symbol").lanes
    assert kept.timeline().title == "For each `symbol`, keeps the newest 2 rows."
    shown = kept._repr_html_()
    assert "For each `symbol`, keeps the newest 2 rows." in shown
    assert "<code>_change_reason</code>" in shown
    assert "displaced" in shown
    assert "<svg" in shown
    computed = keep(df.coalesce(1), esper("#groupwin(symbol, n > 2)#length(1)"), order_by="n")
    assert [lane.name for lane in computed.timeline().lanes] == [
        f"symbol={symbol}, (n > CAST(2 AS BIGINT))={is_more}"
        for symbol in "AB"
        for is_more in ("False", "True")
    ]
    stream = replay("n long, symbol string, ts timestamp")
    stream.add([(1, "A", at(0))])
    of_stream = keep(stream.rows(), esper("#time(9 min)"))
    assert "expired" in of_stream._repr_html_()
    with pytest.raises(PySparkValueError, match="is a stream"):
        of_stream.timeline()


@pytest.fixture
def no_second_jvm(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail a test that starts the process for tests."""
    monkeypatch.setattr(WindowProcess, "_started", lambda _: pytest.fail("a JVM was started"))


@longer_on_connect
@pytest.mark.usefixtures("no_second_jvm")
def test_the_jvm_of_the_session_runs_sample_rows(spark: SparkSession, replay: NewReplay) -> None:
    stream = replay("n long, symbol string, ts timestamp")
    for kept in (
        keep(stream.rows(), "KEEP 2 SECONDS PER (symbol)"),
        keep(spark.range(3), rows=2, order_by="id"),
        keep(
            spark.range(3),
            esper("#expr(newest_event.id - id < span)"),
            params={"span": Decimal("2.5")},
            order_by=F.desc("id"),
        ),
    ):
        assert "<svg" in kept._repr_html_()
    nested = spark.sql("SELECT 1L AS `a b`, array(named_struct('x y', 1)) AS list, 'x' AS `c,d`")
    assert "c,d=A" in keep(nested, rows=2, per="c,d", order_by="a b")._repr_html_()


def test_a_request_for_sample_rows_is_one_text(spark: SparkSession) -> None:
    with pytest.raises(AnalysisException, match=r"WINOPS_ARGUMENT\.VALUE.*winops_sample"):
        spark.sql("VALUES (winops_sample(1))").collect()
    (reply,) = spark.sql("VALUES (winops_sample('{}'))").collect()
    assert json.loads(reply[0])["error"]["condition"] == "WINOPS_ARGUMENT.MISSING"


@longer_on_connect
@pytest.mark.parametrize(
    ("policy", "more"),
    first_cases(
        [
            ({"a": "KEEP 2 ROWS", "b": 'KEEP "n" ROWS PER (symbol)'}, {"params": {"n": 3}}),
            ({"a": "KEEP 2 ROWS", "b": "KEEP 3 ROWS"}, {"per": "symbol"}),
            ({"a": "KEEP 2 ROWS PER (symbol)", "b": "KEEP 3 ROWS PER (symbol)"}, {}),
        ],
        short=1,
    ),
)
def test_several_windows_have_a_lane_for_each_group_and_window(
    spark: SparkSession, policy: dict[str, str], more: dict[str, Any]
) -> None:
    df = spark.createDataFrame([(i, "AB"[i % 2]) for i in range(6)], "n long, symbol string")
    lanes = ["symbol=A, a", "symbol=A, b", "symbol=B, a", "symbol=B, b"]
    kept = keep(df.coalesce(1), policy, order_by="n", **more)
    assert [lane.name for lane in kept.timeline().lanes] == lanes
    shown = kept._repr_html_()
    assert all(name in shown for name in lanes)


@longer_on_connect
def test_a_picture_of_sample_rows_has_the_arguments_of_the_call(spark: SparkSession) -> None:
    schema = "n long, mark string, ts timestamp"
    df = spark.createDataFrame([], schema)
    marked = keep(df, spl("tumbling, punct()"), punct="mark", order_by="n")
    assert "left: punctuation" in marked._repr_html_()
    timed = keep(df, "KEEP 3 SECONDS", time="ts", order_by=F.desc("n"))
    assert "left: expired" in timed._repr_html_()
    arriving = keep(df, esper("#length(2)"), time="ts", apply="arrival")
    assert "left: displaced" in arriving._repr_html_()


def test_values_are_plain_in_every_picture() -> None:
    rows = [{"name": f"a\n\x1b[31m{i}", "symbol": "x\ny"} for i in range(3)]
    shown = timeline(testing.changes(rows, "KEEP 2 ROWS"), per="symbol", title="A\x1b[2J")
    lines = shown.text().split("\n")
    assert len(lines) == 2 + len(rows)
    assert "\x1b" not in shown.text()
    assert "\x1b" not in shown.svg()


def test_a_bar_without_width_has_a_tooltip_at_its_marks() -> None:
    changes = testing.changes(ROWS, esper("select rstream * from T#length(1)"), per="symbol")
    shown = timeline(changes, per="symbol")
    bars = [bar for lane in shown.lanes for bar in lane.bars]
    assert bars
    assert all(bar.leaves == bar.enters for bar in bars)
    # The bar itself, its start and its line.
    assert len(titles(shown.svg())) == 3 * len(bars)


def test_a_notebook_without_matplotlib_shows_text(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = picture(per="symbol", title="A <title>")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match="pip install"):
        shown.svg()
    html = shown._repr_html_()
    assert html.startswith("<pre>A &lt;title&gt;")
    assert "displaced" in html


@pytest.mark.longer
@same_on_connect
def test_the_pictures_of_the_documentation_are_current() -> None:
    make = make_windows()
    shown = make.shown()
    assert sorted(file.stem for file in make.FOLDER.glob("*.svg")) == sorted(shown)
    changed = [
        name
        for name in shown
        if (make.FOLDER / f"{name}.svg").read_text(encoding="utf-8") != make.picture(name)
    ]
    assert changed == [], "run `make docs`"


def test_texts_of_rows_are_drawn_as_they_are() -> None:
    rows = [{"n": "US$5 to US$6"}, {"n": "$x^$"}, {"n": "a\x01b"}]
    drawn = timeline(testing.changes(rows, "KEEP 2 ROWS"), title="$x^$ and \x01")
    assert titles(drawn.svg())[1].startswith("n=$x^$")
    assert titles(drawn.svg())[2].startswith("n=a\ufffdb")


def test_a_long_title_has_lines_and_a_long_name_has_room() -> None:
    words = [f"word{number}" for number in range(30)]
    rows = [{"n": "x" * 30}, {"n": "y" * 30}]
    changes = testing.changes(rows, "KEEP 1 ROW")
    svg = timeline(changes, title=" ".join(words)).svg()
    assert all(word in svg for word in words)
    margins = [
        float(place)
        for drawn in (svg, timeline(testing.changes([{"n": "x"}], "KEEP 1 ROW")).svg())
        for place in re.findall(r'(?s)id="bar-0-0">.*?<path d="M ([\d.]+)', drawn)[:1]
    ]
    assert margins[0] > margins[1] + 100
