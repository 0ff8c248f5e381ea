"""winops.testing: changes of small windows without a session, and the comparison of outputs."""

from __future__ import annotations

import gc
import os
import tempfile
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
from pyspark.sql import functions as F
from pyspark.sql.types import (
    ArrayType,
    DecimalType,
    LongType,
    MapType,
    StringType,
    StructType,
)

from tests.support.transports import first_cases, longer_on_connect
from winops import apama, esper, jar_path, keep, spl, testing
from winops.testing._process import PROCESS, WindowProcess, _class_path
from winops.testing._rows import is_pandas

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
    first_cases(
        [
            ("KEEP 2 ROWS PER (symbol)", {"order_by": "seq"}),
            (esper("#sort(2, price)#time(3 sec)"), {"time": "ts", "order_by": ["symbol", "seq"]}),
            ({"few": "KEEP 2 ROWS", "all": "KEEP ALL"}, {"order_by": "seq"}),
            ("KEEP 3 SECONDS", {"time": "ts", "per": "symbol"}),
            (spl("tumbling, count(3)"), {"order_by": "seq", "idle": "2 seconds", "time": "ts"}),
            ('KEEP "n" ROWS', {"params": {"n": 2}}),
            (esper("#length(2)"), {"per": ["symbol"]}),
        ],
        short=6,
        on_connect=3,
    ),
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


def test_metrics_have_sums_and_what_is_held_now() -> None:
    window = testing.window("KEEP 1 ROW PER (symbol)", time="ts", idle="10 seconds")
    window.add(*ROWS[:3])
    assert window.metrics == {"rowsHeld": 3, "rowsWaiting": 3, "groups": 2}
    window.advance(NOON + timedelta(seconds=2))
    assert window.metrics["rowsHeld"] == 3
    assert window.metrics["rowsWaiting"] == 1
    assert window.metrics["rowsInserted"] == 2
    window.advance(NOON + timedelta(seconds=3))
    assert window.metrics["rowsHeld"] == 2
    assert "rowsWaiting" not in window.metrics
    assert window.metrics["rowsInserted"] == 3
    window.advance(NOON + timedelta(seconds=60))
    assert "rowsHeld" not in window.metrics
    assert "groups" not in window.metrics
    assert window.metrics["rowsInserted"] == 3


OPERATIONS = [
    {"op": op, "symbol": "AB"[i % 2], "id": number, "price": i}
    for i, (op, number) in enumerate(
        [
            ("insert", 1),
            ("c", 2),
            ("upsert", 1),
            ("insert", 4),
            ("update", 3),
            ("insert", 2),
            ("delete", 1),
            ("d", 4),
            ("r", 6),
            ("d", None),
            ("wrong", 6),
        ]
    )
]


@pytest.mark.parametrize(
    ("policy", "options"),
    first_cases(
        [
            ("KEEP 2 ROWS", {"updates": "update"}),
            (esper("#sort(2, price desc)"), {"buffer": 1}),
            ("KEEP 1 ROW PER (symbol)", {"buffer": 2}),
        ],
        short=2,
        on_connect=1,
    ),
)
def test_operations_are_those_of_spark(
    spark: SparkSession, policy: Any, options: dict[str, Any]
) -> None:
    given: dict[str, Any] = {"key": "id", "op": "op", "late": "emit", **options}
    schema = "op string, symbol string, id long, price long"
    rows = [tuple(row.values()) for row in OPERATIONS]
    kept = keep(spark.createDataFrame(rows, schema).coalesce(1), policy, **given)
    of_spark = kept.changes().drop("_change_version", "_change_time").collect()
    window = testing.window(policy, schema=schema, **given)
    in_batches = [*window.add(*OPERATIONS[:4]), *window.add(*OPERATIONS[4:])]
    at_once = testing.changes(OPERATIONS, policy, schema=schema, **given)
    for changes in (at_once, in_batches):
        of_test = [
            {
                "_change_type": change.type,
                "_change_step": change.step,
                "_change_seq": change.seq,
                "_change_row": change.number,
                "_change_reason": change.reason,
                **{name: change.row[name] for name in ("symbol", "id", "price")},
            }
            for change in changes
        ]
        testing.assert_same(of_spark, of_test)
    held = [{name: row[name] for name in ("symbol", "id", "price")} for row in window.rows]
    # Other outputs have no place for rows without effect. The last two have none in any window.
    valid = spark.createDataFrame(rows[:-2], schema).coalesce(1)
    testing.assert_same(keep(valid, policy, **{**given, "late": "drop"}).rows().collect(), held)


