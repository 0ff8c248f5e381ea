"""The JAR for another version of Spark in a session, which must refuse the functions of winops.

usage: foreign.py JAR
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyspark
from pyspark.sql import SparkSession

import winops
from winops import doctor, keep

EXTENSIONS = "winops.spark.WinopsExtensions"
_MINOR = ".".join(pyspark.__version__.split(".")[:2])


def needs_extensions() -> bool:
    """Return true if PySpark does not load the extensions that a JAR registers, as in 3.5."""
    return pyspark.__version__.startswith("3.")


def foreign_jars() -> list[Path]:
    """Return the JARs of the package for other minor versions than the running one."""
    return [jar for jar in _jars() if minor_of(jar) != _MINOR]


def _jars() -> list[Path]:
    return sorted(Path(winops.__file__).parent.glob("jars/winops_*.jar"))


def minor_of(jar: Path) -> str:
    return jar.name.split("_")[1]


def refusals() -> list[str]:
    """Return the refusal of each foreign JAR, each in a process of its own."""
    jars = foreign_jars()
    assert jars, "the package has no JAR for another version of Spark"
    return [_refusal_in_process(jar) for jar in jars]


def is_refused(text: str, jar: Path) -> bool:
    """Return true for the condition with the version of the JAR and that of the running Spark."""
    if f"installation of winops has no JAR for Spark {_MINOR};" in text:
        # The package itself refuses the versions for which it has no JAR.
        return "[WINOPS_SPARK_VERSION]" in text and _MINOR not in map(minor_of, _jars())
    both = f"is for Spark {minor_of(jar)}, but this is Spark {pyspark.__version__}"
    return "[WINOPS_SPARK_VERSION]" in text and both in text


def _refusal_in_process(jar: Path) -> str:
    done = subprocess.run(
        [sys.executable, __file__, str(jar)], capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()


def _refusal(call: Callable[[], object], jar: Path) -> str:
    try:
        call()
    except Exception as error:
        if not is_refused(str(error), jar):
            raise
        return str(error).splitlines()[0]
    raise AssertionError(f"{jar.name} was not refused")


def main(jar: Path) -> None:
    builder = SparkSession.builder.master("local[1]").config("spark.jars", str(jar))
    builder = builder.config("spark.ui.enabled", "false")
    if needs_extensions():
        builder = builder.config("spark.sql.extensions", EXTENSIONS)
    spark = builder.getOrCreate()
    assert spark.range(3).groupBy("id").count().count() == 3
    assert spark.sql("SELECT winops_version()").first() is not None
    query = "SELECT * FROM keep(TABLE(SELECT 1 AS a), 'KEEP 1 ROW')"
    print(_refusal(lambda: spark.sql(query), jar))
    _refusal(lambda: keep(spark.range(1), rows=1, order_by="id").rows().count(), jar)
    found = {finding.subject: finding for finding in doctor(spark).findings}
    assert found["operator"].status == "error", found
    assert is_refused(found["operator"].remedy, jar), found
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
