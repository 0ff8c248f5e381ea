"""The command line: explain and check."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import pytest

from tests.support.transports import first_cases
from winops import apama, esper, spl, testing
from winops.__main__ import main
from winops._tools.explain import Cost, explain, read_csv
from winops._tools.words import words_of

START = datetime(2026, 1, 1)


def test_a_policy_is_explained_in_words_pieces_and_a_picture() -> None:
    found = explain("KEEP 3 ROWS SLACK 2 PER (symbol)")
    assert found.sentence == (
        "For each `symbol`, keeps the newest 3 rows; evicts the oldest 2 rows when the window "
        "holds 5."
    )
    assert dict(found.pieces) == {
        "group": "a window for each `symbol`",
        "admits": "every row",
        "order": "the order of arrival",
        "bound": "a row stays until 3 newer rows have arrived",
        "rows enter": "when a row arrives",
        "rows leave": "when the window holds 2 rows too many",
        "changes": "emits inserts and deletes",
    }
    assert found.picture is not None
    assert [lane.name for lane in found.picture.lanes] == ["symbol=A", "symbol=B"]
    assert (found.cost.groups, found.cost.rows) == (2, 8)
    # The four columns of a row take 8 bytes or fewer each when they are packed.
    assert 8 * 8 < found.cost.size < 8 * 64


@pytest.mark.parametrize(
    ("policy", "reason"),
    first_cases(
        [
            (esper("#time(2 hours)"), "expired"),
            (esper("#length(30)"), "displaced"),
            (apama("partition by symbol within 10.0 every 5.0"), "expired"),
            (spl("tumbling, time(60)"), "trigger"),
            ("KEEP ALL", ""),
        ],
        short=4,
    ),
)
def test_sample_rows_show_what_a_window_of_any_size_does(policy: object, reason: str) -> None:
    picture = explain(policy).picture  # type: ignore[arg-type]
    assert picture is not None
    reasons = {bar.reason for lane in picture.lanes for bar in lane.bars} - {""}
    assert reasons == ({reason} if reason else set())


def test_the_cost_is_that_of_a_full_window() -> None:
    cost = explain("KEEP 1000 ROWS SLACK 11 PER (symbol)").cost
    assert isinstance(cost, Cost)
    assert cost.full == 1010
    assert cost.of_row is not None
    assert 8 < cost.of_row < cost.size / cost.rows
    window = testing.window(
        "KEEP 1000 ROWS", schema="seq long, symbol string, price double, ts timestamp"
    )
    for seq in range(0, 1010, 101):
        window.add(
            *(
                {
                    "seq": seq + i,
                    "symbol": "A",
                    "price": (5.0, 7.0, 6.5, 9.0, 4.0, 8.0, 6.0)[(seq + i) % 7],
                    "ts": START + timedelta(seconds=seq + i),
                }
                for i in range(101)
            )
        )
    assert cost.of_row * cost.full == pytest.approx(window.state_bytes, rel=0.3)
    assert (
        f"a full window has 1010 rows and takes about {cost.of_row * 1010:.0f} bytes"
        in cost.text()
    )
    for policy in ("KEEP ALL", esper("#firstlength(1000)")):
        text = explain(policy).cost.text()
        assert "this is not the cost of a full window: each further row takes" in text
    for policy in ("KEEP 3 ROWS", "KEEP EVERY 2 ROWS", "KEEP 2 HOURS"):
        assert "No row has left" not in explain(policy).cost.text()
    few = explain("KEEP EVERY 5 ROWS", rows=[{"n": 1}]).cost
    assert "a full window has 5 rows" in few.text()


def test_the_rows_of_a_file_are_drawn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "rows.csv"
    file.write_text(
        "device,at,value\na,2026-01-01T00:00:10,1.5\nb,2026-01-01T00:00:00,2\na,2026-01-01T00:00:20,\n"
    )
    assert read_csv(file)[2]["value"] is None
    page = tmp_path / "page.html"
    arguments = ["explain", "KEEP 8 SECONDS", "--per", "device", "--csv", str(file)]
    assert main([*arguments, "--time", "at", "--html", str(page)]) == 0
    html = page.read_text(encoding="utf-8")
    assert "<h1><code>KEEP 8 SECONDS</code></h1>" in html
    assert html.count("device=a, at=") == 2
    assert "<p>For each <code>device</code>, keeps each row for 8 seconds.</p>" in html
    assert "`" not in html
    assert "<script" not in html
    assert main(arguments) == 0
    assert "For each `device`, keeps each row for 8 seconds." in capsys.readouterr().out
    assert main([*arguments, "--time", "value"]) == 1
    assert "value is no timestamp in row 1" in capsys.readouterr().err


def test_the_times_of_a_file_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, page = tmp_path / "rows.csv", tmp_path / "out.html"
    file.write_text("at,n\n2026-01-01 09:00:02,1\n2026-01-01 09:00:00,2\n")
    rows = read_csv(file)
    assert explain("KEEP 1 ROW", rows=rows).pieces[-1] == (
        "rows here",
        "arrive a second apart; --time names their time",
    )
    assert (
        explain("KEEP 1 ROW", rows=rows, time="at").pieces[-1][1] == "arrive at the time in `at`"
    )
    assert main(["explain", "KEEP 1 ROW", "--csv", str(file), "--html", str(page)]) == 0
    assert capsys.readouterr().out == f"Wrote {page}.\n"
    for column, said in (
        ("tme", "There is no column tme. The columns are at, n."),
        ("n", "row 1: 1"),
    ):
        assert main(["explain", "KEEP 1 ROW", "--csv", str(file), "--time", column]) == 1
        assert said in capsys.readouterr().err


def test_check_validates_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "#length(3)", "--language", "esper"]) == 0
    assert capsys.readouterr().out == "Keeps the newest 3 rows.\n"
    assert main(["check", "KEEP 3 ROW5"]) == 1
    assert "WINOPS_POLICY" in capsys.readouterr().err
    assert main(["check", "KEEP 3 ROWS PER (device)", "--schema", "device string"]) == 0


MEAN = "avg(x) OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)"


def test_window_functions_are_explained_in_words_pieces_and_a_picture() -> None:
    found = explain(MEAN)
    assert found.sentence == (
        "For each `k`, in the order of `ts`, computes `avg(x)` of the row and the 2 rows before "
        "it. A row gets its results when the watermark passes its time."
    )
    assert found.pieces[:6] == (
        ("function", "avg(x)"),
        ("frame", "the row and the 2 rows before it"),
        ("partition", "a group for each `k`"),
        (
            "order",
            "`ts`; rows wait until the watermark has passed them, late rows are dropped",
        ),
        ("result known", "when the watermark passes its time"),
        ("stored", "the 2 rows before, with the columns `x`"),
    )
    picture = found.picture
    assert picture is not None
    assert [lane.name for lane in picture.lanes] == ["k=A", "k=B"]
    # A frame holds three rows: the fourth row of a group evicts the first.
    for lane in picture.lanes:
        assert max(size for _, size in lane.sizes()) == 3
        assert [bar.leaves for bar in lane.bars[:-3]] == [bar.enters for bar in lane.bars[3:]]
    assert sum(len(lane.bars) for lane in picture.lanes) == 12
    assert found.cost.groups == 2
    assert 0 < found.cost.size < 400
    assert "at most, on average " in found.text()


def test_frames_that_reach_behind_a_row_and_several_functions_have_lanes() -> None:
    found = explain(
        "lead(price, 2) OVER w AS ahead, price - sum(price) OVER (PARTITION BY symbol "
        "ORDER BY ts RANGE INTERVAL 3 SECONDS PRECEDING) "
        "WINDOW w AS (PARTITION BY symbol ORDER BY ts)"
    )
    pieces = [words for name, words in found.pieces if name == "result known"]
    assert pieces == [
        "when the watermark passes the second row behind it",
        "when the watermark passes its time",
    ]
    assert found.picture is not None
    lanes = {lane.name: lane for lane in found.picture.lanes}
    assert len(lanes) == 4
    ahead = lanes["symbol=A, lead(price, 2)"]
    # The rows of the group are those numbered 1, 2, 4, 5 and so on.
    assert [bar.row["seq"] for bar in ahead.bars][:3] == [4, 5, 7]
    reasons = {bar.reason for name in lanes if "RANGE" in name for bar in lanes[name].bars}
    assert reasons == {"expired", ""}


def test_window_functions_over_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "rows.csv"
    file.write_text(
        "k,ts,x\na,2026-01-01T00:00:10,1.5\nb,2026-01-01T00:00:00,2\n"
        "a,2026-01-01T00:00:20,\na,2026-01-01T00:00:15,3\n"
    )
    picture = explain(MEAN, rows=read_csv(file)).picture
    assert picture is not None
    lengths = [
        [(bar.row["x"], bar.enters - picture.lanes[1].bars[0].enters) for bar in lane.bars]
        for lane in picture.lanes
    ]
    # Rows are drawn in the order of ts, not of the file.
    assert lengths == [[(1.5, 10.0), (3.0, 15.0), (None, 20.0)], [(2.0, 0.0)]]
    page = tmp_path / "page.html"
    assert main(["explain", MEAN, "--csv", str(file), "--html", str(page)]) == 0
    html = page.read_text(encoding="utf-8")
    assert f"<h1><code>{MEAN}</code></h1>" in html
    assert html.count("<title>") == 1 + 4
    assert main(["explain", MEAN, "--csv", str(file), "--time", "ts"]) == 1
    assert "Let ORDER BY begin with the time" in capsys.readouterr().err
    assert main(["explain", MEAN, "--per", "k"]) == 1
    assert "Write PARTITION BY" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "condition", "words"),
    [
        ("avg(x) OVER (PARTITION k ORDER BY ts)", "WINOPS_OVER_TEXT", "line 1, column 13"),
        ("lag(x) OVER w", "WINOPS_OVER_TEXT", "Window specification is not defined"),
        ("foo(x) OVER (ORDER BY ts)", "WINOPS_OVER_TEXT", "foo"),
        ("avg(x)", "WINOPS_OVER_TEXT", "such as avg(price) OVER"),
        ("x", "WINOPS_OVER_TEXT", "no function has OVER"),
        ("avg(x) OVER (ORDER BY ts) FROM t", "WINOPS_OVER_TEXT", "more than a list"),
        (
            "avg(x) OVER (ORDER BY ts), avg(x) OVER (PARTITION BY k ORDER BY ts)",
            "WINOPS_OVER_TEXT",
            "several PARTITION BY",
        ),
        ("avg(x) OVER (PARTITION BY k)", "WINOPS_OVER]", "Add ORDER BY"),
        ("ntile(4) OVER (ORDER BY ts)", "WINOPS_OVER]", "Use row_number()"),
        ("sum(x) OVER (ORDER BY price)", "WINOPS_OVER]", "no timestamp column"),
        (
            "sum(x) OVER (ORDER BY ts ROWS BETWEEN 1 PRECEDING AND UNBOUNDED FOLLOWING)",
            "WINOPS_OVER]",
            "UNBOUNDED FOLLOWING",
        ),
    ],
)
@pytest.mark.parametrize("command", ["check", "explain"])
def test_bad_window_functions_are_refused(
    text: str, condition: str, words: str, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    assert main([command, text, "--language", "over"]) == 1
    error = capsys.readouterr().err
    assert condition in error
    assert words in error
    assert "_row_number" not in error


def test_check_validates_window_functions(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", MEAN]) == 0
    assert capsys.readouterr().out.startswith("For each `k`, in the order of `ts`, computes")
    schema = "k string, ts timestamp, x double"
    assert main(["check", MEAN, "--schema", schema]) == 0
    assert main(["check", MEAN, "--schema", "k string, ts timestamp"]) == 1
    error = capsys.readouterr().err
    assert "WINOPS_OVER_TEXT" in error
    assert "`x` cannot be resolved" in error
    assert "line 1, column 5" in error


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"a,b\n1,2\n1,2,3\n", "Line 3 of FILE has 3 values, but the header has 2 columns"),
        (b"a,b\n1\n", "Line 2 of FILE has 1 value, but the header has 2 columns"),
        (b"a,b\n1,\xff\n", "FILE is not UTF-8: byte 0xff at position 6. Save it as UTF-8"),
        (b'a,b\n1,"2\n', "Line 2 of FILE is no CSV: unexpected end of data"),
        (b"a,a\n1,2\n", "has the column a more than once"),
        (b"a,\n1,2\n", "has a column without a name"),
        (b"a,b\n", "FILE has 0 rows"),
        (b"", "FILE has 0 rows"),
        (b"a\n1\n" + b"1\n" * 400, "FILE has 401 rows. Give 1 to 400 rows"),
        (b"a\n2026-01-01T00:00:00\n2026-01-01T00:00:00+01:00\n", "with and without a time zone"),
    ],
)
def test_a_file_that_is_no_csv_is_refused_by_name(
    content: bytes, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "rows.csv"
    file.write_bytes(content)
    assert main(["explain", "KEEP 2 ROWS", "--csv", str(file)]) == 1
    error = capsys.readouterr().err
    assert error.startswith("[WINOPS_ARGUMENT]")
    assert words.replace("FILE", str(file)) in error


def test_a_missing_file_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "KEEP 2 ROWS", "--csv", str(tmp_path / "none.csv")]) == 1
    error = capsys.readouterr().err
    assert error.startswith("[WINOPS_ARGUMENT]")
    assert f"{tmp_path / 'none.csv'} cannot be read: No such file" in error
    assert main(["explain", "KEEP 2 ROWS", "--html", str(tmp_path / "none" / "a.html")]) == 1
    error = capsys.readouterr().err
    assert error.startswith("[WINOPS_ARGUMENT]")
    assert "a.html cannot be written: No such file" in error


def test_no_command_prints_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("usage: python -m winops")
    assert "check the installation and a session" in printed


@pytest.mark.parametrize(
    ("arguments", "language"),
    [
        (["#length(3)"], "esper"),
        (["retain 10"], "apama"),
        (["sliding, count(5)"], "spl"),
        (["KEEP 3 ROWS", "--language", "esper"], "ccl"),
    ],
)
def test_a_text_of_another_language_names_the_option(
    arguments: list[str], language: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", *arguments]) == 1
    error = capsys.readouterr().err
    assert error.endswith(f"On the command line, add --language {language}.\n")
    assert main(["check", arguments[0], "--language", language]) == 0


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("KEEP 3 ROWS", "ccl"),
        ("\n keep 3 rows", "ccl"),
        ("lag(n) over (order by ts)", "over"),
        ("keeper + count(*)\nOVER (ORDER BY ts) AS n", "over"),
    ],
)
def test_the_language_of_a_text_follows_from_its_words(text: str, language: str) -> None:
    words = words_of(text)
    assert (words.text, words.language) == (text, language)


def test_the_bytes_of_groups_and_rows_are_averages() -> None:
    text = Cost(2, 8, 1600).text()
    assert "1600 bytes of state, on average 800 for each group and 200 for each row." in text


def test_a_file_may_have_a_mark_blank_lines_and_quotes(tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    file.write_bytes(b'\xef\xbb\xbfa,b\r\n1,"x, ""y"""\r\n\r\n2,\r\n')
    assert read_csv(file) == [{"a": 1, "b": 'x, "y"'}, {"a": 2, "b": None}]


def test_brackets_are_no_markup(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "rows.csv"
    file.write_text("[bold]name,k\n[red]one[/red],:smile:\n[/nothing],:smile:\n")
    arguments = ["explain", "KEEP 1 ROW PER ([red]k)", "--csv", str(file)]
    assert main(["explain", "KEEP 1 ROW", "--per", "[bold]name", "--csv", str(file)]) == 0
    shown = capsys.readouterr().out
    assert "a window for each `[bold]name`" in shown
    assert "[bold]name=[red]one[/red]" in shown
    assert "[bold]name=[/nothing]" in shown
    assert "k=:smile:" in shown
    assert main(arguments) == 1
    assert "KEEP 1 ROW PER ([red]k)" in capsys.readouterr().err
    functions = "avg(if(symbol = '[red]:smile:[/x]', 1, 2)) OVER (ORDER BY ts)"
    assert main(["explain", functions]) == 0
    assert capsys.readouterr().out.count("[red]:smile:[/x]") == 4
