"""The page on Kafka, with a broker: changes written at least once, and read once."""

from __future__ import annotations

from tests.support.programs import output_of_module
from tests.support.transports import TRANSPORT


def test_the_page_on_kafka_prints_its_output() -> None:
    output = output_of_module("tests.compatibility.kafka.recipe", TRANSPORT)
    assert "6 blocks of the page ran" in output
