"""Lists the versions of the site, and leads its first page to the newest one.

Each version has a folder, which a later build keeps: `python docs/versions.py target/site/html`
writes `versions.json`, which the pages of all versions read, and `index.html`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

START = "docs/index.html"


def order(version: str) -> list[tuple[bool, int, str]]:
    """Return a sort key: numbers as numbers, and a pre-release before its release."""
    parts = version.replace("-", ".").split(".")
    keys = [(True, int(part), "") if part.isdigit() else (False, 0, part) for part in parts]
    return [*keys, (True, -1, "")]


def main(site: Path) -> None:
    """Write the two files."""
    found = [folder.name for folder in site.iterdir() if (folder / START).is_file()]
    versions = sorted(found, key=order, reverse=True)
    listed = [{"version": name, "url": f"../../{name}/{START}"} for name in versions]
    (site / "versions.json").write_text(json.dumps(listed, indent=2) + "\n")
    (site / "index.html").write_text(
        '<!doctype html>\n<meta charset="utf-8">\n<title>winops</title>\n'
        f'<meta http-equiv="refresh" content="0; url={versions[0]}/{START}">\n'
        f'<a href="{versions[0]}/{START}">winops {versions[0]}</a>\n'
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
