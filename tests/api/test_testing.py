"""winops.testing: changes of small windows without a session, and the comparison of outputs."""

from __future__ import annotations

import gc
import os
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyspark
import pytest
from pyspark.errors import (
    AnalysisException,
    PySparkRuntimeError,
    PySparkTypeError,
    PySparkValueError,
    SparkRuntimeException,
)
from pyspark.sql import Row, SparkSession
from pyspark.sql.types import (
    ArrayType,
    DecimalType,
    LongType,
    MapType,
    StringType,
    StructType,
)

from winops import esper, jar_path, keep, spl, testing
from winops._harness import PROCESS, WindowProcess, _class_path

NOON = datetime(2026, 1, 1, 12)
ROWS = [
    {"seq": i, "symbol": "AB"[i % 2], "price": i / 3, "ts": NOON + timedelta(seconds=i)}
    for i in range(8)
]
SCHEMA = "seq long, symbol string, price double, ts timestamp"


def summary(changes: list[testing.Change]) -> list[tuple[str, int, str]]:
    return [(change.type, change.row["seq"], change.reason) for change in changes]


@pytest.mark.parametrize(
    ("policy", "options"),
    [
        ("KEEP 2 ROWS PER (symbol)", {"order_by": "seq"}),
        ("KEEP 3 SECONDS", {"time": "ts", "per": "symbol"}),
        (esper("#sort(2, price)#time(3 sec)"), {"time": "ts", "order_by": ["symbol", "seq"]}),
        ({"few": "KEEP 2 ROWS", "all": "KEEP ALL"}, {"order_by": "seq"}),
        (spl("tumbling, count(3)"), {"order_by": "seq", "idle": "2 seconds", "time": "ts"}),
        ('KEEP "n" ROWS', {"params": {"n": 2}}),
        (
            esper(
                "#length(2)",
            ),
            {"per": ["symbol"]},
        ),
    ],
)
def test_the_changes_are_those_of_spark(
    spark: SparkSession, policy: Any, options: dict[str, Any]
) -> None:
    df = spark.createDataFrame([tuple(row.values()) for row in ROWS], SCHEMA).coalesce(1)
    of_spark = keep(df, policy, **options).changes(reason=True).collect()
    of_test = [
        {
            "_change_type": change.type,
            "_change_time": change.time,
            "_change_step": change.step,
            "_change_seq": change.seq,
            **({} if change.window is None else {"_window": change.window}),
            "_change_reason": change.reason,
            **change.row,
        }
        for change in testing.changes(ROWS, policy, **options)
    ]
    testing.assert_same(of_spark, of_test)


def test_time_is_moved_by_hand() -> None:
    window = testing.window("KEEP 10 SECONDS PER (symbol)", start=NOON)
    assert sorted(summary(window.add(ROWS[0], ROWS[1]))) == [
        ("insert", 0, "arrived"),
        ("insert", 1, "arrived"),
    ]
    assert window.advance(9.999) == []
    assert len(window.rows) == 2
    gone = window.advance(NOON + timedelta(seconds=10))
    assert sorted(summary(gone)) == [("delete", 0, "expired"), ("delete", 1, "expired")]
    assert {change.time for change in gone} == {NOON + timedelta(seconds=10)}
    assert window.rows == []
    assert window.now == NOON + timedelta(seconds=10)
    assert window.metrics["rowsDeleted"] == 2
    with pytest.raises(Exception, match="not back"):
        window.advance(timedelta(seconds=-1))


def test_rows_wait_for_a_watermark_and_late_rows_are_counted() -> None:
    window = testing.window("KEEP 1 ROW", time="ts", schema=SCHEMA)
    with pytest.raises(Exception, match="no watermark"):
        window.advance(1)
    assert window.add(ROWS[3], ROWS[2]) == []
    applied = window.advance(NOON + timedelta(seconds=4))
    assert summary(applied) == [
        ("insert", 2, "arrived"),
        ("insert", 3, "arrived"),
        ("delete", 2, "displaced"),
    ]
    assert window.add(ROWS[1]) == []
    window.advance(1)
    assert window.metrics["numRowsDroppedByWatermark"] == 1


