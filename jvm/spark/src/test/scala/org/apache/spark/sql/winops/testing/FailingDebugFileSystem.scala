package org.apache.spark.sql.winops.testing

import java.io.IOException
import java.util.concurrent.atomic.AtomicInteger

import org.apache.hadoop.fs.{FSDataOutputStream, Path}
import org.apache.hadoop.fs.permission.FsPermission
import org.apache.hadoop.util.Progressable

import org.apache.spark.DebugFilesystem

import winops.testing.InProcessFiles

/** The file system of Spark's tests, in which a file of the state cannot be written if a test
  * says so.
  */
final class FailingDebugFileSystem extends DebugFilesystem {
  import FailingDebugFileSystem._

  fs = new InProcessFiles

  override def create(
      path: Path,
      permission: FsPermission,
      overwrite: Boolean,
      bufferSize: Int,
      replication: Short,
      blockSize: Long,
      progress: Progressable): FSDataOutputStream = {
    fail(path)
    super.create(path, permission, overwrite, bufferSize, replication, blockSize, progress)
  }

  override def rename(from: Path, to: Path): Boolean = {
    fail(to)
    super.rename(from, to)
  }
}

object FailingDebugFileSystem {
  private val Never = -1
  private val left = new AtomicInteger(Never)

  /** Lets the writing of state fail after a number of files were created or renamed. */
  def failAfter(operations: Int): Unit = left.set(operations)

  /** Returns true if the failure has happened; no other one follows. */
  def stop(): Boolean = left.getAndSet(Never) < 0

  private def fail(path: Path): Unit = {
    val name = path.toUri.getPath
    if (name.contains("/state/0/") && name.contains(".delta") && !name.contains(".crc")) {
      if (left.getAndUpdate(n => if (n < 0) n else n - 1) == 0) {
        throw new IOException("the disk is full")
      }
    }
  }
}
