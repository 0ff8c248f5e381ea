package winops.storage.bytes

import java.util

/** A set of numbers from 0, with one bit for each number. The newest used segments of the bits
  * are on the heap, and the others in a store.
  *
  * @param segments
  *   stores segments from number 0 on
  * @param mostLoaded
  *   number of segments on the heap, at least 2
  */
final class SegmentedBits(segments: Segments, mostLoaded: Int = SegmentedBits.MostLoaded) {
  import SegmentedBits._

  private val loaded = new util.LinkedHashMap[Long, Array[Byte]](16, 0.75f, true)
  private var stored = 0L
  private var openNumber = -1L
  private var open = Array.emptyByteArray

  /** Number of bytes of the bits on the heap. */
  def loadedBytes: Long = loaded.size.toLong * SegmentBytes

  def contains(number: Long): Boolean = {
    load(number)
    (open(placeOf(number)) & maskOf(number)) != 0
  }

  /** Adds or removes a number. */
  def update(number: Long, isIn: Boolean): Unit = {
    load(number)
    val place = placeOf(number)
    val mask = maskOf(number)
    open(place) = (if (isIn) open(place) | mask else open(place) & ~mask).toByte
  }

  /** Removes all numbers. */
  def clear(): Unit = {
    (0L until stored).foreach(segments.remove)
    stored = 0L
    loaded.clear()
    openNumber = -1L
  }

  private def load(number: Long): Unit = {
    val segment = number / (8L * SegmentBytes)
    if (segment != openNumber) {
      val there = loaded.get(segment)
      open = if (there != null) there else loadStored(segment)
      openNumber = segment
    }
  }

  private def loadStored(segment: Long): Array[Byte] = {
    if (loaded.size == mostLoaded) {
      val oldest = loaded.entrySet.iterator
      val entry = oldest.next()
      segments.put(entry.getKey, entry.getValue)
      stored = Math.max(stored, entry.getKey + 1)
      oldest.remove()
    }
    val bytes = segments.get(segment)
    val found = if (bytes == null) new Array[Byte](SegmentBytes) else bytes
    val _ = loaded.put(segment, found)
    found
  }
}

object SegmentedBits {
  private val SegmentBytes = 1024
  private val MostLoaded = 512

  private def placeOf(number: Long): Int = (number / 8 % SegmentBytes).toInt
  private def maskOf(number: Long): Int = 1 << (number % 8).toInt
}
