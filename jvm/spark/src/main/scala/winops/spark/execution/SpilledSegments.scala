package winops.spark.execution

import java.io.RandomAccessFile

import scala.collection.mutable

import org.apache.spark.TaskContext
import org.apache.spark.sql.winops.execution.SpillFile

import winops.storage.bytes.Segments

/** Stores segments in a temporary file, which is deleted when the task ends. The file is created
  * with the first segment.
  */
private[execution] final class SpilledSegments extends Segments {
  private val places = mutable.LongMap.empty[SpilledSegments.FileRange]

  /** The places of segments that were removed, by their room. */
  private val free = mutable.LongMap.empty[mutable.Stack[Long]]
  private var file: RandomAccessFile = _
  private val isEncrypted = SpillFile.isEncrypted

  /** The end of the last place in the file. */
  private var end = 0L

  override def get(number: Long): Array[Byte] = {
    val place = places.getOrNull(number)
    if (place == null) null
    else {
      val bytes = new Array[Byte](place.length)
      file.seek(place.at)
      file.readFully(bytes)
      if (isEncrypted) SpillFile.decrypted(bytes) else bytes
    }
  }

  override def put(number: Long, segment: Array[Byte]): Unit = {
    if (file == null) create()
    val bytes = if (isEncrypted) SpillFile.encrypted(segment) else segment
    val room = SpilledSegments.roomFor(bytes.length)
    val before = places.getOrNull(number)
    val at = if (before != null && before.room == room) before.at else placeOf(room)
    if (before != null && before.room != room) release(before)
    file.seek(at)
    file.write(bytes)
    places.update(number, SpilledSegments.FileRange(at, bytes.length, room))
    SpillFile.countWritten(bytes.length.toLong)
  }

  override def remove(number: Long): Unit = places.remove(number).foreach(release)

  /** Removes all segments and empties the file. */
  def clear(): Unit = if (end > 0) {
    places.clear()
    free.clear()
    end = 0L
    file.setLength(0L)
  }

  /** Returns a free place, or one behind all others. */
  private def placeOf(room: Long): Long = {
    val same = free.getOrNull(room)
    if (same != null && same.nonEmpty) same.pop()
    else {
      val at = end
      end += room
      at
    }
  }

  private def release(place: SpilledSegments.FileRange): Unit = {
    val _ = free.getOrElseUpdate(place.room, mutable.Stack.empty).push(place.at)
  }

  private def create(): Unit = {
    val path = SpillFile.create()
    file = new RandomAccessFile(path, "rw")
    def delete(): Unit = {
      file.close()
      val _ = path.delete()
    }
    Option(TaskContext.get()) match {
      case Some(task) =>
        val _ = task.addTaskCompletionListener[Unit](_ => delete())
      case None => path.deleteOnExit()
    }
  }
}

private object SpilledSegments {
  final case class FileRange(at: Long, length: Int, room: Long)

  private val LeastRoom = 256L

  /** The power of two that holds a segment, so that a segment of another length often fits. */
  def roomFor(length: Int): Long =
    Math.max(LeastRoom, java.lang.Long.highestOneBit(Math.max(1L, 2L * length - 1)))
}
