"""winops and its peers return equal answers; durations are not checked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.paths import ROOT
from tests.support.programs import output_of
from tests.support.transports import on_classic_spark
from tests.support.versions import SPARK

SCRIPT = ROOT / "benchmarks" / "agree.py"
TARGET = ROOT / "target"
SPARK_JAR = TARGET / "jars" / "winops-peers-spark.jar"
# Five micro-batches of 2,000 rows over ten keys; time windows keep a thousand rows.
EXPECTED = {
    "rows": [[2000, 1800]] + [[2000, 2000]] * 4,
    "time": [[2000, 1000]] + [[2000, 2000]] * 4,
    "aggregates": [[2000, 0]] * 5,
}


def of_build(path: Path) -> pytest.MarkDecorator:
    """Skip a peer that has not been built."""
    return pytest.mark.skipif(not path.exists(), reason="`./sbt peers` has not been run")


# Its workers cannot read the schema of a state that has an array: KeyError, 'elementType'.
without_arrays_in_pandas_state = pytest.mark.skipif(
    SPARK >= (4, 3), reason="applyInPandasWithState of Spark 4.3.0 fails with an array as state"
)


@on_classic_spark
@pytest.mark.parametrize(
    ("peer", "kinds"),
    [
        # These peers need no build but take most of a minute; a change to them includes a build.
        pytest.param("transformWithStateInPandas", ["time"], marks=of_build(SPARK_JAR)),
        pytest.param(
            "applyInPandasWithState",
            ["rows", "aggregates"],
            marks=[of_build(SPARK_JAR), without_arrays_in_pandas_state],
        ),
        pytest.param(
            "transformWithState,", ["rows", "time", "aggregates"], marks=of_build(SPARK_JAR)
        ),
        pytest.param(
            "flatMapGroupsWithState", ["rows", "time", "aggregates"], marks=of_build(SPARK_JAR)
        ),
        pytest.param(
            "Flink, function",
            ["rows", "time", "aggregates"],
            marks=of_build(TARGET / "peers" / "flink.classpath"),
        ),
        pytest.param(
            "Flink, evictor",
            ["rows", "aggregates"],
            marks=of_build(TARGET / "peers" / "flink.classpath"),
        ),
        pytest.param(
            "Esper",
            ["rows", "time", "aggregates"],
            marks=of_build(TARGET / "peers" / "esper.classpath"),
        ),
    ],
)
def test_peers_give_the_same_changes(peer: str, kinds: list[str]) -> None:
    lines = [json.loads(line) for line in _told(peer, kinds)]
    assert {line["job"] for line in lines} == set(kinds)
    for line in lines:
        assert line["counts"] == EXPECTED[line["job"]], line["peer"]


def _told(peer: str, kinds: list[str]) -> list[str]:
    # Spark's workers write to the same stream.
    return [
        line
        for line in output_of(SCRIPT, peer, "--jobs", *kinds).splitlines()
        if line.startswith("{")
    ]
