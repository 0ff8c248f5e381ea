"""Sessions with the extensions of Delta and Iceberg, whose parsers wrap Spark's."""

from __future__ import annotations

from tests.support.programs import output_of_module
from tests.support.transports import TRANSPORT


def test_changes_are_merged_into_tables_beside_other_extensions() -> None:
    output = output_of_module("tests.compatibility.lakehouse.merge", TRANSPORT)
    assert "both tables hold the 12 rows of the windows" in output
    assert "5 blocks of the page ran" in output
