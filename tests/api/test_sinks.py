"""Sinks for the changes of windows with a key, over changes of the naive reference."""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from pyspark.errors import PySparkRuntimeError, PySparkTypeError, PySparkValueError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tests.support import keyed, moving_rows, postgres_server
from tests.support.keyed import Call, Change, Operation
from tests.support.redis_server import Stand
from tests.support.transports import first_cases, interpreted, longer_on_connect, same_on_connect
from winops import Kept, keep, merge_into, to_kafka, to_postgres, to_redis
from winops._sinks import identified, merge, postgres

ROWS = "g string, id long, v long"
CHANGES = (
    "_change_type string, _change_time timestamp, _change_step long, _change_seq long, "
    f"_change_row long, _change_version long, _change_reason string, {ROWS}"
)


def kept_of(spark: SparkSession, key: tuple[str, ...] = ("id",), **arguments: Any) -> Kept:
    """Return windows whose changes have identities, as ``keep`` with ``key=`` gives them."""
    rows = spark.createDataFrame([("A", 1, 10)], ROWS)
    real = keep(rows, arguments.pop("policy", "KEEP 2 ROWS PER (g)"), **arguments)
    kept = object.__new__(Kept)
    kept._df = rows
    kept._call = replace(real._call, key=key)
    kept._changes = spark.createDataFrame([], CHANGES)
    return kept


def frame(spark: SparkSession, changes: list[Change]) -> DataFrame:
    rows = [
        (c.type, None, c.step, c.seq, c.change_row, c.version, c.reason, *c.row.values())
        for c in changes
    ]
    return spark.createDataFrame(rows, CHANGES)


def change(kind: str, version: int | None, g: str | None, key: int | None, v: int) -> Change:
    row = {"g": g, "id": key, "v": v}
    return Change(kind, None, version, version, version, version, "", row)


# ---- Arguments


def test_a_sink_takes_windows_with_identities(spark: SparkSession) -> None:
    plain = keep(spark.createDataFrame([("A", 1, 10)], ROWS), "KEEP ALL")
    sinks: list[Callable[[Any], object]] = [
        lambda kept: merge_into("t", kept),
        to_kafka,
        lambda kept: to_postgres("t", kept, conninfo="host=db"),
        lambda kept: to_redis("t", kept, url="redis://cache"),
    ]
    for sink in sinks:
        with pytest.raises(PySparkValueError, match=r"needs the columns _change_row and"):
            sink(plain)
        with pytest.raises(PySparkTypeError, match=r"without changes\(\), agg\(\)"):
            sink(plain.changes())
        with pytest.raises(PySparkTypeError, match="takes the result of keep"):
            sink(None)


def test_a_row_is_identified_by_its_group_and_its_key(spark: SparkSession) -> None:
    def identity(kept: Kept, key: str | list[str] | None = None) -> identified.Identity:
        return identified.identified("to_kafka", kept, key)[1]

    of_text = identity(kept_of(spark))
    assert (of_text.window, of_text.sink) == (("g", "id"), ("g", "id"))
    assert of_text.never_null == {"id"}
    of_argument = identity(kept_of(spark, policy="KEEP ALL", per="G"))
    assert of_argument.window == ("g", "id")
    assert identity(kept_of(spark, policy="KEEP ALL")).window == ("id",)
    assert identity(kept_of(spark, key=("g", "ID"))).window == ("g", "id")
    without_key = identity(kept_of(spark, key=()))
    assert without_key.window == ("g", "_change_row")
    other = identity(kept_of(spark), "ID")
    assert (other.window, other.sink) == (("g", "id"), ("id",))
    with pytest.raises(PySparkValueError, match="no columns order_id to identify a row by"):
        identity(kept_of(spark), "order_id")


def test_a_row_of_two_windows_is_two_rows(spark: SparkSession) -> None:
    rows = spark.createDataFrame([("A", 1, 10)], ROWS)
    windows = {"last": "KEEP 1 ROW", "more": "KEEP 5 ROWS"}
    kept = keep(rows, windows, order_by="id", row_id=True)
    found = identified.identified("to_kafka", kept, None)[1]
    assert found.window == ("_window", "_change_row")
    assert found.never_null == {"_window", "_change_row"}


