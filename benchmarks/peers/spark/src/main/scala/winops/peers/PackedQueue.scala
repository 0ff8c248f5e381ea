package winops.peers

import java.util.Arrays

import org.apache.spark.sql.streaming.{MapState, ValueState}

/** A queue of records of `width` longs per key; a step reads and writes only its ends.
  *
  * The newest records are in one value, together with the start of the queue. Records that exceed
  * the value are moved to chunks of equal size, which are never rewritten. A short queue is one
  * value only. One object processes the keys of a task in turn.
  *
  * @param longest
  *   the expected maximum number of records; longer queues use more chunks
  */
class PackedQueue(
    width: Int,
    longest: Int,
    newest: ValueState[Array[Long]],
    chunks: MapState[Long, Array[Long]]) {
  import PackedQueue._

  private val chunkLength =
    (longest.toLong * width / ChunksOfLongest).max(LeastChunk).min(GreatestChunk).toInt / width *
      width
  private var firstChunk, nextChunk = 0L
  private var chunk: Array[Long] = _
  private var chunkAt = 0
  private var recent = new Array[Long](4 * chunkLength)
  private var recentAt, recentEnd = 0

  /** Loads the current key; returns true if it had a queue. */
  def restore(): Boolean = {
    val stored = newest.get()
    val exists = stored != null
    chunk = null
    recentAt = 0
    if (exists) {
      firstChunk = stored(0)
      nextChunk = stored(1)
      chunkAt = stored(2).toInt
      recentEnd = stored.length - HeaderLength
      if (recent.length < recentEnd) recent = new Array(2 * recentEnd)
      System.arraycopy(stored, HeaderLength, recent, 0, recentEnd)
    } else {
      firstChunk = 0
      nextChunk = 0
      chunkAt = 0
      recentEnd = 0
    }
    exists
  }

  /** Writes the changes of the current key. */
  def save(): Unit = {
    while (recentEnd - recentAt > 2 * chunkLength) {
      chunks.updateValue(nextChunk, Arrays.copyOfRange(recent, recentAt, recentAt + chunkLength))
      nextChunk += 1
      recentAt += chunkLength
    }
    if (isEmpty) newest.clear()
    else {
      val stored = new Array[Long](HeaderLength + recentEnd - recentAt)
      stored(0) = firstChunk
      stored(1) = nextChunk
      stored(2) = chunkAt
      System.arraycopy(recent, recentAt, stored, HeaderLength, recentEnd - recentAt)
      newest.update(stored)
    }
  }

  def isEmpty: Boolean = size == 0

  /** The number of records. */
  def size: Long =
    ((nextChunk - firstChunk) * chunkLength - chunkAt + recentEnd - recentAt) / width

  /** Adds a record and returns the index of its fields in `newestIn`. */
  def add(): Int = {
    if (recentEnd + width > recent.length) makeRoom()
    val at = recentEnd
    recentEnd += width
    at
  }

  /** The array of the newest record, until the next record is added. */
  def newestIn: Array[Long] = recent

  /** The array of the oldest record. */
  def oldestIn: Array[Long] =
    if (hasChunks) {
      if (chunk == null) chunk = chunks.getValue(firstChunk)
      chunk
    } else recent

  /** The index of the oldest record's fields in `oldestIn`. */
  def oldestAt: Int = if (hasChunks) chunkAt else recentAt

  def removeOldest(): Unit =
    if (hasChunks) {
      chunkAt += width
      if (chunkAt == chunkLength) {
        chunks.removeKey(firstChunk)
        firstChunk += 1
        chunk = null
        chunkAt = 0
      }
    } else recentAt += width

  /** Visits all records, oldest first, with an array and the record's index in it. */
  def foreach(visit: (Array[Long], Int) => Unit): Unit = {
    var number = firstChunk
    while (number < nextChunk) {
      val from = if (number == firstChunk) chunkAt else 0
      visitAll(chunks.getValue(number), from, chunkLength, visit)
      number += 1
    }
    visitAll(recent, recentAt, recentEnd, visit)
  }

  private def visitAll(
      records: Array[Long],
      from: Int,
      until: Int,
      visit: (Array[Long], Int) => Unit): Unit = {
    var at = from
    while (at < until) {
      visit(records, at)
      at += width
    }
  }

  private def hasChunks: Boolean = firstChunk < nextChunk

  private def makeRoom(): Unit = {
    val length = recentEnd - recentAt
    val to = if (length > recent.length / 2) new Array[Long](2 * recent.length) else recent
    System.arraycopy(recent, recentAt, to, 0, length)
    recent = to
    recentAt = 0
    recentEnd = length
  }
}

private object PackedQueue {
  final val HeaderLength = 3
  final val ChunksOfLongest = 16
  final val LeastChunk = 256
  final val GreatestChunk = 4096
}
