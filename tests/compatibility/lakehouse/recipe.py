"""Runs the blocks of a page on Delta Lake, with Delta Lake alone, as the page says."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.compatibility.lakehouse.merge import jars
from tests.compatibility.recipes import session
from tests.support.markdown import check_blocks
from tests.support.paths import ROOT

FOLDER = ROOT / "docs" / "how-to"


def main(transport: str, page: Path) -> None:
    """Run the blocks of a page."""
    delta = [jar for jar in jars() if "iceberg" not in Path(jar).name]
    with TemporaryDirectory() as name:
        spark = session(transport, Path(name), delta, page)
        run = check_blocks(page, {"spark": spark})
        spark.stop()
    print(f"{run} blocks of the page ran")


if __name__ == "__main__":
    main(sys.argv[1], FOLDER / sys.argv[2])
