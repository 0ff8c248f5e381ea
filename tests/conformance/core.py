"""Runs cases on the machine itself, without Spark, in one JVM."""

import importlib.util
import json
import os
import shutil
import subprocess
from importlib.metadata import version
from pathlib import Path

import values
from cases import Case, Unusable
from compare import Answer

_SPARK = ".".join(version("pyspark").split(".")[:2])
JAR = Path(__file__).parents[2] / "target" / "jars" / f"winops-conformance_{_SPARK}.jar"
MAIN = "winops.conformance.Main"


def answers(cases: list[Case], save: str = "never") -> list[Answer]:
    """Answer cases.

    ``save`` selects the inputs before which all groups are stored and restored: ``never``,
    ``always``, or a seed for a random choice.
    """
    process = subprocess.run(
        [_java(), "-cp", f"{_jar()}{os.pathsep}{_spark_jars()}", MAIN, save],
        input="".join(json.dumps(case) + "\n" for case in cases),
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    if process.returncode != 0:
        raise Unusable(f"the conformance runner failed:\n{process.stderr}")
    answers = [json.loads(line) for line in process.stdout.splitlines()]
    return [_with_posts(*pair) for pair in zip(cases, answers, strict=True)]


def _with_posts(case: Case, answer: Answer) -> Answer:
    computes = values.computes(case) and "steps" in answer
    return {"posts": answer["steps"]} if computes else answer


def _jar() -> Path:
    if not JAR.is_file():
        raise Unusable(f"{JAR} is missing; `make jar` builds it")
    return JAR


def _spark_jars() -> str:
    spec = importlib.util.find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise Unusable("pyspark is missing; `make setup` installs it")
    return str(Path(spec.origin).parent / "jars" / "*")


def _java() -> str:
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    if java is None:
        raise Unusable("java is missing: neither JAVA_HOME nor PATH leads to it")
    return java
