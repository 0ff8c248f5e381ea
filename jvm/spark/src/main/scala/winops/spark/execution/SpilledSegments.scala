package winops.spark.execution

import java.io.{File, RandomAccessFile}

import scala.collection.mutable

import org.apache.spark.TaskContext
import org.apache.spark.sql.winops.execution.SpillFolder

import winops.storage.bytes.Segments

/** Stores segments in a temporary file, which is deleted when the task ends. The file is created
  * with the first segment.
  */
private[execution] final class SpilledSegments extends Segments {
  private val places = mutable.LongMap.empty[SpilledSegments.Place]
  private var file: RandomAccessFile = _

  override def get(number: Long): Array[Byte] = {
    val place = places.getOrNull(number)
    if (place == null) null
    else {
      val bytes = new Array[Byte](place.length)
      file.seek(place.at)
      file.readFully(bytes)
      bytes
    }
  }

  override def put(number: Long, bytes: Array[Byte]): Unit = {
    if (file == null) create()
    val end = file.length
    file.seek(end)
    file.write(bytes)
    places.update(number, SpilledSegments.Place(end, bytes.length))
  }

  override def remove(number: Long): Unit = {
    val _ = places.remove(number)
  }

  private def create(): Unit = {
    val path = File.createTempFile("keep", ".rows", SpillFolder.get)
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
  final case class Place(at: Long, length: Int)
}
