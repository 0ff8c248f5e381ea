package org.apache.spark.sql.winops.checkpoint

/** The result of moving the state of one `keep` operator. */
private[winops] final case class MovedKeep(
    operator: Long,
    partitions: Int,
    groups: Long,
    rows: Long)