def test_an_updated_row_keeps_its_place_among_the_rows() -> None:
    window = testing.window("KEEP 2 ROWS", key="id", op="op", buffer=1)
    for op, key, n in [("c", 1, 10), ("c", 2, 20), ("u", 1, 11), ("c", 3, 30), ("d", 3, 0)]:
        window.add({"op": op, "id": key, "n": n})
    assert [row["n"] for row in window.rows] == [11, 20]
    with pytest.raises(PySparkValueError, match="key= is missing"):
        testing.window("KEEP 2 ROWS", op="op")


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


@pytest.mark.parametrize(
    ("policy", "condition"),
    [
        ("KEEP 1 BANANA", "UNIT"),
        ("KEEP 1.5 ROWS", "TYPE"),
        ("KEEP n ROWS", "UNBOUND_PARAMETER"),
        ("KEEP 1 ROW PER (symbol) BANANA", "SYNTAX"),
        (esper("#expr(price > 1 and)#length(2)"), "SYNTAX"),
        (esper("#sort(2, price)#banana(3)"), "POLICY"),
        ({"good": "KEEP 1 ROW", "bad": "KEEP 1 BANANA"}, "UNIT"),
    ],
)
def test_a_policy_that_is_not_valid_is_refused_without_rows(policy: Any, condition: str) -> None:
    with pytest.raises(AnalysisException) as refused:
        testing.window(policy)
    assert refused.value.getCondition() == f"WINOPS_POLICY.{condition}"


@pytest.mark.parametrize(
    ("policy", "options"),
    [
        ("KEEP 1 ROW PER (symbol, `a b`)", {}),
        ("KEEP 1 ROW", {"per": ["symbol", "day"], "order_by": "seq", "time": "ts"}),
        (esper("#expr(upper(symbol) = 'A' and flag and ts > current_date())"), {}),
        (esper("#groupwin(symbol)#length(3)"), {"time": "ts"}),
        (esper("#ext_timed(ts, 10 sec)"), {}),
        (esper("#expr(place.name = 'x')"), {}),
        (apama("partition by symbol within 15.0 retain 10"), {}),
        ("KEEP 1 ROW PER (Symbol)", {"order_by": "symbol"}),
        (spl("sliding, delta(ts, 5.0)"), {}),
        (spl("tumbling, punct()"), {"punct": "mark"}),
    ],
)
def test_columns_of_a_policy_are_left_to_the_first_rows(policy: Any, options: Any) -> None:
    assert testing.window(policy, **options).rows == []


def test_a_name_that_is_no_column_is_refused() -> None:
    window = testing.window("KEEP 3 ROWS")
    window.add({"seq": 1, "symbol": "A"}, {"seq": 2})
    with pytest.raises(PySparkValueError, match=r"zz.* columns are seq, symbol") as refused:
        window.add({"seq": 3, "symbol": "A", "zz": 1})
    assert refused.value.getCondition() == "WINOPS_ARGUMENT"
    with pytest.raises(PySparkValueError, match="Seq"):
        window.add(Row(Seq=3))
    assert [change.row for change in window.add({"symbol": "B"})] == [{"symbol": "B"}]
    schema = (
        "`a,`` b` decimal(10,2) COMMENT 'x, y', c struct<d: int, e: array<int>>, f map<int,int>"
    )
    typed = testing.window("KEEP 3 ROWS", schema=schema)
    with pytest.raises(PySparkValueError, match="columns are a,` b, c, f\\."):
        typed.add({"d": 1})
    assert len(typed.add({"a,` b": Decimal(1)}, {"c": None})) == 2
    over = testing.over_stream("count(*) OVER (ORDER BY ts) AS n", schema="ts timestamp")
    with pytest.raises(PySparkValueError, match="columns are ts"):
        over.add({"ts": NOON, "zz": 1})
    over.add({"ts": NOON})
    with pytest.raises(PySparkValueError, match="columns are ts"):
        over.add({"zz": 1})