def test_a_client_that_is_missing_is_named(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = kept_of(spark)
    for module in ("psycopg", "redis"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(PySparkRuntimeError, match=r'pip install "winops\[postgres\]"') as caught:
        to_postgres("t", kept, conninfo="host=db")
    assert caught.value.getCondition() == "WINOPS_CLIENT_MISSING"
    with pytest.raises(PySparkRuntimeError, match=r'pip install "winops\[redis\]"'):
        to_redis("t", kept, url="redis://cache")


# ---- The last change of each row


BY_GROUP = identified.Identity("to_kafka", ("g", "id"), ("g", "id"), frozenset({"id"}))
BY_KEY = identified.Identity("to_kafka", ("g", "id"), ("id",), frozenset({"id"}))


def collapsed(
    spark: SparkSession, changes: list[Change], identity: identified.Identity
) -> list[Any]:
    with identified.last_changes(frame(spark, changes), identity, ["v"]) as last:
        names = ("_change_type", "g", "id", "v")
        return sorted(last.select(*names).collect(), key=repr)


def test_the_last_change_of_a_row_counts(spark: SparkSession) -> None:
    changes = [
        change("insert", 0, "A", 1, 10),
        change("update_before", 1, "A", 1, 10),
        change("update_after", 2, "A", 1, 11),
        change("insert", 3, "A", 2, 20),
        change("delete", 4, "A", 2, 20),
        change("late", None, "A", 1, 99),
        change("refused", None, None, None, 98),
        change("insert", 0, None, 1, 30),
    ]
    random.Random(0).shuffle(changes)
    assert collapsed(spark, changes, BY_GROUP) == [
        ("delete", "A", 2, 20),
        ("insert", None, 1, 30),
        ("update_after", "A", 1, 11),
    ]


def test_a_row_that_moved_to_another_group_is_held_there(spark: SparkSession) -> None:
    changes = [
        change("delete", 7, "A", 1, 10),
        change("insert", 0, "B", 1, 11),
        change("insert", 1, "B", 2, 20),
        change("delete", 2, "B", 2, 20),
    ]
    assert collapsed(spark, changes, BY_KEY) == [("delete", "B", 2, 20), ("insert", "B", 1, 11)]
    assert len(collapsed(spark, changes, BY_GROUP)) == 3


def test_a_function_refuses_the_dataframe_of_another_output(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand = Stand()
    monkeypatch.setitem(sys.modules, "redis", stand.module())
    orders = spark.createDataFrame([("A", 1, 10)], ROWS)
    kept = keep(orders, "KEEP 2 ROWS PER (g)", key="id", order_by="v")
    spark.sql("CREATE TABLE sinks_outputs (g string, id long, v long) USING parquet")
    try:
        functions: dict[str, Callable[[DataFrame, int], None]] = {
            "merge_into": merge_into("sinks_outputs", kept),
            "to_redis": to_redis("rows", kept, url="redis://cache"),
            "to_postgres": postgres._Upsert(
                ("rows",), ("g", "id", "v"), replace(BY_GROUP, function="to_postgres"), "host=db"
            ),
        }
        outputs = {
            "_change_type, _change_version, id, v": kept.agg(F.sum("v")),
            "_change_version, id, v": kept.agg(F.sum("v"), mode="changes"),
            "_change_type, _change_version": kept.rows(),
        }
        for function, write in functions.items():
            for lacking, output in outputs.items():
                with pytest.raises(PySparkValueError, match=rf"lacks the columns {lacking}") as e:
                    write(output, 0)
                assert f"{function} takes the DataFrame of kept.changes()" in str(e.value)
    finally:
        spark.sql("DROP TABLE sinks_outputs")
    assert not stand.hashes


# ---- MERGE


def test_a_merge_finds_rows_of_a_group_without_a_name() -> None:
    assert merge.statement("held_rows", "changed", ["g", "id", "a`b"], BY_GROUP) == (
        "MERGE INTO held_rows AS held USING changed AS last"
        " ON held.`g` <=> last.`g` AND held.`id` = last.`id`\n"
        "WHEN MATCHED AND last.`_change_type` = 'delete' THEN DELETE\n"
        "WHEN MATCHED THEN UPDATE SET"
        " `g` = last.`g`, `id` = last.`id`, `a``b` = last.`a``b`\n"
        "WHEN NOT MATCHED AND last.`_change_type` <> 'delete' THEN INSERT\n"
        "(`g`, `id`, `a``b`) VALUES (last.`g`, last.`id`, last.`a``b`)"
    )


@same_on_connect
def test_spark_parses_the_merge(spark: SparkSession) -> None:
    parser = spark._jsparkSession.sessionState().sqlParser()
    plan = parser.parsePlan(merge.statement("a.`b c`.d", "changed", ["g", "id"], BY_GROUP))
    assert "MergeIntoTable" in plan.toString()


def test_a_table_of_merge_has_the_columns_of_the_rows(spark: SparkSession) -> None:
    spark.sql("CREATE TABLE sinks_narrow (ID long, G string) USING parquet")
    spark.sql("CREATE TABLE sinks_wide (own long, V long, ID long, G string) USING parquet")
    try:
        with pytest.raises(PySparkValueError, match="table sinks_narrow lacks the columns v"):
            merge_into("sinks_narrow", kept_of(spark))
        function: Any = merge_into("sinks_wide", kept_of(spark))
        assert function.columns == ("g", "id", "v")
    finally:
        spark.sql("DROP TABLE sinks_narrow")
        spark.sql("DROP TABLE sinks_wide")


# ---- Kafka


def test_records_of_a_compacted_topic(spark: SparkSession) -> None:
    kept = kept_of(spark)
    kept._changes = frame(
        spark,
        [
            change("insert", 0, "A", 1, 10),
            change("update_before", 1, "A", 1, 10),
            change("update_after", 2, "A", 1, 11),
            change("refused", None, "A", 1, 12),
            change("delete", 3, "A", 1, 11),
            change("insert", 0, None, 2, 20),
        ],
    )
    records = [
        (json.loads(r.key), r.value and json.loads(r.value)) for r in to_kafka(kept).collect()
    ]
    first = {"g": "A", "id": 1}
    assert records == [
        (first, {**first, "v": 10, "_change_version": 0}),
        (first, {**first, "v": 11, "_change_version": 2}),
        (first, None),
        ({"g": None, "id": 2}, {"g": None, "id": 2, "v": 20, "_change_version": 0}),
    ]
    assert [json.loads(r.key) for r in to_kafka(kept, key="id").take(1)] == [{"id": 1}]


# ---- Batches that are cut and repeated


def batches(
    rng: random.Random, updates: str, cuts: int
) -> Iterator[tuple[list[Change], list[keyed.Row]]]:
    """Yield the changes of micro-batches, some twice, and the contents after each."""
    window = keyed.keep_rows(3)
    call = Call(window, ("id",), op="op", group=("g",), updates=updates, late="emit")
    whole = [Operation(None, row) for row in moving_rows.operations(rng)]
    seen = 0
    for end in [*sorted(rng.sample(range(1, len(whole)), cuts)), len(whole)]:
        answer = keyed.run(call, whole[:end])
        before = keyed.run(call, whole[:seen]).changes()
        known = {repr(c) for c in before}
        changes = [c for c in answer.changes() if repr(c) not in known]
        content = [row for group in answer.groups.values() for row in group.steps[-1].content]
        seen = end
        rng.shuffle(changes)
        for _ in range(rng.choice([1, 1, 2])):
            yield changes, content


@longer_on_connect
@interpreted
@pytest.mark.parametrize(
    ("updates", "cuts"),
    first_cases([("update", 2), ("update", 5), ("delete_insert", 5)], short=1),
)
def test_redis_holds_the_window_after_each_batch(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, updates: str, cuts: int
) -> None:
    stand = Stand()
    monkeypatch.setitem(sys.modules, "redis", stand.module())
    write = to_redis("rows", kept_of(spark), url="redis://cache")
    by_key = to_redis("keys", kept_of(spark), url="redis://cache", key="id")
    found = batches(random.Random(updates), updates, cuts)
    for number, (changes, content) in enumerate(found):
        batch = frame(spark, changes)
        stand.fails_after = stand.transactions
        # Deletes are written before the transaction that fails, if a row is held.
        with suppress(ConnectionError):
            write(batch, number)
        stand.fails_after = None
        for function in (write, by_key):
            function(batch, number)
        hashes = {
            key: {name: value for name, value in fields.items() if name != "_change_version"}
            for key, fields in stand.hashes.items()
        }
        rows = {f"rows:{row['g'] or '%00'}:{row['id']}": texts(row) for row in content}
        keys = {f"keys:{row['id']}": texts(row) for row in content}
        assert hashes == rows | keys


def texts(row: keyed.Row) -> dict[str, str]:
    return {name: str(value) for name, value in row.items() if value is not None}


def test_names_of_hashes_are_unambiguous(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand = Stand()
    monkeypatch.setitem(sys.modules, "redis", stand.module())
    write = to_redis("p", kept_of(spark), url="redis://cache")
    names = ["A:B", "A%3AB", "%00", None, "", "ü"]
    write(frame(spark, [change("insert", i, g, 1, i) for i, g in enumerate(names)]), 0)
    found = {int(fields["v"]): key for key, fields in stand.hashes.items()}
    assert [found[i] for i in range(len(names))] == [
        "p:A%3AB:1",
        "p:A%253AB:1",
        "p:%2500:1",
        "p:%00:1",
        "p::1",
        "p:ü:1",
    ]


# ---- PostgreSQL


@pytest.fixture(scope="module")
def server() -> Iterator[postgres_server.Server]:
    if not postgres_server.is_installed():
        pytest.skip("PostgreSQL is not installed")
    started = postgres_server.Server()
    yield started
    started.stop()


@pytest.fixture
def psycopg(monkeypatch: pytest.MonkeyPatch) -> None:
    try:
        import psycopg  # noqa: F401
    except ImportError:
        monkeypatch.setitem(sys.modules, "psycopg", postgres_server.stand_in())


@longer_on_connect
@pytest.mark.usefixtures("interpreted", "psycopg")
@pytest.mark.parametrize("cuts", first_cases([2, 5], short=1))
def test_postgres_holds_the_window_after_each_batch(
    spark: SparkSession, server: postgres_server.Server, cuts: int
) -> None:
    server.execute("""
        DROP TABLE IF EXISTS by_group;
        DROP SCHEMA IF EXISTS "My Shop" CASCADE;
        CREATE TABLE by_group (
            g text, id bigint NOT NULL, v bigint, own text DEFAULT 'x', _change_version bigint,
            UNIQUE NULLS NOT DISTINCT (g, id)
        );
        CREATE SCHEMA "My Shop";
        CREATE TABLE "My Shop".by_key (id bigint PRIMARY KEY, g text, v bigint);
        """)
    conninfo = server.conninfo
    write = to_postgres("by_group", kept_of(spark), conninfo=conninfo)
    by_key = to_postgres("My Shop.by_key", kept_of(spark), conninfo=conninfo, key="id")
    found = batches(random.Random(7), "delete_insert", cuts)
    for number, (changes, content) in enumerate(found):
        wanted = sorted(f"{row['g'] or ''}|{row['id']}|{row['v']}" for row in content)
        batch = frame(spark, changes)
        for function, table in ((write, "by_group"), (by_key, '"My Shop".by_key')):
            function(batch, number)
            rows = server.execute(f"SELECT g, id, v FROM {table}")
            assert sorted(rows.splitlines()) == wanted
    assert set(server.execute("SELECT own FROM by_group").split()) == {"x"}


@longer_on_connect
@pytest.mark.usefixtures("psycopg")
def test_a_table_of_postgres_has_the_columns_of_the_rows(
    spark: SparkSession, server: postgres_server.Server
) -> None:
    server.execute('CREATE TABLE narrow (g text, "ID" bigint, v bigint)')
    with pytest.raises(PySparkValueError, match="table narrow lacks the columns id"):
        to_postgres("narrow", kept_of(spark), conninfo=server.conninfo)


@longer_on_connect
@pytest.mark.usefixtures("psycopg")
def test_a_table_of_postgres_has_a_unique_constraint(
    spark: SparkSession, server: postgres_server.Server
) -> None:
    server.execute("""
        CREATE SCHEMA "It's";
        CREATE TABLE "It's".free (g text, id bigint, v bigint);
        CREATE UNIQUE INDEX ON "It's".free (id, g) NULLS NOT DISTINCT WHERE v > 0;
        CREATE UNIQUE INDEX ON "It's".free (id, lower(g)) NULLS NOT DISTINCT;
        CREATE UNIQUE INDEX ON "It's".free (id, g, v) NULLS NOT DISTINCT;
        CREATE UNIQUE INDEX ON "It's".free (id) INCLUDE (g);
        CREATE TABLE nulls (g text, id bigint, v bigint, UNIQUE (g, id));
        CREATE TABLE filled (g text NOT NULL, id bigint, v bigint, UNIQUE (id, g));
        CREATE VIEW shown AS SELECT * FROM nulls;
        CREATE TABLE parts (g text, id bigint, v bigint, UNIQUE NULLS NOT DISTINCT (g, id))
            PARTITION BY HASH (id);
        """)

    def refused(table: str, **key: str) -> str:
        with pytest.raises(PySparkValueError, match="has no unique constraint") as caught:
            to_postgres(table, kept_of(spark), conninfo=server.conninfo, **key)
        return str(caught.value)

    nullable = 'ALTER TABLE "It\'s"."free" ADD UNIQUE NULLS NOT DISTINCT ("g", "id"). If g is'
    assert nullable in refused("It's.free")
    assert 'ALTER TABLE "nulls" ADD UNIQUE ("id").' in refused("nulls", key="id")
    # Two rows without a group would be two rows of the table after a restart.
    assert 'ADD UNIQUE NULLS NOT DISTINCT ("g", "id")' in refused("nulls")
    for table in ("filled", "shown", "parts"):
        to_postgres(table, kept_of(spark), conninfo=server.conninfo)
    to_postgres("It's.free", kept_of(spark), conninfo=server.conninfo, key="id")
    statement = nullable[: nullable.index(". If")]
    server.execute(statement)
    to_postgres("It's.free", kept_of(spark), conninfo=server.conninfo)


@longer_on_connect
@pytest.mark.usefixtures("psycopg")
def test_values_of_all_types_reach_postgres(
    spark: SparkSession, server: postgres_server.Server
) -> None:
    server.execute("""
        CREATE TABLE kinds (
            id bigint PRIMARY KEY, flag boolean, d double precision, m numeric(20, 3), s text,
            day date, ts timestamptz, local timestamp, bytes bytea, list jsonb, nested jsonb
        )""")
    row = spark.sql(r"""
        SELECT 1L AS id, true AS flag, double('NaN') AS d, 12345.678BD AS m,
            'tab\tline\nback\\slash "q"' AS s, date'2024-02-29' AS day,
            timestamp'2024-03-31 02:30:00.123456+02:00' AS ts,
            timestamp_ntz'2024-03-31 02:30:00.5' AS local, X'00FF' AS bytes,
            array(1, NULL) AS list, named_struct('a', 'x', 'b', NULL) AS nested
        UNION ALL
        SELECT 2L, NULL, double('-Infinity'), NULL, '', NULL, NULL, NULL, NULL, NULL, NULL
        """)
    numbers = "'insert' AS _change_type", "id AS _change_row", "id AS _change_version"
    changes = row.selectExpr(*numbers, "*")
    upsert = postgres._Upsert(
        ("kinds",),
        tuple(row.columns),
        identified.Identity("to_postgres", ("id",), ("id",), frozenset({"id"})),
        server.conninfo,
    )
    for number in range(2):
        upsert(changes, number)
    found = server.execute("""
        SET timezone = 'UTC';
        SELECT json_build_array(flag, d::text, m, s, day, ts, local, bytes::text, list, nested)
        FROM kinds ORDER BY id""")
    full, empty = map(json.loads, found.splitlines())
    assert full == [
        True,
        "NaN",
        12345.678,
        'tab\tline\nback\\slash "q"',
        "2024-02-29",
        "2024-03-31T00:30:00.123456+00:00",
        "2024-03-31T02:30:00.5",
        "\\x00ff",
        [1, None],
        {"a": "x", "b": None},
    ]
    assert empty == [None, "-Infinity", None, "", None, None, None, None, None, None]


def test_a_table_of_identity_alone_is_not_updated() -> None:
    *_, upsert = postgres.statements(["t"], ["id"], BY_KEY)
    assert upsert.endswith('ON CONFLICT ("id") DO NOTHING')