def test_punctuations_and_idle_groups() -> None:
    window = testing.window(spl("tumbling, punct()"), punct="mark", schema="seq int, mark string")
    window.add({"seq": 1}, {"seq": 2})
    assert summary(window.add({"mark": "window"})) == [
        ("delete", 1, "punctuation"),
        ("delete", 2, "punctuation"),
    ]
    idle = testing.window("KEEP 5 ROWS", idle="3 seconds")
    idle.add({"seq": 1})
    assert summary(idle.advance(3)) == [("delete", 1, "group idle")]


def test_rows_of_pandas_and_values_of_every_type() -> None:
    frame = pd.DataFrame({"seq": [1, 2], "price": [0.5, float("nan")], "ts": [NOON, pd.NaT]})
    found = testing.changes(frame, "KEEP 1 ROW")
    assert [change.row["seq"] for change in found] == [1, 2, 1]
    row = {
        "seq": 1,
        "flag": True,
        "exact": Decimal("12345678901234567.123456789"),
        "bytes": b"\x00\xff",
        "day": NOON.date(),
        "text": 'a"\n\u2028é',
        "huge": float("inf"),
    }
    condition = "flag and exact > 1000 and huge > 100 and text = expected"
    policy = esper(f"#expr_batch({condition})")
    holds = testing.changes([row, row], policy, params={"expected": row["text"]})
    assert [change.type for change in holds] == ["insert", "insert", "delete"]
    assert testing.changes([Row(seq=1), Row(seq=2)], "KEEP ALL")[1].row == Row(seq=2)


def test_errors_are_those_of_keep() -> None:
    with pytest.raises(AnalysisException) as refused:
        testing.changes(ROWS, "KEEP 2 ROWS PER (nothing)")
    assert refused.value.getCondition() == "WINOPS_POLICY.UNKNOWN_COLUMN"
    assert str(refused.value).count("WINOPS_POLICY") == 1
    assert "_row_number" not in str(refused.value)
    with pytest.raises(AnalysisException) as untimed:
        testing.changes(ROWS, "KEEP 2 SECONDS")
    assert untimed.value.getCondition() == "WINOPS_TIME_REQUIRED"
    with pytest.raises(PySparkTypeError, match="polcy"):
        testing.changes(ROWS, polcy="KEEP 2 ROWS")
    with pytest.raises(Exception, match="Add schema="):
        testing.changes([{"seq": None}], "KEEP ALL")
    with pytest.raises(PySparkRuntimeError, match="WINOPS_TEST_PROCESS"):
        testing.changes([{"seq": "x"}], "KEEP ALL", schema="seq long")
    window = testing.window("KEEP 1 ROW", schema="seq long")
    with pytest.raises(PySparkRuntimeError):
        window.add({"seq": "x"})
    with pytest.raises(PySparkRuntimeError):
        window.add({"seq": 7}, {"seq": "x"})
    assert summary(window.add({"seq": 1})) == [("insert", 1, "arrived")]


def test_the_process_goes_on_after_it_was_stopped_and_forgets_windows() -> None:
    window = testing.window("KEEP 1 ROW", schema="seq long")
    del window
    gc.collect()
    assert len(testing.changes(ROWS, "KEEP ALL")) == len(ROWS)
    assert PROCESS._forgotten == []
    PROCESS.close()
    assert len(testing.changes(ROWS, "KEEP ALL")) == len(ROWS)