def test_wrong_arguments_of_a_window_say_what_is_taken() -> None:
    window = testing.window("KEEP 3 ROWS", schema="n long")
    over = testing.over_stream("count(*) OVER (ORDER BY ts) AS n", schema="ts timestamp")
    for taker in (window, over):
        for to in ("1 minute", None, True):
            with pytest.raises(PySparkTypeError, match="seconds, a timedelta or a datetime"):
                taker.advance(to)  # type: ignore[attr-defined]
        with pytest.raises(PySparkTypeError, match=r"add\(\*rows\)"):
            taker.add([{"n": 1}])  # type: ignore[attr-defined]
        with pytest.raises(PySparkTypeError, match=r"to_dict"):
            taker.add(pd.DataFrame({"n": [1]}))  # type: ignore[attr-defined]
        with pytest.raises(PySparkTypeError, match="at= is a datetime"):
            taker.add(at=1)  # type: ignore[attr-defined]
    for number in (float("nan"), float("inf"), 1e15):
        with pytest.raises(PySparkValueError, match="year 9999"):
            window.advance(number)
    assert window.advance(np.int64(1)) == []
    with pytest.raises(PySparkTypeError, match=r"add\(\*rows\)"):
        testing.window("KEEP 3 ROWS").add([{"n": 1}])


def test_the_process_forgets_windows() -> None:
    window = testing.window("KEEP 1 ROW", schema="seq long")
    del window
    gc.collect()
    assert len(testing.changes(ROWS, "KEEP ALL")) == len(ROWS)
    assert PROCESS._forgotten == []


