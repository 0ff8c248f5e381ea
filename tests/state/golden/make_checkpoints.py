"""Archives checkpoints of this version that all later versions must be able to continue."""

from __future__ import annotations

import argparse
import json
import shutil
import tarfile
import tempfile
from collections import Counter
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tests.state.golden.case import GoldenCase
from tests.state.golden.cases import CASES, SPARK_CASES
from tests.state.golden.checkpoints import (
    BATCH_TIME,
    GoldenQuery,
    folder_of,
    output_lines,
    write_source,
)
from tests.support.paths import ROOT
from tests.support.replay import finish
from tests.support.settings import PARTITIONS, settings
from tests.support.versions import DEFAULT, MINOR
from winops import configure

_LONG_AFTER = 4_000_000_000_000
_KEPT = ["query.json", "before.json", "after.json", "expected.json", "checkpoint"]


def main() -> None:
    """Archive the missing checkpoints, all or none of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--replace", action="store_true", help="those of this very version too, if not released"
    )
    replace = parser.parse_args().replace
    version = (ROOT / "VERSION").read_text().strip()
    target = folder_of(version, MINOR)
    cases = CASES if MINOR == DEFAULT else SPARK_CASES
    missing = [case for case in cases if replace or not (target / f"{case.name}.tar.xz").exists()]
    spark = session()
    with tempfile.TemporaryDirectory(prefix="golden") as made:
        for case in missing:
            make(spark, case, Path(made))
        spark.stop()
        if replace:
            shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True, exist_ok=True)
        for archive in Path(made).glob("*.tar.xz"):
            shutil.copy(archive, target)
    print(f"{target.relative_to(ROOT)}: {len(missing)} made, {size(target)} bytes in all")


def session() -> SparkSession:
    """Return a session with the settings of the tests."""
    builder = SparkSession.builder.appName("golden checkpoints").master("local[2]")
    builder = builder.config("spark.ui.enabled", "false").config(PARTITIONS, "2")
    builder = builder.config("spark.ui.showConsoleProgress", "false")
    return configure(builder.config("spark.sql.session.timeZone", "UTC")).getOrCreate()


def make(spark: SparkSession, case: GoldenCase, made: Path) -> None:
    """Run a query over its first batches; a table supplies the rest of its changes."""
    folder = made / "work" / case.name
    folder.mkdir(parents=True)
    write_source(folder, case.before)
    with settings(spark, case.query.settings or {}):
        finish(case.query.start(spark, folder))
        shutil.rmtree(folder / "source")
        write_source(folder, [*case.before, *case.after])
        table = spark.read.schema(case.query.schema).json(str(folder / "source"))
        query = case.query
        if query.told_until is not None:
            query, table = by_batch_time(case, folder / "checkpoint", table)
        wanted = Counter(row.value for row in query.result(table).collect())
    given = Counter(output_lines(folder))
    if not given <= wanted or given == wanted:
        raise SystemExit(f"{case.name}: the stream does not begin as the table does")
    for name, content in (
        ("query", case.query.as_data()),
        ("before", case.before),
        ("after", case.after),
        ("expected", sorted((wanted - given).elements())),
    ):
        (folder / f"{name}.json").write_text(json.dumps(content, indent=0))
    pack(folder, made / f"{case.name}.tar.xz")


def by_batch_time(
    case: GoldenCase, checkpoint: Path, table: DataFrame
) -> tuple[GoldenQuery, DataFrame]:
    """Add the batch time to the rows, and return the query that uses it as time."""
    came = F.timestamp_millis(F.lit(_LONG_AFTER))
    for number, rows in reversed(list(enumerate(case.before))):
        metadata = (checkpoint / f"offsets/{number}").read_text().splitlines()[1]
        batch = F.timestamp_millis(F.lit(json.loads(metadata)["batchTimestampMs"]))
        came = F.when(F.col("seq") <= rows[-1]["seq"], batch).otherwise(came)
    keeps = [
        one._replace(arguments={**one.arguments, "time": BATCH_TIME}) for one in case.query.keeps
    ]
    return case.query._replace(keeps=keeps), table.withColumn(BATCH_TIME, came)


def pack(folder: Path, archive: Path) -> None:
    """Write the archive without owner and modification time."""

    def anonymous(info: tarfile.TarInfo) -> tarfile.TarInfo:
        info.uid = info.gid = info.mtime = 0
        info.uname = info.gname = ""
        return info

    with tarfile.open(archive, "w:xz", preset=9) as tar:
        for name in _KEPT:
            tar.add(folder / name, name, filter=anonymous)


def size(folder: Path) -> int:
    """Return the total size of the files of a folder in bytes."""
    return sum(file.stat().st_size for file in folder.iterdir())


if __name__ == "__main__":
    main()
