"""The command line: explain and check."""

from __future__ import annotations

from pathlib import Path

import pytest

from winops import apama, esper, spl
from winops.__main__ import main
from winops._explain import explain, read_csv


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
    [
        (esper("#time(2 hours)"), "expired"),
        (esper("#length(30)"), "displaced"),
        (apama("partition by symbol within 10.0 every 5.0"), "expired"),
        (spl("tumbling, time(60)"), "trigger"),
        ("KEEP ALL", ""),
    ],
)
def test_sample_rows_show_what_a_window_of_any_size_does(policy: object, reason: str) -> None:
    picture = explain(policy).picture  # type: ignore[arg-type]
    assert picture is not None
    reasons = {bar.reason for lane in picture.lanes for bar in lane.bars} - {""}
    assert reasons == ({reason} if reason else set())


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
    assert "has no timestamp" in capsys.readouterr().err


def test_check_validates_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "#length(3)", "--language", "esper"]) == 0
    assert capsys.readouterr().out == "Keeps the newest 3 rows.\n"
    assert main(["check", "KEEP 3 ROW5"]) == 1
    assert "WINOPS_POLICY" in capsys.readouterr().err
    assert main(["check", "KEEP 3 ROWS PER (device)", "--schema", "device string"]) == 0
