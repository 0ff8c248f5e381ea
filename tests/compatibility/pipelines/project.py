"""A project of spark-pipelines, whose tables are in the file catalog of the tests."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyspark

from tests.support.paths import ROOT
from winops import jar_path

CATALOG = "files"
_SOURCES = Path(__file__).parent
_SPARK = Path(pyspark.__file__).parent
_TIMEOUT = 600


def catalog(folder: str) -> dict[str, str]:
    """Return the settings of the catalog."""
    name = f"spark.sql.catalog.{CATALOG}"
    return {name: "winops.tests.FileCatalog", f"{name}.path": folder}


def compiled(folder: Path) -> Path:
    """Compile the catalog against the Spark that is installed, and return its JAR."""
    classes = folder / "classes"
    classes.mkdir(parents=True)
    source = str(_SOURCES / "FileCatalog.java")
    jars = str(_SPARK / "jars" / "*")
    _run(["javac", "-nowarn", "--release", "17", "-cp", jars, "-d", str(classes), source], folder)
    jar = shutil.make_archive(str(folder / "catalog"), "zip", classes)
    return Path(jar).rename(folder / "catalog.jar")


class Project:
    """A project in a folder: its rows come from files in `rows`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.rows = folder / "rows"
        self.rows.mkdir(parents=True)
        self._tables = str(folder / "tables")
        self._jar = compiled(folder / "catalog")
        shutil.copytree(_SOURCES / "transformations", folder / "transformations")
        # JSON is YAML.
        spec = {
            "name": "orders",
            "storage": (folder / "storage").as_uri(),
            "catalog": CATALOG,
            "database": "shop",
            "configuration": {"winops.tests.rows": str(self.rows)},
            "libraries": [{"glob": {"include": "transformations/**"}}],
        }
        (folder / "spark-pipeline.yml").write_text(json.dumps(spec), encoding="utf-8")
        # Options of spark-pipelines do not reach the server that it starts.
        settings = {
            **catalog(self._tables),
            "spark.jars": f"{jar_path()},{self._jar}",
            "spark.sql.shuffle.partitions": "2",
            "spark.sql.warehouse.dir": str(folder / "warehouse"),
            "spark.ui.enabled": "false",
        }
        self._conf = folder / "conf"
        self._conf.mkdir()
        lines = "".join(f"{name} {value}\n" for name, value in settings.items())
        (self._conf / "spark-defaults.conf").write_text(lines, encoding="utf-8")

    def run(self) -> None:
        """Run the pipeline over the rows that are new."""
        program = str(Path(sys.executable).with_name("spark-pipelines"))
        command = [program, "run", "--spec", "spark-pipeline.yml"]
        _run(command, self.folder, {"SPARK_CONF_DIR": str(self._conf)})

    def table(self, name: str) -> list[dict[str, Any]]:
        """Return the rows of a table."""
        module = "tests.compatibility.pipelines.read"
        words = [str(self._jar), self._tables, name]
        printed = _run([sys.executable, "-m", module, *words], ROOT)
        lines = printed.splitlines()
        return [json.loads(line) for line in lines if line.startswith("{")]


def _run(command: list[str], folder: Path, variables: Mapping[str, str] | None = None) -> str:
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=_TIMEOUT,
        check=False,
        cwd=folder,
        env=os.environ | {"PYSPARK_PYTHON": sys.executable} | dict(variables or {}),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
