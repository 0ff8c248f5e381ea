package org.apache.spark.sql.winops.state

import java.util.UUID

import org.apache.hadoop.conf.Configuration

import org.apache.spark.TaskContext
import org.apache.spark.broadcast.Broadcast
import org.apache.spark.sql.execution.streaming.state._
import org.apache.spark.sql.types.StructType
import org.apache.spark.util.{CompletionIterator, SerializableConfiguration}

import winops.spark.state.StateGroupStore

/** The state stores of one `keep` operator, one for each partition, accessed outside a running
  * query.
  *
  * @param folder
  *   the state folder of the checkpoint
  * @param operator
  *   the number of the operator among the query's stateful operators
  * @param entryKeys
  *   the columns of the keys of state entries
  * @param settings
  *   the configuration of the stores
  * @param hadoop
  *   the Hadoop configuration
  */
private[winops] final case class KeepStores(
    folder: String,
    operator: Long,
    entryKeys: StructType,
    settings: StateStoreConf,
    hadoop: Broadcast[SerializableConfiguration]) {

  /** Reads the state of a partition after a micro-batch. The store is closed at the end of the
    * iterator or of the task.
    *
    * @param id
    *   the unique id of the partition's state, in checkpoints of the format with such ids
    */
  def read[A](partition: Int, batch: Long, id: Option[String])(
      read: ReadStateStore => Iterator[A]): Iterator[A] = {
    val provider = open(partition)
    // Listeners run last in, first out, and a RocksDB store adds a listener of its own.
    TaskContext.get().addTaskCompletionListener[Unit](_ => provider.close())
    val store = provider.getReadStore(batch + 1, id)
    CompletionIterator[A, Iterator[A]](read(store), store.release())
  }

  /** Writes the first version of a partition and returns its unique id, if the format has ids. */
  def write(partition: Int)(write: StateStore => Unit): Option[String] = {
    val provider = open(partition)
    try {
      val store = provider.getStore(0, None)
      try {
        write(store)
        val _ = store.commit()
      } finally if (!store.hasCommitted) store.abort()
      store.getStateStoreCheckpointInfo().stateStoreCkptId
    } finally provider.close()
  }

  private def open(partition: Int): StateStoreProvider = StateStoreProvider.createAndInit(
    StateStoreProviderId(StateStoreId(folder, operator, partition), UUID.randomUUID()),
    entryKeys,
    StateGroupStore.valueSchema,
    NoPrefixKeyStateEncoderSpec(entryKeys),
    useColumnFamilies = false,
    settings,
    new Configuration(hadoop.value.value),
    useMultipleValuesPerKey = false,
    None)
}
