"""Several windows over one stream: each emits the same rows as alone."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from pyspark.errors import (
    AnalysisException,
    PySparkException,
    PySparkTypeError,
    PySparkValueError,
)
from pyspark.sql import Column, DataFrame, Row, SparkSession
from pyspark.sql import functions as F

from tests.support.replay import NewReplay, at, failure
from tests.support.transports import first_cases, interpreted, same_on_connect
from winops import Kept, WindowPolicy, apama, esper, keep, spl

SCHEMA = "seq long, card string, amount double, ts timestamp"
WATERMARK = ("ts", "1 second")

CCL = {"m1": "KEEP 1 MINUTE", "n3": "KEEP 3 ROWS", "bursts": "KEEP EVERY 4 ROWS"}
WINDOWS: list[Mapping[str, str | WindowPolicy]] = [
    CCL,
    {"lots": spl("tumbling, count(3)"), "last": spl("sliding, time(30), count(2)")},
    {"both": esper("#length(4)#time(20 sec)"), "quiet": esper("#time_accum(5 sec)")},
    {"young": apama("within 30.0"), "few": apama("retain 2")},
]
AGGREGATES = {
    "mean": lambda: F.avg("amount"),
    "n": lambda: F.count("*"),
    "last": lambda: F.max_by("seq", "ts") - F.col("seq"),
}


def first_name(windows: Mapping[str, object]) -> str:
    return next(iter(windows))


def payments(count: int = 60) -> list[tuple[Any, ...]]:
    """Return rows of three cards, with repeated times and gaps of up to half a minute."""
    chance = random.Random(7)
    seconds = 100.0
    rows = []
    for seq in range(count):
        seconds += chance.choice((0, 0.5, 3, 30))
        amount = float(chance.randrange(100))
        rows.append((seq, chance.choice("ABC"), amount, at(seconds)))
    return rows


@pytest.fixture(scope="module")
def table(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame(payments(), SCHEMA)


def kept(
    rows: DataFrame, policy: str | WindowPolicy | Mapping[str, str | WindowPolicy], **more: Any
) -> Kept:
    return keep(rows, policy, per="card", time="ts", order_by="seq", **more)


def velocities(several: Kept, windows: Mapping[str, str | WindowPolicy]) -> DataFrame:
    """Return the rows with every aggregate of every window; the windows alternate."""
    columns: dict[str, tuple[str, Column]] = {
        f"{name}_{window}": (window, aggregate())
        for name, aggregate in AGGREGATES.items()
        for window in windows
    }
    return several.withColumns(columns)


def joined(table: DataFrame, windows: Mapping[str, str | WindowPolicy]) -> list[Row]:
    """Return the same result from one `keep` per window."""
    rows = table
    for window, policy in windows.items():
        alone = kept(table, policy).withColumns(
            {f"{name}_{window}": aggregate() for name, aggregate in AGGREGATES.items()}
        )
        rows = rows.join(alone.drop("card", "amount", "ts"), "seq")
    order = [f"{name}_{window}" for name in AGGREGATES for window in windows]
    return rows.select("seq", "card", "amount", "ts", *order).orderBy("seq").collect()


@interpreted
@pytest.mark.parametrize("windows", first_cases(WINDOWS, 2, on_connect=1), ids=first_name)
def test_columns_equal_those_of_a_keep_for_each_window(
    table: DataFrame, windows: Mapping[str, str | WindowPolicy]
) -> None:
    together = velocities(kept(table, windows), windows)
    assert together.orderBy("seq").collect() == joined(table, windows)


@interpreted
@pytest.mark.parametrize("windows", first_cases(WINDOWS[::-1], 2, on_connect=1), ids=first_name)
def test_changes_equal_those_of_a_keep_for_each_window(
    table: DataFrame, windows: Mapping[str, str | WindowPolicy]
) -> None:
    changes = kept(table, windows).changes()
    assert changes.columns[:5] == [
        "_change_type",
        "_change_time",
        "_change_step",
        "_change_seq",
        "_window",
    ]
    columns = ["_change_type", "_change_time", "card", "seq"]
    emitted = changes.orderBy("card", "_change_seq").collect()
    for window, policy in windows.items():
        alone = kept(table, policy).changes().orderBy("card", "_change_seq")
        own = [tuple(row[c] for c in columns) for row in emitted if row["_window"] == window]
        assert own == [tuple(row) for row in alone.select(*columns).collect()]
    for card in "ABC":
        numbers = [row["_change_seq"] for row in emitted if row.card == card]
        assert numbers == list(range(len(numbers)))


@interpreted
def test_inserts_and_deletes_name_their_window(table: DataFrame) -> None:
    several = kept(table, CCL)
    inserts = {row["_window"]: row["count"] for row in counted(several.inserts())}
    assert inserts == dict.fromkeys(CCL, 60)
    assert {row["_window"] for row in counted(several.deletes())} == set(CCL)


def counted(changes: DataFrame) -> list[Row]:
    return changes.groupBy("_window").count().collect()


@same_on_connect
@pytest.mark.parametrize("windows", first_cases([*WINDOWS[1:], CCL], 1), ids=first_name)
def test_a_restarted_stream_gives_the_columns_of_a_table(
    replay: NewReplay, table: DataFrame, windows: Mapping[str, str | WindowPolicy]
) -> None:
    stream = replay(SCHEMA)
    rows = payments()
    late = (999, "Z", 0.0, at(1_000_000))
    for batches in ([rows[:13], rows[13:14]], [rows[14:55], [*rows[55:], late]]):
        stream.add(*batches)
        stream.run(velocities(kept(stream.rows(WATERMARK), windows), windows))
    written = stream.written().where("card != 'Z'").orderBy("seq").collect()
    assert written == joined(table, windows)


@same_on_connect
def test_a_restarted_stream_gives_the_changes_of_a_table(replay: NewReplay) -> None:
    stream = replay(SCHEMA)
    rows = payments()
    for batches in ([rows[:20], rows[20:21]], [rows[21:], [(999, "Z", 0.0, at(1_000_000))]]):
        stream.add(*batches)
        stream.run(kept(stream.rows(WATERMARK), CCL).changes())
    emitted = stream.written().where("card != 'Z'").orderBy("card", "_change_seq").collect()
    # A table's time ends with its last row, so the table includes the stream's last row.
    whole = kept(stream.table(), CCL).changes().where("card != 'Z'")
    assert emitted == whole.orderBy("card", "_change_seq").collect()


@same_on_connect
@pytest.mark.parametrize(
    "other",
    first_cases(
        [
            {"m1": "KEEP 1 MINUTE", "n3": "KEEP 4 ROWS"},
            {"n3": "KEEP 3 ROWS", "m1": "KEEP 1 MINUTE"},
            "KEEP 1 MINUTE",
            {"m1": "KEEP 1 MINUTE", "n4": "KEEP 3 ROWS"},
            {"m1": "KEEP 1 MINUTE"},
        ],
        2,
    ),
)
def test_other_windows_are_refused_at_a_restart(
    replay: NewReplay, other: str | Mapping[str, str]
) -> None:
    stream = replay(SCHEMA)
    stream.add(payments()[:5])
    windows = {"m1": "KEEP 1 MINUTE", "n3": "KEEP 3 ROWS"}
    stream.run(kept(stream.rows(WATERMARK), windows).changes())
    stream.add(payments()[5:9])
    changes = kept(stream.rows(WATERMARK), other).changes().drop("_window")
    assert "WINOPS_POLICY_CHANGED" in failure(stream.start(changes))


@same_on_connect
@interpreted
def test_idle_groups_leave_all_windows(table: DataFrame) -> None:
    changes = kept(table, CCL, idle="1 second").changes().where("seq < 50")
    kinds = changes.groupBy("_window", "seq").agg(F.collect_list("_change_type").alias("kinds"))
    emitted = {(row["_window"], *sorted(row.kinds)) for row in kinds.collect()}
    assert emitted == {(window, "delete", "insert") for window in CCL}


@same_on_connect
def test_punctuations_reach_every_window(spark: SparkSession) -> None:
    marked = [(seq, "AB"[seq % 2], "window" if seq % 5 == 4 else None) for seq in range(30)]
    rows = spark.createDataFrame(marked, "seq long, card string, mark string")
    windows = {"lots": spl("tumbling, punct()"), "last": spl("sliding, count(2)")}

    def emitted(policy: WindowPolicy | Mapping[str, WindowPolicy]) -> DataFrame:
        kept = keep(rows, policy, per="card", order_by="seq", punct="mark")
        return kept.changes().orderBy("card", "_change_seq")

    together = emitted(windows).collect()
    for window, policy in windows.items():
        own = [(row["_change_type"], row.seq) for row in together if row["_window"] == window]
        assert own == [(row["_change_type"], row.seq) for row in emitted(policy).collect()]
        assert ("delete", 0) in own


@interpreted
def test_the_group_may_be_in_one_of_the_texts(table: DataFrame) -> None:
    windows = {"few": "KEEP 2 ROWS PER (card)", "more": "KEEP 9 ROWS"}
    own = keep(table, windows, order_by="seq").changes()
    beside = keep(
        table, {"few": "KEEP 2 ROWS", "more": "KEEP 9 ROWS"}, per="card", order_by="seq"
    )
    order = ["card", "_change_seq"]
    assert own.orderBy(*order).collect() == beside.changes().orderBy(*order).collect()


def test_parameters_apply_to_all_texts(table: DataFrame) -> None:
    windows = {"few": "KEEP n ROWS", "more": "KEEP m ROWS"}
    changes = kept(table, windows, params={"n": 1, "m": 2}).deletes()
    assert {row["_window"] for row in counted(changes)} == {"few", "more"}


def test_describe_repr_and_plan_name_each_window(
    table: DataFrame, capsys: pytest.CaptureFixture[str]
) -> None:
    several = kept(table, {"m1": "KEEP 1 MINUTE", "odd name": "KEEP 3 ROWS"})
    assert several.describe() == (
        "For each `card`, window m1 keeps each row for 1 minute; window odd name keeps the "
        "newest 3 rows. Applies rows in the order of `ts`; on a stream, when the watermark has "
        "passed them."
    )
    assert repr(several).startswith("Kept[{'m1': 'KEEP 1 MINUTE', 'odd name': 'KEEP 3 ROWS'}")
    several.changes().explain()
    assert "[m1: KEEP 1 MINUTE, `odd name`: KEEP 3 ROWS]" in capsys.readouterr().out


def test_a_primary_key_causes_one_warning(table: DataFrame) -> None:
    with pytest.warns(UserWarning, match="primary key") as caught:
        keep(table, {"a": "KEEP 1 ROW", "b": "KEEP 2 ROWS"}, per="seq", key_columns="seq")
    assert len([each for each in caught if "primary key" in str(each.message)]) == 1


@pytest.mark.parametrize(
    ("policy", "error", "said"),
    [
        ({}, PySparkValueError, "empty dict"),
        ({1: "KEEP ALL"}, PySparkTypeError, "names are strings"),
        ({"a": 5}, PySparkTypeError, "policy['a']="),
        ({"a": "KEEP ALL", "b": esper("#keepall")}, PySparkValueError, "ccl and esper"),
    ],
)
def test_invalid_dicts_of_windows_are_refused(
    table: DataFrame, policy: Any, error: type[PySparkException], said: str
) -> None:
    with pytest.raises(error) as caught:
        keep(table, policy)
    assert caught.value.getCondition() == "WINOPS_ARGUMENT"
    assert said in str(caught.value)


def test_policy_keywords_beside_windows_are_refused(table: DataFrame) -> None:
    with pytest.raises(PySparkValueError, match="rows="):
        keep(table, {"a": "KEEP ALL"}, rows=3)


@pytest.mark.parametrize(
    "method",
    [
        lambda several: several.agg(F.count("*")),
        lambda several: several.groupBy("card"),
        lambda several: several.snapshots(),
        lambda several: several.rows(),
        lambda several: several.events(),
    ],
)
def test_outputs_of_a_single_window_are_refused(
    table: DataFrame, method: Callable[[Kept], object]
) -> None:
    with pytest.raises(PySparkValueError, match="m1, n3, bursts") as caught:
        method(kept(table, CCL))
    assert caught.value.getCondition() == "WINOPS_ARGUMENT"


@pytest.mark.parametrize(
    ("columns", "error", "said"),
    [
        ([], PySparkTypeError, 'pairs such as ("m1", column)'),
        ({}, PySparkValueError, "none is given"),
        ({"n": F.count}, PySparkTypeError, "'n' is function"),
        ({"n": ("m1",)}, PySparkTypeError, "'n' is tuple"),
        ({"n": ("m1", 5)}, PySparkTypeError, "'n' is tuple"),
    ],
)
def test_invalid_columns_are_refused(
    table: DataFrame, columns: Any, error: type[PySparkException], said: str
) -> None:
    with pytest.raises(error) as caught:
        kept(table, CCL).withColumns(columns)
    assert said in str(caught.value)


def test_columns_without_a_window_are_refused(table: DataFrame) -> None:
    with pytest.raises(PySparkTypeError, match="'n' is Column"):
        kept(table, CCL).withColumns({"n": F.count("*")})


def test_columns_of_an_unknown_window_are_refused(table: DataFrame) -> None:
    with pytest.raises(PySparkValueError, match='"m1" or "n3" or "bursts"'):
        kept(table, CCL).withColumns({"n": ("h1", F.count("*"))})


@pytest.mark.parametrize(
    ("windows", "condition", "said"),
    [
        ({"a": "KEEP 1 ROW", "b": "KEEP"}, "WINOPS_POLICY.SYNTAX", "column 5"),
        (
            {"a": "KEEP 1 ROW PER (card)", "b": "KEEP 1 ROW PER (seq)"},
            "WINOPS_GROUP_CONFLICT",
            "seq",
        ),
        ({"a": esper("#keepall"), "b": esper("#unique(card)")}, "WINOPS_SEVERAL_WINDOWS", "b"),
        ({"a": esper("#length_batch(2)")}, "WINOPS_SEVERAL_WINDOWS", "when it arrives"),
        (
            {"a": esper("#keepall"), "b": esper("#sort(2, seq)")},
            "WINOPS_SEVERAL_WINDOWS",
            "order",
        ),
        ({"a": spl("sliding, delta(seq, 5)")}, "WINOPS_SEVERAL_WINDOWS", "missing"),
        (
            {"a": esper("#keepall"), "b": esper("select rstream * from S#length(2)")},
            "WINOPS_SEVERAL_WINDOWS",
            "the same kinds of changes",
        ),
    ],
)
def test_windows_that_cannot_be_combined_are_refused(
    table: DataFrame, windows: Mapping[str, str | WindowPolicy], condition: str, said: str
) -> None:
    with pytest.raises(AnalysisException) as caught:
        assert keep(table, windows, order_by="seq").changes().schema
    assert caught.value.getCondition() == condition
    assert said in str(caught.value)


def test_a_column_with_the_name_of_the_window_column_is_refused(table: DataFrame) -> None:
    with pytest.raises(AnalysisException) as caught:
        assert kept(table.withColumn("_window", F.lit(1)), CCL).changes().schema
    assert caught.value.getCondition() == "WINOPS_COLUMN_CONFLICT"


TWO = "windows => named_struct('a', 'KEEP 1 ROW', 'b', 'KEEP 2 ROWS')"
COUNTS = "output => 'withColumns', aggregates => TABLE(SELECT count(*) AS n FROM {t})"


@pytest.mark.parametrize(
    ("arguments", "condition", "said"),
    [
        (f"'KEEP 1 ROW', {TWO}", "DUPLICATE", "windows"),
        (f"esper => '#keepall', {TWO}", "DUPLICATE", "windows"),
        ("'KEEP 1 ROW', dialect => 'esper'", "UNKNOWN", "windows"),
        (f"{TWO}, dialect => 'latin'", "VALUE", "esper"),
        ("windows => 'KEEP 1 ROW'", "VALUE", "named_struct"),
        ("windows => named_struct('a', 5)", "VALUE", "named_struct"),
        ("windows => named_struct('a', 'KEEP ALL', 'a', 'KEEP ALL')", "DUPLICATE", "once"),
        (f"{TWO}, output => 'rows'", "VALUE", "'withColumns'"),
        (f"{TWO}, output => 'snapshots'", "VALUE", "'withColumns'"),
        (f"{TWO}, output => 'events'", "VALUE", "'withColumns'"),
        (f"{TWO}, output => 'agg', {COUNTS.split(', ')[1]}", "VALUE", "'withColumns'"),
        (f"{TWO}, {COUNTS}", "MISSING", "of_windows"),
        (f"{TWO}, {COUNTS}, of_windows => named_struct('m', 'a')", "VALUE", "aggregates: n"),
        (f"{TWO}, {COUNTS}, of_windows => named_struct('n', 'c')", "VALUE", "windows: a, b"),
        (f"{TWO}, of_windows => named_struct('n', 'a')", "UNKNOWN", "of_windows"),
        (f"'KEEP ALL', {COUNTS}, of_windows => named_struct('n', 'a')", "UNKNOWN", "windows"),
        (
            f"{TWO}, {COUNTS.replace('AS n', 'AS n, sum(seq) AS s')}, "
            "of_windows => named_struct('n', 'a')",
            "MISSING",
            "of_windows",
        ),
    ],
)
def test_invalid_arguments_for_windows_in_sql_are_refused(
    spark: SparkSession, table: DataFrame, arguments: str, condition: str, said: str
) -> None:
    with pytest.raises(AnalysisException) as caught:
        assert spark.sql(f"SELECT * FROM keep(TABLE({{t}}), {arguments})", t=table).schema
    assert caught.value.getCondition() == f"WINOPS_ARGUMENT.{condition}"
    assert said in str(caught.value)
