package org.apache.spark.sql.winops.source

import org.apache.spark.sql.connector.read.InputPartition
import org.apache.spark.sql.execution.datasources.v2.DataSourceRDDPartition

/** The parts of a source that one task reads. */
private[source] object InputPartitions {
  def of(partition: DataSourceRDDPartition): Seq[InputPartition] = partition.inputPartition.toSeq
}
