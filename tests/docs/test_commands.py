"""Every block of a page runs, is checked, or has a reason here why it cannot run.

Blocks of Python and SQL run in test_docs.py, those of the pages on Delta Lake and Kafka in
tests/compatibility, and notebooks and examples in their own tests.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from release import maven
from release.versions import spark_releases, version

from tests.support import makefiles
from tests.support.markdown import Block, all_blocks, commands
from tests.support.paths import ROOT
from tests.support.programs import run_module
from tests.support.transports import on_classic_spark
from winops.__main__ import main

PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")),
    *sorted((ROOT / "docs").glob("**/*.md")),
    *sorted((ROOT / "deploy").glob("**/*.md")),
    *sorted((ROOT / "benchmarks").glob("**/*.md")),
]

# Languages whose blocks have tests elsewhere, or nothing that could run.
LANGUAGES = {
    "sh": "the tests below",
    "python": "test_docs.py and tests/compatibility",
    "sql": "test_docs.py",
    "scala": "ExamplesSuite of jvm/spark, if the page is scala.md; settings of sbt below",
    "java": "ExamplesSuite of jvm/spark, if the page is scala.md",
    "json": "parsed below",
    "mermaid": "drawn by make site; RoomsSuite compares the rooms with the imports",
    "{eval-rst}": "make site imports what the directives name",
}

# The first line of each block that cannot run, and the reason.
REASONS = {
    "pyspark --packages io.delta:delta-spark_4.1_2.13:4.4.0 \\": (
        "starts a shell; recipes.py starts a session with the same settings"
    ),
    "pyspark --packages org.apache.spark:spark-sql-kafka-0-10_2.13:4.1.2 \\": (
        "starts a shell; recipes.py starts a session with the same settings"
    ),
    'spark-submit --jars "$(python -m winops jar)" job.py': (
        "starts shells; make test-packages runs spark-sql with the JAR"
    ),
    f"spark-submit --packages io.github.winops:winops-spark_4.1_2.13:{version()} job.py": (
        "the artifact is not in a repository before its release; make test-packages runs this"
        " with a repository on disk"
    ),
    "pip install winops": (
        "PyPI has the package from the first release on; make test-wheel installs the wheel"
    ),
    'pip install "winops[connect]"': (
        "PyPI has the package from the first release on; make test-wheel installs the wheel"
        " beside the same libraries"
    ),
    'pip install "winops[postgres]"': (
        "PyPI has the package from the first release on; test_stores.py runs the page"
    ),
    'pip install "winops[redis]"': (
        "PyPI has the package from the first release on; test_stores.py runs the page"
    ),
    "kafka-topics.sh --bootstrap-server localhost:9092 --create --topic last-orders \\": (
        "needs a broker"
    ),
    "make wheel": "builds for minutes; make test-wheel installs the wheel and runs it",
    "#!/bin/bash": "runs on Databricks only",
    "gcloud dataproc jobs submit pyspark job.py --cluster=name --region=region \\": (
        "needs an account of Google Cloud"
    ),
    '$SPARK_HOME/sbin/start-connect-server.sh --jars "$(python -m winops jar --spark 4.1)"': (
        "needs the SPARK_HOME of a server; the tests run on its in-process server"
    ),
    "spark-submit \\": "needs a job; tests of the gauges have the settings",
    "scrape_configs:": "a setting of Prometheus, which is not installed",
    "spark.sql.extensions winops.spark.WinopsExtensions": "settings of a platform",
    "%%configure -f": "runs in a notebook of Microsoft Fabric only; its JSON is parsed below",
    "FROM apache/spark:4.1.2-scala2.13-java17-python3-ubuntu": "builds an image of a container",
    "Window(EveryRow, Arrival, MoreThan(100), Triggers(EachRow, Excess(1), Never))": (
        "an excerpt of CclSuite"
    ),
}

LAUNCHERS = ("pyspark", "spark-submit", "spark-sql")


def first_line(block: Block) -> str:
    return block.code.splitlines()[0]


def of_language(*languages: str) -> list[tuple[Path, Block]]:
    found = [(page, block) for page in PAGES for block in all_blocks(page)]
    return [(page, block) for page, block in found if block.language in languages]


def found_commands() -> Iterator[tuple[Block, list[str]]]:
    for _, block in of_language("sh"):
        if first_line(block) != "#!/bin/bash":
            for words in commands(block):
                yield block, words


def runs(words: list[str]) -> bool:
    """Return true if a command is cheap and needs nothing but the package."""
    cheap = words[:3] == ["python", "-m", "winops"] and "--remote" not in words
    return cheap and not any("$" in word for word in words)


def is_python(program: str) -> bool:
    """Return true for the Python of any environment, such as that of another release of Spark."""
    return Path(program).name == "python"


def is_checked(words: list[str]) -> bool:
    return runs(words) or words[0] in ("make", "./sbt") or is_python(words[0])


def is_of_sbt(block: Block) -> bool:
    return block.language == "scala" and first_line(block).startswith("libraryDependencies ")


def test_a_dependency_of_sbt_is_the_published_artifact() -> None:
    lines = [
        line
        for _, block in of_language("scala")
        if is_of_sbt(block)
        for line in block.code.splitlines()
    ]
    published = {(maven.GROUP, maven.artifact_id(one.minor)) for one in spark_releases()}
    assert lines
    for line in lines:
        group, artifact, number = re.findall(r'"(.*?)"', line)
        assert (group, artifact) in published
        assert number == version()


def test_each_block_runs_or_has_a_reason() -> None:
    unknown = []
    reasons = set(REASONS)
    for page, block in of_language(*{block.language for p in PAGES for block in all_blocks(p)}):
        if first_line(block) in REASONS:
            reasons.discard(first_line(block))
        elif is_of_sbt(block):
            continue
        elif block.language in ("scala", "java") and page.name != "scala.md":
            unknown.append(f"{page.name}: no build compiles this block: {first_line(block)}")
        elif block.language == "sh":
            unknown += [
                f"{page.name}: {words}" for words in commands(block) if not is_checked(words)
            ]
        elif block.language not in LANGUAGES:
            unknown.append(f"{page.name}: a block of {block.language!r}: {first_line(block)}")
    assert unknown == []
    assert reasons == set(), "reasons for blocks that no page has"


CHEAP = [
    pytest.param(block, id=first_line(block))
    for _, block in of_language("sh")
    if any(map(runs, commands(block)))
]


def with_any_versions(output: str) -> str:
    """Replace what depends on the machine: versions, and the number of cores."""
    numbers = re.sub(r"\d+(\.\d+)+", "1.2", output)
    return re.sub(r"[_ ]\d+\.\d+|\d+ cores", " 1.2", numbers).rstrip()


@pytest.mark.built
@on_classic_spark
@pytest.mark.parametrize("block", CHEAP)
def test_a_command_prints_its_output(
    block: Block,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    readings = "device,at,value\npump,2026-01-01 00:00:00,1.0\npump,2026-01-01 00:15:00,2.0\n"
    (tmp_path / "readings.csv").write_text(readings)
    ticks = "ts,symbol,price\n2026-01-01 00:00:00,A,1.0\n2026-01-01 00:00:01,A,2.0\n"
    (tmp_path / "ticks.csv").write_text(ticks)
    printed = ""
    for words in filter(runs, commands(block)):
        if "doctor" in words:
            # It starts a session.
            ran = run_module(*words[2:], folder=tmp_path)
            assert ran.returncode == 0, ran.stdout + ran.stderr
            printed += ran.stdout
        else:
            # The commands share the process that runs windows.
            returned = main(words[3:])
            shown = capsys.readouterr()
            assert returned == 0, shown.out + shown.err
            printed += shown.out
    assert printed
    for file in re.findall(r"--html (\S+)", block.code):
        assert "<svg" in (tmp_path / file).read_text()
    if block.printed is not None:
        assert all(map(runs, commands(block)))
        lines = [line.rstrip() for line in printed.splitlines()]
        assert with_any_versions("\n".join(lines)) == with_any_versions(block.printed)


def test_commands_that_take_long_name_what_exists() -> None:
    targets, variables = makefiles.targets(), makefiles.variables()
    aliases = set(re.findall(r'addCommandAlias\(\s*"(\w+)"', (ROOT / "build.sbt").read_text()))
    checked = 0
    for _, words in found_commands():
        program, *rest = words
        if program == "make":
            for word in rest:
                assert word.split("=")[0] in (variables if "=" in word else targets), words
        elif program == "./sbt":
            for word in rest:
                if not word.startswith("-D"):
                    assert word in aliases or suites_exist(word), words
        elif is_python(program) and not runs(words):
            assert options_exist(rest), words
        else:
            continue
        checked += 1
    assert checked > 30


def suites_exist(task: str) -> bool:
    """Return true if each pattern of a `module/testOnly` names a suite, or a folder of them."""
    match = re.fullmatch(r"(\w+)/testOnly (.+)", task)
    if not match:
        return False
    tests = ROOT / "jvm" / match[1] / "src" / "test" / "scala"
    return all(
        any(tests.parent.glob(f"scala*/{pattern.replace('.', '/').removesuffix('/*')}*"))
        for pattern in match[2].split()
    )


def options_exist(words: list[str]) -> bool:
    """Return true if the files exist, and the script or module declares its options."""
    if words[:2] in (["-m", "pytest"], ["-m", "winops"]):
        files = [word for word in words[2:] if word.startswith(("tests/", "benchmarks/"))]
        return all((ROOT / file).exists() for file in files)
    module = words[0] == "-m"
    script = ROOT / (f"{words[1].replace('.', '/')}.py" if module else words[0])
    source = script.read_text() if script.exists() else ""
    options = [word for word in words if word.startswith("--") and word != "--help"]
    return bool(source) and all(f'"{option}"' in source for option in options)


@on_classic_spark
def test_options_of_spark_exist() -> None:
    launcher = Path(sys.executable).with_name("spark-submit")
    ran = subprocess.run([launcher, "--help"], capture_output=True, text=True, check=False)
    known = set(re.findall(r"--[a-z-]+", ran.stdout + ran.stderr))
    assert "--packages" in known
    given = [words for _, words in found_commands() if words[0] in LAUNCHERS]
    assert len(given) >= 5
    for words in given:
        options = {word for word in words[1:] if re.fullmatch(r"--[a-z-]+", word)}
        assert options <= known, words


def test_packages_have_the_versions_of_the_build() -> None:
    [default] = [
        spark
        for spark in json.loads((ROOT / "spark-versions.json").read_text())
        if spark["default"]
    ]
    scala = f"{default['minor']}_2.13"
    packages = {
        words[words.index("--packages") + 1]
        for _, words in found_commands()
        if "--packages" in words
    }
    assert packages == {
        f"io.delta:delta-spark_{scala}:{default['delta']}",
        f"org.apache.spark:spark-sql-kafka-0-10_2.13:{default['spark']}",
        f"io.github.winops:winops-spark_{scala}:{version()}",
    }


def test_how_to_pages_with_packages_of_a_spark_version_say_that_they_need_it() -> None:
    found = 0
    for page in sorted((ROOT / "docs" / "how-to").glob("*.md")):
        text = page.read_text()
        minors = {
            re.findall(r"(?:spark_|:)(\d+\.\d+)[._]", words[words.index("--packages") + 1])[0]
            for block in all_blocks(page)
            if block.language == "sh"
            for words in commands(block)
            if "--packages" in words
        }
        for minor in minors:
            found += 1
            introduction = text.partition("\n## ")[0]
            assert f"This page needs Spark {minor}" in introduction, page.name
            assert f'`pip install winops "pyspark=={minor}.*"`' in introduction, page.name
    assert found == 4


def test_blocks_of_json_parse() -> None:
    found = of_language("json", "none")
    assert len(found) >= 3
    for page, block in found:
        # A magic command of a notebook.
        lines = [line for line in block.code.splitlines() if not line.startswith("%%")]
        assert json.loads("\n".join(lines)), page.name


def test_notebooks_and_examples_run_in_tests() -> None:
    tests = "\n".join(file.read_text() for file in (ROOT / "tests" / "docs").glob("test_*.py"))
    for example in (ROOT / "examples").glob("*.py"):
        named = f'"{example.stem}"' in tests or f'"{example.name}"' in tests
        assert named, example.name
    assert 'glob("**/*.ipynb")' in tests
    on_delta = (ROOT / "tests/compatibility/lakehouse/test_lakehouse.py").read_text()
    for page in PAGES:
        if page.name.startswith("delta"):
            assert f'("{page.name}", ' in on_delta, page.name


def test_readme_begins_with_the_commands_that_run_and_test_winops() -> None:
    """One block on the first screen has both, each with its purpose and its time."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    first_screen = "\n".join(text.partition("\n## ")[0].splitlines()[:24])
    blocks = re.findall(r"```sh\n(.*?)```", first_screen, re.DOTALL)
    assert len(blocks) == 1
    lines = dict(line.split("#", 1) for line in blocks[0].splitlines())
    assert [command.strip() for command in lines] == ["make demo", "make test"]
    for purpose in lines.values():
        assert re.search(r"\b(minutes|hour)\b", purpose)
    assert "page" in lines["make demo   "]
    assert re.search(r"JDK 17.*Maven.*Python 3\.11", first_screen)
    # The demo ends with the address of its page, as test_flights.py checks.
    program = (ROOT / "examples" / "flights.py").read_text(encoding="utf-8")
    assert 'print(f"page: {pictures.resolve().as_uri()}")' in program
