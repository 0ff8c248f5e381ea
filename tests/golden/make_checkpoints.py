"""Makes the checkpoints of this version that all later ones have to go on with."""

from __future__ import annotations

import argparse
import json
import shutil
import tarfile
import tempfile
from collections import Counter
from pathlib import Path

from pyspark.sql import SparkSession

from tests.golden.cases import CASES, GoldenCase
from tests.support.golden import CHECKPOINTS, ROOT, current_format, output_lines, write_source
from tests.support.replay import finish
from tests.support.settings import PARTITIONS, settings
from winops import configure

_KEPT = ["query.json", "before.json", "after.json", "expected.json", "checkpoint"]


def main() -> None:
    """Make them all, or none."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--replace", action="store_true", help="those of this very version, if not released"
    )
    replace = parser.parse_args().replace
    version = (ROOT / "VERSION").read_text().strip()
    target = CHECKPOINTS / f"{version}-format{current_format()}"
    if target.exists() and not replace:
        raise SystemExit(
            f"{target.relative_to(ROOT)} is there. What a release has written stays as it is; "
            "--replace makes anew what no release has written."
        )
    spark = session()
    with tempfile.TemporaryDirectory(prefix="golden") as made:
        for case in CASES:
            make(spark, case, Path(made))
        spark.stop()
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True)
        for archive in Path(made).glob("*.tar.xz"):
            shutil.copy(archive, target)
    print(f"{target.relative_to(ROOT)}: {size(target)} bytes in {len(CASES)} checkpoints")


def session() -> SparkSession:
    """Give a session in which a query is what it is in the tests."""
    builder = SparkSession.builder.appName("golden checkpoints").master("local[2]")
    builder = builder.config("spark.ui.enabled", "false").config(PARTITIONS, "2")
    builder = builder.config("spark.ui.showConsoleProgress", "false")
    return configure(builder.config("spark.sql.session.timeZone", "UTC")).getOrCreate()


def make(spark: SparkSession, case: GoldenCase, made: Path) -> None:
    """Run a query over its first batches; the rest of its changes are those of a table."""
    folder = made / "work" / case.name
    folder.mkdir(parents=True)
    write_source(folder, case.before)
    with settings(spark, case.query.settings or {}):
        finish(case.query.start(spark, folder))
        shutil.rmtree(folder / "source")
        write_source(folder, [*case.before, *case.after])
        table = spark.read.schema(case.query.schema).json(str(folder / "source"))
        wanted = Counter(row.value for row in case.query.result(table).collect())
    given = Counter(output_lines(folder))
    if not given <= wanted or given == wanted:
        raise SystemExit(f"{case.name}: the stream does not begin as the table does")
    for name, content in (
        ("query", case.query._asdict()),
        ("before", case.before),
        ("after", case.after),
        ("expected", sorted((wanted - given).elements())),
    ):
        (folder / f"{name}.json").write_text(json.dumps(content, indent=0))
    pack(folder, made / f"{case.name}.tar.xz")


def pack(folder: Path, archive: Path) -> None:
    """Put into an archive what is kept; it does not tell who made it, nor when."""

    def anonymous(info: tarfile.TarInfo) -> tarfile.TarInfo:
        info.uid = info.gid = info.mtime = 0
        info.uname = info.gname = ""
        return info

    with tarfile.open(archive, "w:xz", preset=9) as tar:
        for name in _KEPT:
            tar.add(folder / name, name, filter=anonymous)


def size(folder: Path) -> int:
    """Give how many bytes the files of a folder have."""
    return sum(file.stat().st_size for file in folder.iterdir())


if __name__ == "__main__":
    main()