@pytest.mark.parametrize("named", [True, False])
def test_the_process_runs_the_spark_that_programs_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: bool
) -> None:
    home = Path(os.environ.get("SPARK_HOME") or Path(pyspark.__file__).parent)
    if named:
        # Neither the version nor the folder of the installed pyspark is used.
        monkeypatch.setattr(pyspark, "__file__", str(tmp_path / "pyspark" / "__init__.py"))
        monkeypatch.setattr(pyspark, "__version__", "3.5.6")
        monkeypatch.setenv("SPARK_HOME", str(home))
    else:
        monkeypatch.setattr(pyspark, "__file__", str(home / "__init__.py"))
        monkeypatch.delenv("SPARK_HOME", raising=False)
    process = WindowProcess()
    jar, _, jars = _class_path().partition(os.pathsep)
    assert (jar, jars) == (jar_path(), str(home / "jars" / "*"))
    monkeypatch.setattr("winops.testing.PROCESS", process)
    assert len(testing.changes(ROWS, "KEEP ALL")) == len(ROWS)
    process.close()


@pytest.mark.parametrize("named", [True, False])
def test_a_spark_without_jars_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: bool
) -> None:
    # As pyspark-client is installed.
    monkeypatch.setattr(pyspark, "__file__", str(tmp_path / "__init__.py"))
    if named:
        monkeypatch.setenv("SPARK_HOME", str(tmp_path))
    else:
        monkeypatch.delenv("SPARK_HOME", raising=False)
    monkeypatch.setattr("winops.testing.PROCESS", WindowProcess())
    with pytest.raises(PySparkRuntimeError) as caught:
        testing.changes(ROWS, "KEEP ALL")
    assert caught.value.getCondition() == "WINOPS_TEST_PROCESS"
    assert f"no JARs of Spark in {tmp_path / 'jars'}. Set SPARK_HOME" in str(caught.value)


def test_assert_same_names_the_rows_that_differ(spark: SparkSession) -> None:
    rows = [Row(n=1, mean=0.5), Row(n=2, mean=float("nan"))]
    df = spark.createDataFrame(rows)
    testing.assert_same(df, list(reversed(rows)))
    testing.assert_same(df.toPandas(), rows)
    testing.assert_same([], [])

    def differs(left: Any, right: Any, **options: Any) -> str:
        with pytest.raises(AssertionError) as found:
            testing.assert_same(left, right, **options)
        return str(found.value)

    assert "1 row differs in mean" in differs([{"n": 1, "mean": 0.0}], [{"n": 1, "mean": -0.0}])
    assert "only in the stream:\n  n=1" in differs([{"n": 1}, {"n": 1}], [{"n": 1}])
    assert "only in the table:\n  n=3" in differs([{"n": 1}], [{"n": 1}, {"n": 3}])
    assert "1 row only in the table" in differs([{"n": 1}], [{"n": True}])
    assert "columns" in differs([{"n": 1}], [{"m": 1}])
    many = differs([{"n": i} for i in range(13)], [])
    assert "13 rows only in the stream" in many
    assert "and 3 more" in many
    near: tuple[Any, Any] = [{"n": 1, "mean": 0.1 + 0.2}], [{"n": 1, "mean": 0.3}]
    differs(*near)
    testing.assert_same(*near, tolerance=1e-12)
    differs(*near, tolerance=1e-18)
    testing.assert_same([{"n": 1, "at": 2}], [{"n": 1, "at": 3}], ignore=["at"])
    first, second = {"n": 1, "mean": 0.1}, {"n": 1, "mean": 0.2}
    turned = [{"n": 1, "mean": 0.2 + 1e-10}, {"n": 1, "mean": 0.1 + 1e-10}]
    testing.assert_same([first, second], turned, tolerance=1e-6)
    # Each row is compared with one other row.
    differs([first, first], turned, tolerance=1e-6)