def test_a_java_that_does_not_start_is_an_error_of_the_process(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nothing"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    process = WindowProcess()
    with pytest.raises(PySparkRuntimeError, match="JAVA_HOME") as found:
        process.request("table")
    assert found.value.getCondition() == "WINOPS_TEST_PROCESS"
    assert list(tmp_path.iterdir()) == []
    process.close()


def test_an_interrupted_request_leaves_no_process_and_no_log(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    class Interrupted:
        def __init__(self, replies: Any) -> None:
            self._replies = replies

        def readline(self) -> str:
            raise KeyboardInterrupt

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    process = WindowProcess()
    started = process._started()
    replies = started.stdout
    started.stdout = Interrupted(replies)  # type: ignore[assignment]
    with pytest.raises(KeyboardInterrupt):
        process.request("table")
    assert started.returncode is not None
    assert list(tmp_path.iterdir()) == []
    assert replies is not None
    replies.close()
    process.close()


@pytest.fixture(params=[True, False], ids=["SPARK_HOME", "pyspark"])
def home(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of Spark, which SPARK_HOME names, or in which pyspark is installed."""
    folder = Path(os.environ.get("SPARK_HOME") or Path(pyspark.__file__).parent)
    if request.param:
        # Neither the version nor the folder of the installed pyspark is used.
        monkeypatch.setattr(pyspark, "__file__", str(tmp_path / "pyspark" / "__init__.py"))
        monkeypatch.setattr(pyspark, "__version__", "3.5.6")
        monkeypatch.setenv("SPARK_HOME", str(folder))
    else:
        monkeypatch.setattr(pyspark, "__file__", str(folder / "__init__.py"))
        monkeypatch.delenv("SPARK_HOME", raising=False)
    return folder


def test_the_class_path_is_that_of_the_spark_that_programs_start(home: Path) -> None:
    jar, _, jars = _class_path().partition(os.pathsep)
    assert (jar, jars) == (jar_path(), str(home / "jars" / "*"))


@pytest.mark.longer
@pytest.mark.usefixtures("home")
def test_the_process_runs_the_spark_that_programs_start(monkeypatch: pytest.MonkeyPatch) -> None:
    process = WindowProcess()
    monkeypatch.setattr("winops.testing._process.PROCESS", process)
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
    monkeypatch.setattr("winops.testing._process.PROCESS", WindowProcess())
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


def test_columns_that_are_not_compared_have_whole_names() -> None:
    left, right = [{"n": 1, "time": 1}], [{"n": 1, "time": 9}]
    with pytest.raises(AssertionError, match="time=9"):
        testing.assert_same(left, right, ignore="_change_time")
    testing.assert_same(left, right, ignore="time")
    testing.assert_same(left, right, ignore=("time",))
    with pytest.raises(PySparkTypeError, match="ignore= takes the name of a column"):
        testing.assert_same(left, right, ignore=7)  # type: ignore[arg-type]
    with pytest.raises(PySparkTypeError, match="assert_same has no argument ignored="):
        testing.assert_same(left, right, ignored="time")  # type: ignore[call-arg]
    with pytest.raises(PySparkTypeError, match="tolerance= is a number"):
        testing.assert_same(left, left, tolerance="few")  # type: ignore[arg-type]


@pytest.mark.parametrize("arrow", first_cases(["true", "false"], on_connect=1))
def test_assert_same_takes_the_frame_of_to_pandas(spark: SparkSession, arrow: str) -> None:
    df = spark.sql(
        "SELECT * FROM VALUES (1L, 0.5D, TIMESTAMP '2026-07-01 12:00:00Z', TRUE, 'a', X'01'), "
        "(NULL, NULL, NULL, NULL, NULL, NULL), "
        "(9007199254740993L, double('NaN'), TIMESTAMP '2026-10-25 00:30:00Z', FALSE, 'b', X'02') "
        "AS t(number, mean, at, flag, name, code)"
    ).selectExpr("*", "named_struct('n', 1L) AS nested", "at - at AS span")
    settings = {
        # A zone that is not that of the process, with a repeated hour in October.
        "spark.sql.session.timeZone": "Europe/Berlin",
        "spark.sql.execution.arrow.pyspark.enabled": arrow,
    }
    before = {name: spark.conf.get(name) for name in settings}
    try:
        for name, value in settings.items():
            spark.conf.set(name, value)
        frame = df.toPandas()
        testing.assert_same(df, frame)
        testing.assert_same(frame, df)
        with pytest.raises(AssertionError, match="only in the stream"):
            testing.assert_same(df.withColumn("at", F.expr("at + INTERVAL 3 HOURS")), frame)
    finally:
        for name, was in before.items():
            spark.conf.set(name, str(was))
    with pytest.raises(AssertionError):
        testing.assert_same([{"n": None}], [{"n": float("nan")}])
    with pytest.raises(AssertionError):
        testing.assert_same([{"n": 1}], pd.DataFrame({"n": [1.0]}))


def test_an_object_with_any_attribute_is_no_pandas_frame() -> None:
    class AnyAttribute:
        def __getattr__(self, name: str) -> str:
            return name

    assert not is_pandas(AnyAttribute())
    assert is_pandas(pd.DataFrame({"n": [1]}))


def test_a_tolerance_is_not_for_integers() -> None:
    frame = pd.DataFrame({"id": [1000000000.0, float("nan")], "mean": [0.5, float("nan")]})
    rows = [{"id": 1000000000, "mean": 0.5 + 1e-9}, {"id": None, "mean": None}]
    testing.assert_same(rows, frame, tolerance=1e-6)
    rows[0]["id"] = 1000000001
    with pytest.raises(AssertionError, match="1 row differs in id"):
        testing.assert_same(rows, frame, tolerance=1e-6)
    rows[0]["id"] = 10**400
    with pytest.raises(AssertionError, match="1 row only in the stream"):
        testing.assert_same(rows, frame, tolerance=1e-6)


def test_columns_that_are_not_compared_may_have_one_name() -> None:
    frame = pd.DataFrame([[1, 2, 3]], columns=["n", "x", "x"])
    testing.assert_same(frame.loc[:, ["n"]], [{"n": 1}])
    with pytest.raises(PySparkValueError, match="Several columns have the name x"):
        testing.assert_same(frame, [{"n": 1}])
    testing.assert_same([Row(*frame.columns)(1, 2, 3)], [{"n": 1}], ignore="x")


def test_assert_same_compares_nested_values_by_name(spark: SparkSession) -> None:
    one = [{"id": 1, "of": Row(a=0.3, b=1.0), "map": {"x": 0.3}, "more": [{"y": 0.3}]}]
    near = 0.1 + 0.2
    other = [{"id": 1, "of": Row(b=1.0, a=near), "map": {"x": near}, "more": [{"y": near}]}]
    testing.assert_same(one, other, tolerance=1e-12)
    with pytest.raises(AssertionError, match="1 row differs in map, more, of"):
        testing.assert_same(one, other)
    turned = [{**one[0], "of": Row(a=1.0, b=0.3)}]
    with pytest.raises(AssertionError, match="1 row differs in of"):
        testing.assert_same(one, turned, tolerance=1e-12)
    twice = spark.sql("SELECT 1 AS n, 2 AS n")
    for rows in (twice, twice.collect(), pd.DataFrame([[1, 2]], columns=["n", "n"])):
        with pytest.raises(PySparkValueError, match="Several columns have the name n"):
            testing.assert_same(rows, [{"n": 2}])


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


@longer_on_connect
@pytest.mark.parametrize(
    "functions",
    first_cases(
        [
            f"avg(price) OVER {LAST} ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS mean, "
            f"sum(price) OVER {LAST}), row_number() OVER {LAST}), "
            f"lag(price) OVER {LAST}) AS before, price - lead(price, 2) OVER {LAST}) AS ahead, "
            f"collect_list(struct(seq, ts)) OVER {LAST} ROWS 1 PRECEDING) AS last_rows",
            "rank() OVER (PARTITION BY date(ts), seq % 3 ORDER BY ts, symbol DESC) AS place",
            "first_value(ts) OVER w AS first, cast(sum(seq) OVER w AS decimal(10, 2)) AS total, "
            "map(symbol, max(date(ts)) OVER w) AS days, float(avg(price) OVER w) AS narrow, "
            "sqrt(-max(price) OVER w - 1) AS nothing, "
            "max(encode(symbol, 'UTF-8')) OVER w AS bytes "
            f"WINDOW w AS {LAST} ROWS BETWEEN 1 FOLLOWING AND 2 FOLLOWING)",
            "max(price) OVER (ORDER BY ts RANGE INTERVAL 2 SECONDS PRECEDING) AS most",
        ],
        short=3,
    ),
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


def test_intervals_are_timedeltas() -> None:
    """Intervals of each unit, also negative and within other values, as in ``collect()``."""
    rows = [
        {"n": n, "ts": NOON + timedelta(hours=n * n), "d": timedelta(days=-n, microseconds=5)}
        for n in range(3)
    ]
    found = testing.over(
        rows,
        "ts - lag(ts) OVER w AS gap, lag(d) OVER w AS before, collect_list(d) OVER w AS all, "
        "map(d, max(INTERVAL '5' MINUTE) OVER w) AS map, min(INTERVAL -'90' SECOND) OVER w AS s, "
        "min(INTERVAL '1 2' DAY TO HOUR) OVER w AS h WINDOW w AS (ORDER BY ts)",
    )
    assert [row["gap"] for row in found] == [None, timedelta(hours=1), timedelta(hours=3)]
    assert [row["before"] for row in found] == [None, rows[0]["d"], rows[1]["d"]]
    assert found[2]["all"] == [row["d"] for row in rows]
    assert found[1]["map"] == {rows[1]["d"]: timedelta(minutes=5)}
    assert found[0]["s"] == timedelta(seconds=-90)
    assert found[0]["h"] == timedelta(days=1, hours=2)


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


def test_each_column_takes_null() -> None:
    inner = ArrayType(LongType(), containsNull=False)
    schema = StructType().add("n", LongType(), nullable=False).add("list", inner)
    (change,) = testing.changes([{"list": [None]}], "KEEP ALL", schema=schema)
    assert change.row == {"list": [None]}
    found = testing.over([{}], "lag(list) OVER (ORDER BY n)", schema=schema, arrival_order=True)
    assert len(found) == 1


def test_nothing_arrives_after_the_end() -> None:
    stream = testing.over_stream("lag(n) OVER (ORDER BY ts) AS before")
    stream.add({"ts": datetime(2026, 1, 1), "n": 1})
    assert [row["before"] for row in stream.finish()] == [None]
    for call in (lambda: stream.add({"ts": datetime(2026, 1, 2), "n": 2}), stream.finish):
        with pytest.raises(PySparkValueError, match="has ended"):
            call()


# The last test of this file, because the others run in the process that it stops.
def test_a_window_is_lost_with_its_process_which_starts_again() -> None:
    window = testing.window("KEEP 1 ROW")
    window.add({"n": 1})
    over = testing.over_stream("count(*) OVER (ORDER BY ts) AS n", schema="ts timestamp")
    PROCESS.close()
    later = testing.window("KEEP 1 ROW", schema="n long")
    for call in (lambda: window.add({"n": 2}), lambda: window.advance(1), over.finish):
        with pytest.raises(PySparkRuntimeError, match="Create the window again") as found:
            call()
        assert found.value.getCondition() == "WINOPS_TEST_PROCESS"
    assert [change.type for change in later.add({"n": 1})] == ["insert"]
    assert len(testing.changes(ROWS, "KEEP ALL")) == len(ROWS)
