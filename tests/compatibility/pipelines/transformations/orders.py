"""A pipeline that keeps the last orders of each customer, and their history, by Auto CDC."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark import pipelines as dp
from pyspark.sql import DataFrame

from winops import keep

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    # spark-pipelines defines it in each module.
    spark: SparkSession

ROWS = spark.conf.get("winops.tests.rows")  # noqa: F821
# The columns of changes that no table needs.
OF_CHANGES = ["_change_type", "_change_time", "_change_step", "_change_seq", "_change_row"]


@dp.temporary_view
def order_changes() -> DataFrame:
    """Return the changes of the window, without the rows before updates."""
    rows = spark.readStream.schema(  # noqa: F821
        "seq long, op string, g string, id long, v long"
    )
    kept = keep(
        rows.option("maxFilesPerTrigger", 1).json(f"{ROWS}/*.json"),
        "KEEP 2 ROWS PER (g)",
        key="id",
        op="op",
        order_by="seq",
        updates="update",
        buffer=2,
    )
    return kept.changes().where("_change_type <> 'update_before'")


for table, scd_type in (("held", 1), ("history", 2)):
    dp.create_streaming_table(table)
    dp.create_auto_cdc_flow(
        target=table,
        source="order_changes",
        keys=["g", "id"],
        sequence_by="_change_version",
        apply_as_deletes="_change_type = 'delete'",
        except_column_list=OF_CHANGES,
        stored_as_scd_type=scd_type,
    )