def test_assert_same_compares_all_elements_of_arrays() -> None:
    one, other = np.full(2_000, 0.3), np.full(2_000, 0.3)
    testing.assert_same([{"values": one}], [{"values": other.tolist()}])
    testing.assert_same(pd.DataFrame({"values": [one]}), [{"values": other}])
    other[1_000] = 0.1 + 0.2
    with pytest.raises(AssertionError, match="1 row differs in values"):
        testing.assert_same([{"values": one}], [{"values": other}])
    testing.assert_same([{"values": one}], [{"values": other}], tolerance=1e-12)
    single = testing.changes(
        pd.DataFrame({"n": [1], "values": [np.array([0.5])]}),
        "KEEP 1 ROW",
        schema="n long, values array<double>",
    )
    assert [change.row["values"] for change in single] == [[0.5]]


LAST = "(PARTITION BY symbol ORDER BY ts, seq"


@pytest.mark.parametrize(
    "functions",
    [
        f"avg(price) OVER {LAST} ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS mean",
        f"sum(price) OVER {LAST}), row_number() OVER {LAST})",
        f"lag(price) OVER {LAST}) AS before, price - lead(price, 2) OVER {LAST}) AS ahead",
        f"collect_list(struct(seq, ts)) OVER {LAST} ROWS 1 PRECEDING) AS last_rows",
        "max(price) OVER (ORDER BY ts RANGE INTERVAL 2 SECONDS PRECEDING) AS most",
        "rank() OVER (PARTITION BY date(ts), seq % 3 ORDER BY ts, symbol DESC) AS place",
        "first_value(ts) OVER w AS first, cast(sum(seq) OVER w AS decimal(10, 2)) AS total, "
        "map(symbol, max(date(ts)) OVER w) AS days, float(avg(price) OVER w) AS narrow, "
        "sqrt(-max(price) OVER w - 1) AS nothing, max(encode(symbol, 'UTF-8')) OVER w AS bytes "
        f"WINDOW w AS {LAST} ROWS BETWEEN 1 FOLLOWING AND 2 FOLLOWING)",
    ],
)
def test_window_functions_are_those_of_a_table_in_spark(
    spark: SparkSession, functions: str
) -> None:
    table = spark.createDataFrame([tuple(row.values()) for row in ROWS], SCHEMA).coalesce(1)
    table.createOrReplaceTempView("rows_of_test")
    of_spark = spark.sql(
        f"SELECT *, {functions.replace(' WINDOW w', ' FROM rows_of_test WINDOW w')}"
        + ("" if "WINDOW" in functions else " FROM rows_of_test")
    )
    expected = [row.asDict() for row in of_spark.orderBy("seq").collect()]
    assert repr(testing.over(ROWS, functions)) == repr(expected)
    assert repr(testing.over(pd.DataFrame(ROWS), functions)) == repr(expected)
    # A stream gives each row once, with the same results, for every cut into micro-batches.
    for cut in (1, 3, len(ROWS)):
        stream = testing.over_stream(functions, schema=SCHEMA)
        found: list[dict[str, Any]] = []
        for start in range(0, len(ROWS), cut):
            batch = ROWS[start : start + cut]
            found += stream.add(*batch)
            found += stream.advance(batch[-1]["ts"])
        found += stream.finish()
        assert repr(sorted(found, key=lambda row: row["seq"])) == repr(expected)


def test_a_row_has_its_results_when_the_watermark_passes_it() -> None:
    stream = testing.over_stream(
        "lead(seq) OVER (ORDER BY ts) AS next, sum(seq) OVER (ORDER BY ts)"
    )
    assert stream.now is None
    with pytest.raises(ValueError, match="takes a datetime here"):
        stream.advance(1)
    assert stream.add(*ROWS[:3]) == []
    assert stream.state_bytes > 0
    assert stream.advance(ROWS[2]["ts"]) == [
        {
            **ROWS[0],
            "next": 1,
            "sum(seq) OVER (ORDER BY ts ASC NULLS FIRST RANGE BETWEEN "
            "UNBOUNDED PRECEDING AND CURRENT ROW)": 0,
        }
    ]
    # The row is older than the watermark.
    assert stream.add(ROWS[0]) == []
    assert stream.metrics["numRowsDroppedByWatermark"] == 1
    assert [row["next"] for row in stream.advance(timedelta(seconds=1))] == [2]
    with pytest.raises(ValueError, match="not back to"):
        stream.advance(NOON)
    assert [row["next"] for row in stream.finish()] == [None]


