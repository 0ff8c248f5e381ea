package winops.window.rules

import winops.storage.btree.PagedMap
import winops.storage.bytes.{ByteReader, ByteWriter}

/** A window that keeps its own index of its rows. */
private[window] abstract class IndexedPart(index: PagedMap) extends Part {
  override def clear(): Unit = index.clear()
  override def save(out: ByteWriter): Unit = index.save(out)
  override def restore(in: ByteReader): Unit = index.restore(in)
}
