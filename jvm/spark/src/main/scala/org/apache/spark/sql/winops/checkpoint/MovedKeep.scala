package org.apache.spark.sql.winops.checkpoint

/** What was moved of a `keep`. */
private[winops] final case class MovedKeep(
    operator: Long,
    partitions: Int,
    groups: Long,
    rows: Long)
