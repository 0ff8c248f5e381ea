package winops.faults

import java.io.{FilterOutputStream, IOException, OutputStream}
import java.net.URI
import java.nio.file.{Path => LocalPath}

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FSDataInputStream, FSDataOutputStream, LocalFileSystem, Path}
import org.apache.hadoop.fs.permission.FsPermission
import org.apache.hadoop.util.Progressable

/** A local file system whose operations fail or wait if [[Orders]] require it. The setting is
  * `spark.hadoop.fs.file.impl`, with the folder of the orders in
  * `spark.hadoop.winops.faults.orders`.
  *
  * The operations are `create`, `write` (`during` it, half of the bytes are written), `close` (of
  * a created file), `rename` (by the new name), `open`, and `copy` (from local; RocksDB's files
  * reach a checkpoint by it).
  */
final class FaultyFileSystem extends LocalFileSystem {
  private var orders: Option[Orders] = None

  override def initialize(uri: URI, conf: Configuration): Unit = {
    super.initialize(uri, conf)
    orders = Option(conf.get("winops.faults.orders")).map(f => new Orders(LocalPath.of(f)))
  }

  private def during[A](operation: String, path: Path)(work: => A): A = {
    val name = path.toUri.getPath
    orders.foreach(_.obey(operation, "before", name))
    val done = work
    orders.foreach(_.obey(operation, "after", name))
    done
  }

  override def create(
      path: Path,
      permission: FsPermission,
      overwrite: Boolean,
      bufferSize: Int,
      replication: Short,
      blockSize: Long,
      progress: Progressable): FSDataOutputStream = {
    val created = during("create", path) {
      super.create(path, permission, overwrite, bufferSize, replication, blockSize, progress)
    }
    new FSDataOutputStream(new ObedientStream(created, path), null)
  }

  override def rename(from: Path, to: Path): Boolean =
    during("rename", to)(super.rename(from, to))

  override def open(path: Path, bufferSize: Int): FSDataInputStream =
    during("open", path)(super.open(path, bufferSize))

  override def copyFromLocalFile(delete: Boolean, from: Path, to: Path): Unit =
    during("copy", to)(super.copyFromLocalFile(delete, from, to))

  private final class ObedientStream(to: OutputStream, path: Path)
      extends FilterOutputStream(to) {
    private var closed = false
    private var broken: Option[IOException] = None

    override def write(bytes: Array[Byte], from: Int, length: Int): Unit = {
      broken.foreach(failure => throw new IOException(failure.getMessage, failure))
      val half = length / 2
      to.write(bytes, from, half)
      try orders.foreach(_.obey("write", "during", path.toUri.getPath))
      catch {
        case failure: IOException =>
          broken = Some(failure)
          throw failure
      }
      to.write(bytes, from + half, length - half)
    }

    override def close(): Unit = if (!closed) {
      closed = true
      during("close", path)(to.close())
    }
  }
}
