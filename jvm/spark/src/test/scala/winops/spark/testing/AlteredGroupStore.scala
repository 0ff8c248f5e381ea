package winops.spark.testing

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import winops.spark.state.GroupStore
import winops.storage.btree.PageMemory
import winops.storage.bytes.{ByteReader, ByteWriter, Segments}
import winops.window.crossgroup.GroupRecords

/** A store that returns altered bytes on reads. */
final class AlteredGroupStore(store: GroupStore, seenAs: Array[Byte] => Array[Byte])
    extends GroupStore {
  override def pageMemory: PageMemory = store.pageMemory

  override def open(key: UnsafeRow): ByteReader = {
    val in = store.open(key)
    if (in == null) null else new ByteReader(seenAs(in.bytes))
  }

  override def save(write: ByteWriter => Unit): Unit = store.save(write)
  override def remove(): Unit = store.remove()
  override val windowSegments: Segments = new AlteredSegments(store.windowSegments, seenAs)
  override val waitingSegments: Segments = new AlteredSegments(store.waitingSegments, seenAs)
}

final class AlteredSegments(segments: Segments, seenAs: Array[Byte] => Array[Byte])
    extends Segments {
  override def get(number: Long): Array[Byte] = {
    val bytes = segments.get(number)
    if (bytes == null) null else seenAs(bytes)
  }

  override def put(number: Long, bytes: Array[Byte]): Unit = segments.put(number, bytes)
  override def remove(number: Long): Unit = segments.remove(number)
}

final class AlteredRecords(records: GroupRecords, seenAs: Array[Byte] => Array[Byte])
    extends GroupRecords {
  override def get(key: Array[Byte]): Array[Byte] = {
    val bytes = records.get(key)
    if (bytes == null) null else seenAs(bytes)
  }

  override def put(key: Array[Byte], value: Array[Byte]): Unit = records.put(key, value)
  override def remove(key: Array[Byte]): Unit = records.remove(key)
}
