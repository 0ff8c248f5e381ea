"""Sessions with the extensions of Delta and Iceberg, and the page on Delta Lake."""

from __future__ import annotations

from tests.support.programs import output_of_module
from tests.support.transports import TRANSPORT


def test_changes_are_merged_into_tables_beside_other_extensions() -> None:
    output = output_of_module("tests.compatibility.lakehouse.merge", TRANSPORT)
    assert "both tables hold the 12 rows of the windows" in output


def test_the_page_on_delta_prints_its_output() -> None:
    output = output_of_module("tests.compatibility.lakehouse.recipe", TRANSPORT)
    assert "5 blocks of the page ran" in output
