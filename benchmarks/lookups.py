r"""Measures lookups and as-of joins beside the work that any such query has, and beside others.

    python benchmarks/lookups.py
    python benchmarks/lookups.py --events 5 --labels 0.5 --rounds 2
    python benchmarks/lookups.py training --rounds 5

``training`` looks three windows up for each label, over tables, beside reading, shuffling and
sorting the columns of both tables once. ``one-row`` joins each label with one event: by
``asof_join``, by the ASOF JOIN of Spark 4.3, and by that of DuckDB with as many threads.
``stream`` looks the windows up over streams, beside ``withColumns`` over a stream of the same
rows. All sides of a round run in turns, and a ratio is that of the times of one round.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import duckdb
import pyspark
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from results import versions
from sessions import session
from winops import Kept, asof_join, keep

ROOT = Path(__file__).resolve().parents[1]
PARTITIONS = 16
MILLION = 1_000_000
THREADS = 2
FIRST_MICROS = 1_357_000_000_000_000
# An event every 100 microseconds: one a second for each of 10,000 keys.
MICROS_PER_EVENT = 100
# The first micro-batches of a stream fill the windows and warm up.
SETTLING = 2
EVENTS, LABELS = "events", "labels"
SCHEMAS = {
    EVENTS: "key long, ts timestamp, seq long, price double",
    LABELS: "key long, ts timestamp, label long",
}
WINDOWS = {"m10": "KEEP 10 MINUTES", "n100": "KEEP 100 ROWS", "h1": "KEEP 1 HOUR"}
HAS_ASOF_JOIN = tuple(map(int, pyspark.__version__.split(".")[:2])) >= (4, 3)

LOOKUP, FLOOR = "lookup", "shuffled and sorted"
JOIN, OF_SPARK, OF_DUCKDB = "asof_join", "Spark's ASOF JOIN", "DuckDB's ASOF JOIN"
LOOKUPS, COLUMNS = "lookup on streams", "withColumns"

# Times of sides in seconds, by their names.
Times = dict[str, float]
Sides = dict[str, Callable[[], float]]


@dataclass(frozen=True)
class Tables:
    """The files of both tables, and how many rows they have."""

    folder: Path
    events: int
    labels: int
    keys: int

    def read(self, spark: SparkSession, name: str) -> DataFrame:
        """Return a table."""
        return spark.read.schema(SCHEMAS[name]).parquet(str(self.folder / name))

    def write(self, spark: SparkSession) -> None:
        """Write the tables, unless they are there."""
        made = {
            EVENTS: events(spark, 0, self.events, self.keys),
            LABELS: labels(spark, 0, self.labels, self.keys, 0, self.events),
        }
        for name, rows in made.items():
            if not (self.folder / name / "_SUCCESS").exists():
                rows.write.mode("overwrite").parquet(str(self.folder / name))


def events(spark: SparkSession, first: int, end: int, keys: int) -> DataFrame:
    """Return the events with these numbers, in the order of their times."""
    return spark.range(first, end, 1, PARTITIONS).selectExpr(
        f"1 + pmod(xxhash64(id), {keys}) AS key",
        f"timestamp_micros({FIRST_MICROS} + id * {MICROS_PER_EVENT}) AS ts",
        "id AS seq",
        "pmod(xxhash64(id, 1), 50000) / 100D AS price",
    )


def labels(
    spark: SparkSession, first: int, end: int, keys: int, since: int, until: int
) -> DataFrame:
    """Return the labels with these numbers, at times between those of two events."""
    span = (until - since) * MICROS_PER_EVENT
    return spark.range(first, end, 1, PARTITIONS).selectExpr(
        f"1 + pmod(xxhash64(id, 2), {keys}) AS key",
        f"timestamp_micros({FIRST_MICROS + since * MICROS_PER_EVENT}"
        f" + pmod(xxhash64(id, 3), {span})) AS ts",
        "id AS label",
    )


def kept(rows: DataFrame) -> Kept:
    """Return the windows of rows."""
    return keep(rows, WINDOWS, per="key", time="ts", order_by="seq")


def features() -> dict[str, tuple[str, Column]]:
    """Return the aggregates of the windows."""
    return {
        "count_m10": ("m10", F.count("*")),
        "mean_m10": ("m10", F.avg("price")),
        "mean_n100": ("n100", F.avg("price")),
        "most_n100": ("n100", F.max("price")),
        "total_h1": ("h1", F.sum("price")),
    }


def seconds(rows: DataFrame) -> float:
    """Run a query to its end, without a sink, and return its duration."""
    started = time.perf_counter()
    rows.write.format("noop").mode("overwrite").save()
    return time.perf_counter() - started


# ---- Tables


def training(spark: SparkSession, tables: Tables) -> Sides:
    """Return the sides that make a training set."""

    def lookup() -> DataFrame:
        looking_up = tables.read(spark, LABELS)
        return kept(tables.read(spark, EVENTS)).lookup(looking_up, features())

    def floor() -> DataFrame:
        both = tables.read(spark, EVENTS).unionByName(
            tables.read(spark, LABELS), allowMissingColumns=True
        )
        return both.repartition(PARTITIONS, "key").sortWithinPartitions("key", "ts", "seq")

    found = lookup().count()
    if found != tables.labels:
        raise RuntimeError(f"{found:,} rows have looked up instead of {tables.labels:,}")
    return {LOOKUP: lambda: seconds(lookup()), FLOOR: lambda: seconds(floor())}


def one_row(spark: SparkSession, tables: Tables) -> Sides:
    """Return the sides that join a label with the newest event of its key."""

    def join() -> DataFrame:
        return asof_join(
            tables.read(spark, LABELS), tables.read(spark, EVENTS), on="ts", by="key"
        )

    def of_spark() -> DataFrame:
        for name in (EVENTS, LABELS):
            tables.read(spark, name).createOrReplaceTempView(name)
        return spark.sql(
            "SELECT l.key, l.ts, l.label, e.seq, e.price FROM labels AS l "
            "LEFT ASOF JOIN events AS e MATCH_CONDITION (l.ts >= e.ts) ON l.key = e.key"
        )

    db = duckdb.connect(config={"threads": THREADS})
    for name in (EVENTS, LABELS):
        db.execute(f"CREATE VIEW {name} AS SELECT * FROM '{tables.folder / name}/*.parquet'")

    def of_duckdb(selected: str) -> list[tuple[Any, ...]]:
        return db.execute(
            f"SELECT {selected} FROM labels AS l ASOF LEFT JOIN events AS e "
            "ON l.key = e.key AND l.ts >= e.ts"
        ).fetchall()

    def duckdb_seconds() -> float:
        started = time.perf_counter()
        # A sink would cost time, and columns that nobody reads are not joined.
        of_duckdb("bit_xor(hash(l.key, l.ts, l.label, e.seq, e.price))")
        return time.perf_counter() - started

    sides: Sides = {JOIN: lambda: seconds(join()), OF_DUCKDB: duckdb_seconds}
    expected = of_duckdb("count(*), count(e.seq), sum(e.seq)")[0]
    queries = {JOIN: join}
    if HAS_ASOF_JOIN:
        spark.conf.set("spark.sql.join.asofJoin.enabled", "true")
        sides[OF_SPARK] = lambda: seconds(of_spark())
        queries[OF_SPARK] = of_spark
    for name, query in queries.items():
        found = query().agg(F.count("*"), F.count("seq"), F.sum("seq")).collect()[0]
        if tuple(found) != tuple(map(int, expected)):
            raise RuntimeError(f"{name} has {tuple(found)}, and DuckDB has {expected}")
    return sides


# ---- Streams


def write_batches(spark: SparkSession, folder: Path, rows: int, batches: int, keys: int) -> None:
    """Write `rows` events and as many labels for each micro-batch, as a file each."""
    for number in range(batches):
        first, end = rows * number, rows * (number + 1)
        made = {
            EVENTS: events(spark, first, end, keys),
            LABELS: labels(spark, first, end, keys, first, end),
        }
        for name, some in made.items():
            target = folder / name
            target.mkdir(parents=True, exist_ok=True)
            part = folder / f"part-{name}-{number}"
            some.coalesce(1).write.parquet(str(part))
            [file] = part.glob("*.parquet")
            path = file.rename(target / f"{number:03d}.parquet")
            # The file source takes files in the order of their modification times.
            os.utime(path, (1_400_000_000 + number, 1_400_000_000 + number))


def streams(spark: SparkSession, folder: Path, rows: int, number: int) -> Sides:
    """Return the sides over streams, for a round."""

    def read(name: str) -> DataFrame:
        reader = spark.readStream.schema(SCHEMAS[name]).option("maxFilesPerTrigger", 1)
        return reader.parquet(str(folder / name))

    def lookup() -> DataFrame:
        looking_up = read(LABELS).withWatermark("ts", "1 second")
        return kept(read(EVENTS).withWatermark("ts", "1 second")).lookup(looking_up, features())

    def columns() -> DataFrame:
        both = read(EVENTS).unionByName(
            read(LABELS).selectExpr("key", "ts", "label AS seq", "1D AS price")
        )
        return kept(both.withWatermark("ts", "1 second")).withColumns(features())

    def run(result: DataFrame, name: str) -> float:
        checkpoint = folder / f"checkpoint-{name}-{number}"
        writer = result.writeStream.format("noop").trigger(availableNow=True)
        query = writer.option("checkpointLocation", str(checkpoint)).start()
        query.awaitTermination()
        progress = [json.loads(each.json) for each in query.recentProgress]
        timed = [each for each in progress if each["numInputRows"] > 0][SETTLING:]
        if any(each["numInputRows"] != 2 * rows for each in timed):
            raise RuntimeError(f"the micro-batches of {name} do not have {2 * rows:,} rows")
        return sum(each["durationMs"]["addBatch"] for each in timed) / 1e3

    return {
        LOOKUPS: lambda: run(lookup(), "lookup"),
        COLUMNS: lambda: run(columns(), "columns"),
    }


# ---- Results


def measure(name: str, rounds: int, sides_of: Callable[[int], Sides]) -> list[Times]:
    """Run all sides in turns. Each round begins with another side."""
    taken = []
    for number in range(rounds):
        sides = list(sides_of(number).items())
        first = number % len(sides)
        times = {side: run() for side, run in [*sides[first:], *sides[:first]]}
        taken.append(times)
        shown = ", ".join(f"{side} {each:.1f} s" for side, each in times.items())
        print(f"{name} {number}: {shown}", flush=True)
    return taken


def lines(name: str, taken: list[Times], side: str, others: list[str]) -> list[str]:
    """Return a line of the table for each side that another one is compared with."""
    made = []
    for other in others:
        ratios = [times[side] / times[other] for times in taken if other in times]
        if ratios:
            made.append(
                f"| {name} | {side} | {other} | **{median(ratios):.2f}**"
                f" | {min(ratios):.2f} to {max(ratios):.2f} |"
            )
    return made


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = ["training", "one-row", "stream"]
    parser.add_argument("parts", nargs="*", metavar="part", help=", ".join(names))
    parser.add_argument("--events", type=float, default=50, help="millions (default: 50)")
    parser.add_argument("--labels", type=float, default=5, help="millions (default: 5)")
    parser.add_argument("--keys", type=int, default=10_000, help="of both (default: 10,000)")
    parser.add_argument("--rounds", type=int, default=3, help="timed rounds (default: 3)")
    parser.add_argument(
        "--batch", type=int, default=200_000, help="events of a micro-batch, and labels of it"
    )
    parser.add_argument("--batches", type=int, default=8, help="timed micro-batches (default: 8)")
    artifacts = ROOT / "artifacts" / "benchmarks"
    parser.add_argument("--data", type=Path, default=artifacts / "data", help="input files")
    parser.add_argument("--out", type=Path, default=artifacts, help="where the results go")
    args = parser.parse_args()
    unknown = sorted(set(args.parts) - set(names))
    if unknown:
        parser.error(f"{unknown[0]} is none of {', '.join(names)}")
    args.parts = args.parts or names
    return args


def main() -> None:
    """Measure the parts, and write their times."""
    args = arguments()
    # DuckDB reads the files too.
    spark = session(PARTITIONS, {"spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS"})
    of_events, of_labels = int(args.events * MILLION), int(args.labels * MILLION)
    folder = args.data / f"lookups-{of_events}-{of_labels}-{args.keys}"
    tables = Tables(folder, of_events, of_labels, args.keys)
    measured: dict[str, list[Times]] = {}
    table = ["| part | side | compared with | ratio | spread |", "|---|---|---|--:|--:|"]
    if {"training", "one-row"} & set(args.parts):
        tables.write(spark)
    if "training" in args.parts:
        sides = training(spark, tables)
        measured["training"] = measure("training", args.rounds, lambda _: sides)
        table += lines("training", measured["training"], LOOKUP, [FLOOR])
    if "one-row" in args.parts:
        joins = one_row(spark, tables)
        measured["one-row"] = measure("one-row", args.rounds, lambda _: joins)
        table += lines("one-row", measured["one-row"], JOIN, [OF_SPARK, OF_DUCKDB])
    if "stream" in args.parts:
        spark.conf.set("spark.sql.shuffle.partitions", THREADS)
        with tempfile.TemporaryDirectory(prefix="winops-lookups-") as temporary:
            work = Path(temporary)
            write_batches(spark, work, args.batch, args.batches + SETTLING, args.keys)
            measured["stream"] = measure(
                "stream", args.rounds, lambda number: streams(spark, work, args.batch, number)
            )
        table += lines("stream", measured["stream"], LOOKUPS, [COLUMNS])
    taken_with = versions(spark) | {"duckdb": duckdb.__version__}
    table += ["", ", ".join(f"{name} {version}" for name, version in taken_with.items()), ""]
    args.out.mkdir(parents=True, exist_ok=True)
    found = {
        "versions": taken_with,
        "events": of_events,
        "labels": of_labels,
        "keys": args.keys,
        "batch": args.batch,
        "rounds": measured,
    }
    (args.out / "lookups.json").write_text(json.dumps(found, indent=2) + "\n")
    (args.out / "lookups.md").write_text("\n".join(table))
    print("\n" + "\n".join(table))
    spark.stop()


if __name__ == "__main__":
    main()
