"""All code of the documentation runs and prints the documented output."""

from __future__ import annotations

import doctest
import importlib
import inspect
import json
import pkgutil
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

import winops
from tests.support import makefiles
from tests.support.markdown import blocks, check_blocks
from tests.support.paths import ROOT
from tests.support.pictures import make_windows
from tests.support.settings import settings_restored
from tests.support.suites import python_tests, scala_tests
from tests.support.transports import interpreted, longer_on_connect, same_on_connect
from winops import _errors, apama, esper, keep, spl, testing

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]
NOTEBOOKS = sorted((ROOT / "docs").glob("**/*.ipynb"))
# The blocks of these pages need Delta Lake, a broker or a server, so they run in the tests of
# tests/compatibility. Blocks of other languages are in test_commands.py.
ELSEWHERE = {
    ROOT / "docs" / "how-to" / name
    for name in (
        "cdc.md",
        "delta.md",
        "delta-restarts.md",
        "kafka.md",
        "postgresql.md",
        "redis.md",
    )
}
RUN_HERE = [
    *(page for page in PAGES if page not in ELSEWHERE),
    *(pytest.param(notebook, marks=same_on_connect) for notebook in NOTEBOOKS),
]
# These pages have no runnable blocks.
ALL_PAGES = [
    *PAGES,
    *NOTEBOOKS,
    *(ROOT / name for name in ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")),
    *sorted((ROOT / "benchmarks").glob("**/*.md")),
    *sorted((ROOT / "deploy").glob("**/*.md")),
]
MODULES = sorted(found.name for found in pkgutil.walk_packages(winops.__path__, "winops."))
CONDITIONS = ROOT / "jvm/spark/src/main/resources/error/winops-error-conditions.json"


@longer_on_connect
@interpreted
@pytest.mark.parametrize("page", RUN_HERE, ids=lambda page: str(page.relative_to(ROOT)))
def test_code_blocks_of_a_page_print_their_output(spark: SparkSession, page: Path) -> None:
    # A page may recommend settings; the next page begins without them.
    with settings_restored(spark):
        check_blocks(page, {"spark": spark})


@interpreted
@pytest.mark.parametrize("module", ["winops", *MODULES])
def test_examples_of_a_module_print_their_output(spark: SparkSession, module: str) -> None:
    loaded = importlib.import_module(module)
    results = doctest.testmod(loaded, extraglobs={"spark": spark})
    assert results.failed == 0
    if module in ("winops", "winops._keep", "winops._kept", "winops._session", "winops.testing"):
        assert results.attempted > 0


def test_the_quickstart_equals_the_second_block_of_the_readme() -> None:
    second = blocks(ROOT / "README.md")[1]
    assert second.language == "python"
    assert (ROOT / "examples" / "quickstart.py").read_text() == second.code


def test_every_error_condition_is_documented() -> None:
    own = {value for name, value in vars(_errors).items() if name.isupper()}
    spark_side = json.loads(CONDITIONS.read_text())
    page = (ROOT / "docs" / "errors.md").read_text()
    assert set(re.findall(r"^### (WINOPS_\w+)$", page, re.MULTILINE)) == own | set(spark_side)
    documented = set(re.findall(r"^\| `(WINOPS_\w+\.\w+)` ", page, re.MULTILINE))
    assert documented == {
        f"{name}.{kind}"
        for name, entry in spark_side.items()
        for kind in entry.get("subClass", {})
    }
    for name, entry in spark_side.items():
        section = page.split(f"### {name}\n")[1].split("\n#")[0]
        assert f"SQLSTATE {entry['sqlState']}" in section


def test_conditions_named_in_pages_exist() -> None:
    known = set(json.loads(CONDITIONS.read_text())) | {
        value for name, value in vars(_errors).items() if name.isupper()
    }
    settings = {"WINOPS_TRANSPORT"}
    for page in ALL_PAGES:
        assert set(re.findall(r"WINOPS_\w+", page.read_text())) <= known | settings, page.name


MISTAKES = re.findall(
    r"^\| `WINOPS_POLICY\.(\w+)` \| .* \| `(.+?)`(?: without `\w+`)? \|$",
    (ROOT / "docs" / "errors.md").read_text(),
    re.MULTILINE,
)


def test_most_mistakes_in_a_policy_have_an_example() -> None:
    assert len(MISTAKES) >= 14


@same_on_connect
@pytest.mark.parametrize(("kind", "text"), MISTAKES, ids=lambda text: text[:30])
def test_an_example_of_a_mistake_causes_its_error(
    spark: SparkSession, kind: str, text: str
) -> None:
    rows = spark.createDataFrame([(1, "A")], "seq long, symbol string")
    language = {"KEEP": str, "#": esper, "r": apama, "s": spl}
    [wrap] = [wrap for start, wrap in language.items() if text.startswith(start)]
    with pytest.raises(AnalysisException) as caught:
        assert keep(rows, wrap(text), order_by="seq").changes().schema
    assert caught.value.getCondition() == f"WINOPS_POLICY.{kind}"


LIVE = set(
    re.findall(
        r'LiveMetric\("(\w+)"',
        (ROOT / "jvm/spark/src/main/scala/winops/spark/live/LiveMetric.scala").read_text(),
    )
)


def test_numbers_of_the_live_view_are_documented() -> None:
    table = (ROOT / "docs" / "live.md").read_text().split("\n## Numbers\n")[1].split("\n## ")[0]
    lines = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    assert set(re.findall(r"`(\w+)`", "".join(lines))) == LIVE


def test_metrics_named_in_pages_exist_and_all_are_documented() -> None:
    source = ROOT / "jvm/spark/src/main/scala/winops/spark/internal/KeepMetrics.scala"
    own = set(re.findall(r'^  (?:private )?val \w+ = "(\w+)"$', source.read_text(), re.MULTILINE))
    # A metric of Spark's StateOperatorProgress.
    known = own | {"numRowsTotal"}
    for page in ALL_PAGES:
        named = re.findall(r"`(groups\w*|(?:rows|numRows|numOutput)[A-Z]\w*)`", page.read_text())
        assert set(named) <= known | LIVE, page.name
    table = (ROOT / "docs" / "metrics.md").read_text().split("\n## Metrics\n")[1]
    lines = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    assert set(re.findall(r"`(\w+)`", "".join(lines))) == known - {"numOutputRows"}


def test_arguments_named_in_pages_exist() -> None:
    public = [getattr(winops, name) for name in winops.__all__]
    public += [getattr(testing, name) for name in testing.__all__]
    functions = [thing for thing in public if callable(thing)]
    methods = [
        method
        for of in (winops.Kept, winops.GroupedKept)
        for name, method in inspect.getmembers(of, inspect.isfunction)
        if not name.startswith("_")
    ]
    known = {
        name for thing in [*functions, *methods] for name in inspect.signature(thing).parameters
    }
    for page in ALL_PAGES:
        named = set(re.findall(r"`(\w+)=", page.read_text()))
        # Options of programs are in upper case.
        assert {name for name in named if name.islower()} <= known, page.name


def test_arguments_of_the_sql_function_are_documented() -> None:
    source = (ROOT / "jvm/spark/src/main/scala/winops/spark/analysis/Arguments.scala").read_text()
    names = re.findall(r'"(\w+)"', source.split("val Names: Seq[String] =")[1].split(")\n")[0])
    assert len(names) > 10
    page = (ROOT / "docs" / "sql.md").read_text()
    assert [name for name in names if f"`{name}`" not in page] == []


def test_make_targets_named_in_pages_exist() -> None:
    targets = makefiles.targets()
    for page in ALL_PAGES:
        named = re.findall(r"(?:`|^)make ([a-z-]+)", page.read_text(), re.MULTILINE)
        assert set(named) <= targets, page.name


def test_tests_named_in_pages_exist() -> None:
    suites = {file.stem for file in (ROOT / "jvm").glob("*/src/test/**/*Suite.scala")}
    programs = {file.name for file in (ROOT / "tests").glob("**/test_*.py")}
    programs |= {file.name for file in (ROOT / "benchmarks").glob("**/test_*.py")}
    for page in ALL_PAGES:
        text = page.read_text()
        assert set(re.findall(r"\b([A-Z]\w+Suite)\b", text)) <= suites, page.name
        assert set(re.findall(r"\b(test_\w+\.py)\b", text)) <= programs, page.name


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page, as GitHub names them."""
    titles = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize(("module", "suite"), [("core", "winops"), ("spark", "winops/spark")])
def test_the_page_on_architecture_has_a_row_for_each_room(module: str, suite: str) -> None:
    source = (ROOT / f"jvm/{module}/src/test/scala/{suite}/RoomsSuite.scala").read_text()
    lines = re.findall(r'^ +"([\w.]*)"[,)]+$', source, re.MULTILINE)
    # The room without a name is that of the package.
    rooms = {name or "winops.spark" for name in lines if not name.startswith(("winops", "org."))}
    page = (ROOT / "docs/contributing/architecture.md").read_text()
    table = page.split(f"### Rooms of jvm/{module}\n", 1)[1].split("\n| Room | ", 1)[1]
    rows = table.split("\n\n", 1)[0].splitlines()[2:]
    named = [name for row in rows for name in re.findall("`(.*?)`", row.split("|")[1])]
    assert len(rooms) > 15
    assert sorted(named) == sorted(rooms)


def test_links_between_pages_have_targets() -> None:
    for page in ALL_PAGES:
        for target, anchor in re.findall(r"\]\(([^)#]*)(?:#([^)]+))?\)", page.read_text()):
            if not target.startswith("http"):
                led_to = page.parent / target if target else page
                assert led_to.exists(), f"{page.name}: {target}"
                assert not anchor or anchor in anchors(led_to), f"{page.name}: {target}#{anchor}"


def test_every_window_has_a_sample_for_its_picture() -> None:
    assert make_windows().differences() == []


def test_rows_of_a_table_have_as_many_cells_as_its_header() -> None:
    tables = 0
    for page in ALL_PAGES:
        cells = 0
        text = re.sub(r"^( *)```.*?^\1```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
        for line in text.splitlines() if page.suffix == ".md" else []:
            if not line.startswith("|"):
                cells = 0
                continue
            count = len(re.findall(r"(?<!\\)\|", line))
            tables += cells == 0
            cells = cells or count
            assert count == cells, f"{page.relative_to(ROOT)}: {line}"
    assert tables > 100


def rules(page: Path) -> list[tuple[str, str]]:
    """Return the first cell and the others of each rule in the tables of a page on restarts."""
    tables = re.findall(r"^\| Change \|.*\n\|-.*\n((?:\| .*\n)+)", page.read_text(), re.MULTILINE)
    return re.findall(r"^\| ([^|]+) \| (.*)$", "".join(tables), re.MULTILINE)


def test_every_restart_rule_has_tests_that_exist() -> None:
    changes = [change for change, _ in rules(ROOT / "docs" / "restarts.md")]
    assert len(changes) > 25
    tested = rules(ROOT / "docs" / "contributing" / "restart-tests.md")
    assert [change for change, _ in tested] == changes
    for rule, tests in tested:
        assert_tests_exist(rule, tests)


def assert_tests_exist(rule: str, tests: str) -> None:
    """Assert that a cell names tests of a rule, and that they exist."""
    named = re.findall(r"`(?:(\w+)/)?(\w+\.py)::(\w+)`|`(\w+Suite): ([^`]+)`", tests)
    assert named, rule
    for folder, file, function, suite, text in named:
        found = sources().get(file or f"{suite}.scala", [])
        (source,) = [each for each in found if not folder or each.parent.name == folder]
        if file:
            assert function in python_tests(source.read_text()), (rule, function)
        else:
            assert text in scala_tests(source.read_text()), (rule, text)


@cache
def sources() -> dict[str, list[Path]]:
    """Return the files with tests by their names."""
    files = [*ROOT.glob("tests/*/**/*.py"), *ROOT.glob("jvm/*/src/test/**/*.scala")]
    found: dict[str, list[Path]] = {}
    for file in files:
        found.setdefault(file.name, []).append(file)
    return found


def test_every_rule_of_lookups_has_tests_that_exist() -> None:
    page = (ROOT / "docs" / "lookup-rules.md").read_text()
    rules = re.findall(r"^\* \*\*(\w+-\d+)\*\*", page, re.MULTILINE)
    assert rules == [f"LU-{n}" for n in range(1, 17)] + [f"AJ-{n}" for n in range(1, 7)]
    tests = (ROOT / "docs" / "contributing" / "lookup-tests.md").read_text()
    tested = re.findall(r"^\| (\w+-\d+) \| (.*)$", tests, re.MULTILINE)
    assert [rule for rule, _ in tested] == rules
    for rule, named in tested:
        assert_tests_exist(rule, named)
    restarts = (ROOT / "docs" / "lookup.md").read_text().split("| What differs |")[1]
    changes = re.findall(r"^\| ([^|]+) \| [^|]+ \|$", restarts, re.MULTILINE)
    checked = tests.split("| What differs |")[1]
    named_by_change = re.findall(r"^\| ([^|]+) \| (.*)$", checked, re.MULTILINE)
    assert len(changes) > 5
    assert [change for change, _ in named_by_change] == changes
    for change, named in named_by_change:
        assert_tests_exist(change, named)


def test_everything_public_is_documented() -> None:
    for name in winops.__all__:
        thing = getattr(winops, name)
        assert "Examples\n" in thing.__doc__, name


@longer_on_connect
@interpreted
def test_why_a_row_left_is_right_for_null_keys_and_groups_that_return(
    spark: SparkSession,
) -> None:
    # The page's own function, over other changes.
    names: dict[str, Any] = {"spark": spark}
    exec(blocks(ROOT / "docs" / "how-to" / "evictions.md")[0].code, names)
    names["changes"].unpersist()
    rows = spark.sql(
        "SELECT id AS seq, IF(id % 2 = 0, 'a', NULL) AS device, "
        "timestamp_seconds(IF(id < 8, id, id + 100)) AS ts FROM range(16)"
    )
    kept = keep(rows, "KEEP 2 ROWS", per="device", time="ts", idle="50 seconds")
    names["changes"] = kept.changes(reason=True).persist()
    # Rows 4 and 12, of two groups, leave in steps of one number.
    for seq in range(16):
        found = [(row["reason"], row["evicted_by"]) for row in names["why"](seq).collect()]
        left = [("displaced", seq + 4)] if seq % 8 < 4 else [("group idle", None)]
        assert found == (left if seq < 12 else [])
    names["changes"].unpersist()