def test_settings_of_window_functions() -> None:
    rows = [{"n": n, "k": 0, "ts": NOON} for n in (3, 1, 2)]
    numbers = "row_number() OVER (PARTITION BY k ORDER BY n) AS i"
    with pytest.raises(AnalysisException, match="WINOPS_OVER"):
        testing.over(rows, numbers)
    in_order = testing.over(rows, numbers, arrival_order=True)
    assert [(row["n"], row["i"]) for row in in_order] == [(3, 3), (1, 1), (2, 2)]
    last = "lag(n, 2) OVER (ORDER BY ts) AS before"
    rows.append({"n": 4, "k": 0, "ts": None})
    with pytest.raises(SparkRuntimeException, match="WINOPS"):
        testing.over(rows, last)
    assert len(testing.over(rows, last, null_time="drop")) == 3
    with pytest.raises(SparkRuntimeException, match="WINOPS"):
        testing.over(rows, last, null_time="drop", max_rows=1)
    old = {"n": 9, "k": 0, "ts": NOON - timedelta(days=2)}
    assert [row["before"] for row in testing.over([old, *rows[:3]], last)] == [None, None, 9, 3]
    stream = testing.over_stream(
        "lag(n) OVER (PARTITION BY k ORDER BY ts) AS before", idle="1 day"
    )
    stream.add(old)
    stream.advance(NOON - timedelta(days=1) + timedelta(seconds=1))
    stream.add(rows[0])
    assert [row["before"] for row in stream.finish()] == [None]


def test_a_failed_call_changes_nothing_of_a_window() -> None:
    def fresh() -> testing.ManualWindow:
        return testing.window("KEEP 3 SECONDS PER (symbol)", schema=SCHEMA, time="ts", max_rows=4)

    whole, broken = fresh(), fresh()
    # The group B is within the limit, the group A is not: part of the groups was changed.
    wrong = [
        {"seq": 10 + i, "symbol": "BAAAAA"[i], "price": 0.0, "ts": NOON + timedelta(seconds=1)}
        for i in range(6)
    ]
    for call, rows in enumerate((ROWS[:2], ROWS[2:4], ROWS[4:6])):
        before = (broken.now, broken.rows, dict(broken.metrics), broken.state_bytes)
        if call == 1:
            with pytest.raises(SparkRuntimeException, match="WINOPS_MAX_ROWS"):
                broken.add(*wrong, at=NOON + timedelta(seconds=6))
        if call == 2:
            with pytest.raises(PySparkRuntimeError, match="WINOPS_TEST_PROCESS"):
                broken.add(wrong[0], {"seq": "no number"}, at=NOON + timedelta(minutes=1))
        assert (broken.now, broken.rows, dict(broken.metrics), broken.state_bytes) == before
        at = rows[0]["ts"]
        assert broken.add(*rows, at=at) == whole.add(*rows, at=at)
    end = NOON + timedelta(minutes=2)
    assert broken.advance(end) == whole.advance(end)
    assert (broken.rows, broken.metrics) == (whole.rows, whole.metrics)
    assert whole.rows == []


def test_a_first_call_that_fails_leaves_the_types_open() -> None:
    window = testing.window("KEEP 2 ROWS")
    with pytest.raises(PySparkRuntimeError):
        window.add({"n": 1}, {"n": "text"})
    assert window.rows == []
    assert summary_of_n(window.add({"n": "text"}, {"n": "other"})) == ["text", "other"]
    with pytest.raises(PySparkTypeError):
        window.add({"n": "third"}, {"n": object()})
    assert [(change.type, change.row["n"]) for change in window.add({"n": "third"})] == [
        ("insert", "third"),
        ("delete", "text"),
    ]


