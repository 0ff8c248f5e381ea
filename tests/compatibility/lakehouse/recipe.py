"""Runs the blocks of the page docs/how-to/delta.md with Delta Lake alone, as the page says."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.compatibility.lakehouse.merge import jars
from tests.compatibility.recipes import session
from tests.support.markdown import check_blocks
from tests.support.paths import ROOT

PAGE = ROOT / "docs" / "how-to" / "delta.md"


def main(transport: str) -> None:
    delta = [jar for jar in jars() if "iceberg" not in Path(jar).name]
    with TemporaryDirectory() as name:
        spark = session(transport, Path(name), delta, PAGE)
        run = check_blocks(PAGE, {"spark": spark})
        spark.stop()
    print(f"{run} blocks of the page ran")


if __name__ == "__main__":
    main(sys.argv[1])
