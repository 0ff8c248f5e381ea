package org.apache.spark.sql.winops.checkpoint

/** The result of moving the state of one `keep` operator.
  *
  * @param groups
  *   the number of groups in the new state
  * @param rows
  *   the number of rows in the new state
  */
private[winops] final case class MovedKeep(
    operator: Long,
    partitions: Int,
    groups: Long,
    rows: Long,
    forgottenGroups: Long,
    forgottenRows: Long)
