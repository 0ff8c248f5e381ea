package org.apache.spark.sql.winops.state

import java.util.UUID

import org.apache.hadoop.conf.Configuration

import org.apache.spark.TaskContext
import org.apache.spark.broadcast.Broadcast
import org.apache.spark.sql.execution.streaming.state._
import org.apache.spark.sql.types.StructType
import org.apache.spark.util.{CompletionIterator, SerializableConfiguration}

import winops.spark.state.StateGroupStore

/** The state stores of one `keep`, a store for each partition, apart from any query that runs.
  *
  * @param folder
  *   the folder of all state of a checkpoint
  * @param operator
  *   the number of the `keep` among the query's stateful operators
  * @param entryKeys
  *   the columns of the keys of state entries
  */
private[winops] final case class KeepStores(
    folder: String,
    operator: Long,
    entryKeys: StructType,
    settings: StateStoreConf,
    hadoop: Broadcast[SerializableConfiguration]) {

  /** Reads a partition as it was after a batch, to the end or until the task ends.
    *
    * @param id
    *   what tells this state from others of the batch, in checkpoints that have such ids
    */
  def read[A](partition: Int, batch: Long, id: Option[String])(
      read: ReadStateStore => Iterator[A]): Iterator[A] = {
    val provider = open(partition)
    // Listeners are called last in, first out, and a store of RocksDB's has one of its own.
    TaskContext.get().addTaskCompletionListener[Unit](_ => provider.close())
    val store = provider.getReadStore(batch + 1, id)
    CompletionIterator[A, Iterator[A]](read(store), store.release())
  }

  /** Writes the first version of a partition, and gives the id that it got. */
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
