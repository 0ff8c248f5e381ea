"""Sessions with the extensions of Delta and Iceberg, and the pages on Delta Lake."""

from __future__ import annotations

import pytest

from tests.support.programs import output_of_module
from tests.support.transports import TRANSPORT


def test_changes_are_merged_into_tables_beside_other_extensions() -> None:
    output = output_of_module("tests.compatibility.lakehouse.merge", TRANSPORT)
    assert "both tables hold the 12 rows of the windows" in output


@pytest.mark.parametrize(
    ("page", "blocks"), [("cdc.md", 5), ("delta.md", 5), ("delta-restarts.md", 10)]
)
def test_a_page_on_delta_prints_its_output(page: str, blocks: int) -> None:
    output = output_of_module("tests.compatibility.lakehouse.recipe", TRANSPORT, page)
    assert f"{blocks} blocks of the page ran" in output
