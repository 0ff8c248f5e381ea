"""`make test-packages` fails if a JAR does not run, or if a foreign one is not refused."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.paths import ROOT

SCRIPT = "tests/build/from_repository"
# A stand-in for spark-sql and spark-submit of Spark 4.1.2.
SPARK = """#!/usr/bin/env bash
ivy=
for word in "$@"; do
  case $word in
    spark.jars.ivy=*) ivy=${word#*=} ;;
    *winops-spark_4.2_2.13*) FOREIGN ;;
  esac
done
if [[ -n $ivy ]]; then
  mkdir -p "$ivy/jars"
  touch "$ivy/jars/io.github.winops_winops-spark_4.1_2.13-1.2.0.jar"
fi
printf '1.2.0\\t2\\n'
"""
REFUSAL = (
    "[WINOPS_SPARK_VERSION] The JAR of winops 1.2.0 is for Spark 4.2, but this is Spark 4.1.2."
)


def run(folder: Path, foreign: str) -> subprocess.CompletedProcess[str]:
    """Run the script in a tree of stand-ins, of which one is started with a foreign artifact."""
    programs = {
        "python": '#!/usr/bin/env bash\necho "4.1 4.2"\n',
        "tests/compatibility/releases/venv": "#!/usr/bin/env bash\n",
        "target/releases/4.1.2/bin/spark-sql": SPARK.replace("FOREIGN", foreign),
        "target/releases/4.1.2/bin/spark-submit": SPARK.replace("FOREIGN", foreign),
    }
    for name, text in programs.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    (folder / "VERSION").write_text("1.2.0\n")
    (folder / SCRIPT).parent.mkdir(parents=True)
    shutil.copy(ROOT / SCRIPT, folder / SCRIPT)
    return subprocess.run(
        [folder / SCRIPT, folder / "python", "4.1.2"], capture_output=True, text=True, check=False
    )


def test_a_foreign_artifact_must_be_refused(tmp_path: Path) -> None:
    done = run(tmp_path, f'echo "{REFUSAL}" >&2; exit 1')
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"Spark 4.1.2, artifact for Spark 4.2: {REFUSAL}" in done.stdout
    assert "Spark 4.1.2, spark-submit --packages: 1.2.0\t2" in done.stdout


@pytest.mark.parametrize(
    ("foreign", "said"),
    [
        ("true", "Spark 4.1.2 ran the artifact for Spark 4.2"),
        ("echo NoSuchMethodError >&2; exit 1", "NoSuchMethodError"),
        ("echo '[WINOPS_SPARK_VERSION] is for Spark 4.0, but' >&2; exit 1", "is for Spark 4.0"),
    ],
)
def test_a_foreign_artifact_that_is_not_refused_by_name_fails(
    tmp_path: Path, foreign: str, said: str
) -> None:
    done = run(tmp_path, foreign)
    assert done.returncode == 1
    assert said in done.stdout + done.stderr
