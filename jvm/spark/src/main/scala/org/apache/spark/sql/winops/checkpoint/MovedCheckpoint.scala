package org.apache.spark.sql.winops.checkpoint

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.plans.logical.LeafNode

/** Writes a new checkpoint from another one each time it is executed, and returns a row for each
  * `keep`.
  */
trait MovedCheckpoint extends LeafNode {

  /** The folder of the existing checkpoint, which is not changed. */
  def from: String

  /** The folder of the new checkpoint. */
  def to: String

  /** The difference of the new checkpoint from the existing one. */
  private[checkpoint] def change: StateChange

  /** The values of a row, in the order of the output. */
  private[checkpoint] def row(keep: MovedKeep): InternalRow
}