def summary_of_n(changes: list[testing.Change]) -> list[Any]:
    return [change.row["n"] for change in changes]


def test_a_failed_call_of_window_functions_changes_nothing() -> None:
    text = "lag(seq) OVER (PARTITION BY symbol ORDER BY ts) AS before"
    stream = testing.over_stream(text, max_rows=2)
    stream.add(ROWS[0], at=NOON)
    many = [{**ROWS[4], "seq": 20 + i} for i in range(4)]
    before = (stream.state_bytes, dict(stream.metrics), stream.now)
    for _ in range(2):
        with pytest.raises(SparkRuntimeException, match="WINOPS"):
            stream.add(ROWS[1], *many, at=NOON + timedelta(seconds=1))
        assert (stream.state_bytes, dict(stream.metrics), stream.now) == before
    stream.add(ROWS[2])
    assert [(row["seq"], row["before"]) for row in stream.finish()] == [(0, None), (2, 0)]


def test_time_moves_before_the_first_row() -> None:
    late = testing.window("KEEP 2 ROWS", time="ts")
    assert late.advance(NOON + timedelta(seconds=3)) == []
    assert late.now == NOON + timedelta(seconds=3)
    late.add(*ROWS)
    assert late.metrics["numRowsDroppedByWatermark"] == 3
    assert [row["seq"] for row in late.rows] == []
    late.advance(timedelta(days=1))
    assert [row["seq"] for row in late.rows] == [6, 7]
    arriving = testing.window("KEEP 10 SECONDS", start=NOON)
    assert arriving.advance(5) == []
    (change,) = arriving.add({"n": 1})
    assert change.time == NOON + timedelta(seconds=5)
    assert arriving.advance(9.5) == []
    assert [each.type for each in arriving.advance(0.5)] == ["delete"]
    stream = testing.over_stream("lag(seq) OVER (ORDER BY ts) AS before")
    assert stream.advance(NOON + timedelta(seconds=6)) == []
    stream.add(*ROWS)
    assert [row["before"] for row in stream.finish()] == [None, 6]


def test_names_of_nested_fields_are_quoted() -> None:
    inner = StructType().add("a name", LongType()).add("a`tick", StringType())
    nested = (
        StructType()
        .add("in a list", ArrayType(inner))
        .add("in:a, map", MapType(StringType(), inner))
        .add("of>type", DecimalType(10, 2))
    )
    schema = StructType().add("n", LongType()).add("a `column", nested)
    row = {
        "n": 1,
        "a `column": {
            "in a list": [{"a name": 1, "a`tick": "x"}],
            "in:a, map": {"key": {"a name": 2, "a`tick": "y"}},
            "of>type": Decimal("1.50"),
        },
    }
    (change,) = testing.changes([row], "KEEP ALL", schema=schema)
    assert change.row == row
    functions = "lag(`a ``column`, 0) OVER (ORDER BY n) AS own"
    (found,) = testing.over([row], functions, schema=schema, arrival_order=True)
    of_row = found["own"]["in a list"][0], found["own"]["in:a, map"]["key"]
    assert [value.asDict() for value in of_row] == [
        {"a name": 1, "a`tick": "x"},
        {"a name": 2, "a`tick": "y"},
    ]
    assert found["own"]["of>type"] == Decimal("1.50")


def test_nothing_arrives_after_the_end() -> None:
    stream = testing.over_stream("lag(n) OVER (ORDER BY ts) AS before")
    stream.add({"ts": datetime(2026, 1, 1), "n": 1})
    assert [row["before"] for row in stream.finish()] == [None]
    for call in (lambda: stream.add({"ts": datetime(2026, 1, 2), "n": 2}), stream.finish):
        with pytest.raises(PySparkValueError, match="has ended"):
            call()
