package winops.testing

import java.io.{File, RandomAccessFile}
import java.util
import java.util.concurrent.locks.LockSupport

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{GenericInternalRow, UnsafeProjection}
import org.apache.spark.sql.connector.catalog.{SupportsRead, Table, TableCapability, TableProvider}
import org.apache.spark.sql.connector.expressions.Transform
import org.apache.spark.sql.connector.read._
import org.apache.spark.sql.connector.read.streaming._
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.util.CaseInsensitiveStringMap
import org.apache.spark.unsafe.types.UTF8String

/** A source of streams, in micro-batches and in real-time mode: the lines that are appended to
  * files. Each file is a partition. The lines survive the application, so that a query can be
  * killed and started again.
  *
  * The format is the name of this class; the option `path` is the folder of the files `0`, `1`
  * and so on, and `partitions` their number.
  */
final class FollowedFiles extends TableProvider {
  override def inferSchema(options: CaseInsensitiveStringMap): StructType =
    FollowedFiles.Columns

  override def getTable(
      schema: StructType,
      partitioning: Array[Transform],
      properties: util.Map[String, String]): Table = new FollowedTable
}

object FollowedFiles {

  /** The columns of a row: a line, the number of its file, and its place there in bytes. */
  val Columns: StructType =
    new StructType().add("value", "string").add("part", "int").add("place", "long")

  /** The file of a partition. */
  def file(folder: String, part: Int): File = new File(folder, part.toString)
}

private final class FollowedTable extends Table with SupportsRead {
  override def name: String = "followed files"

  // Spark asks a table of a stream for its columns in this way.
  override def schema: StructType = FollowedFiles.Columns

  override def capabilities: util.Set[TableCapability] =
    util.EnumSet.of(TableCapability.MICRO_BATCH_READ)

  override def newScanBuilder(options: CaseInsensitiveStringMap): ScanBuilder = () =>
    new Scan {
      override def readSchema(): StructType = FollowedFiles.Columns

      override def toMicroBatchStream(checkpoint: String): MicroBatchStream =
        new FollowedStream(options.get("path"), options.getInt("partitions", 1))
    }
}

private final case class FollowedOffset(places: Seq[Long]) extends Offset {
  override def json: String = places.mkString("[", ",", "]")
}

private final case class FollowedPlace(part: Int, place: Long) extends PartitionOffset

private final case class FollowedPart(folder: String, part: Int, start: Long, end: Long)
    extends InputPartition

private final class FollowedStream(folder: String, parts: Int)
    extends MicroBatchStream
    with SupportsRealTimeMode
    // Without it, Spark gives the trigger AvailableNow a single batch: after a kill, the one that
    // was begun.
    with SupportsTriggerAvailableNow {
  private var available: Option[Offset] = None

  override def prepareForTriggerAvailableNow(): Unit = available = Some(latestOffset())
  override def getDefaultReadLimit: ReadLimit = ReadLimit.allAvailable()

  override def latestOffset(start: Offset, limit: ReadLimit): Offset =
    available.getOrElse(latestOffset())

  override def initialOffset(): Offset = FollowedOffset(Seq.fill(parts)(0L))

  override def latestOffset(): Offset = FollowedOffset((0 until parts).map { part =>
    FollowedLines.endOfLastLine(FollowedFiles.file(folder, part))
  })

  override def deserializeOffset(json: String): Offset =
    FollowedOffset(json.stripPrefix("[").stripSuffix("]").split(",").toSeq.map(_.trim.toLong))

  override def planInputPartitions(start: Offset, end: Offset): Array[InputPartition] =
    places(start)
      .zip(places(end))
      .zipWithIndex
      .map { case ((from, until), part) =>
        FollowedPart(folder, part, from, until): InputPartition
      }
      .toArray

  override def planInputPartitions(start: Offset): Array[InputPartition] =
    places(start).zipWithIndex.map { case (from, part) =>
      FollowedPart(folder, part, from, Long.MaxValue): InputPartition
    }.toArray

  override def mergeOffsets(offsets: Array[PartitionOffset]): Offset = FollowedOffset(
    offsets.toSeq.collect { case place: FollowedPlace => place }.sortBy(_.part).map(_.place))

  override def createReaderFactory(): PartitionReaderFactory = FollowedReaders
  override def commit(end: Offset): Unit = ()
  override def stop(): Unit = ()

  private def places(offset: Offset): Seq[Long] = offset match {
    case followed: FollowedOffset => followed.places
    case other => throw new IllegalArgumentException(s"no offset of this source: $other")
  }
}

private object FollowedReaders extends PartitionReaderFactory {
  override def createReader(partition: InputPartition): PartitionReader[InternalRow] =
    partition match {
      case part: FollowedPart => new FollowedReader(part)
      case other => throw new IllegalArgumentException(s"no partition of this source: $other")
    }
}

private final class FollowedReader(part: FollowedPart)
    extends PartitionReader[InternalRow]
    with SupportsRealTimeRead[InternalRow] {
  private val lines = new FollowedLines(FollowedFiles.file(part.folder, part.part), part.start)
  private val toRow = UnsafeProjection.create(FollowedFiles.Columns)

  override def next(): Boolean = lines.end < part.end && lines.next()

  override def nextWithTimeout(
      startMillis: java.lang.Long,
      timeoutMillis: java.lang.Long): SupportsRealTimeRead.RecordStatus = {
    val until = System.nanoTime + timeoutMillis * FollowedLines.NanosPerMilli
    var found = lines.next()
    while (!found && System.nanoTime < until && !Thread.currentThread.isInterrupted) {
      LockSupport.parkNanos(FollowedLines.NanosPerMilli / 2)
      found = lines.next()
    }
    SupportsRealTimeRead.RecordStatus.newStatusWithoutArrivalTime(found)
  }

  override def get(): InternalRow =
    toRow(new GenericInternalRow(Array[Any](lines.line, part.part, lines.start)))

  override def getOffset(): PartitionOffset = FollowedPlace(part.part, lines.end)
  override def close(): Unit = lines.close()
}

/** The complete lines of a file that grows.
  *
  * @param from
  *   the place of the first line, in bytes
  */
private final class FollowedLines(file: File, from: Long) extends AutoCloseable {
  file.createNewFile()
  private val input = new RandomAccessFile(file, "r")
  input.seek(from)

  private var bytes = new Array[Byte](1 << 12)
  private var first = 0
  private var last = 0

  private var lineStart = from
  private var lineEnd = from

  /** The text of the line. */
  var line: UTF8String = _

  /** The place of the line. */
  def start: Long = lineStart

  /** The place behind the line, before which all lines have been read. */
  def end: Long = lineEnd

  /** Moves to the next line; returns false if there is none yet. */
  def next(): Boolean = {
    var newline = find(first)
    if (newline < 0) {
      val known = last - first
      fill()
      newline = find(first + known)
    }
    if (newline >= 0) {
      line = UTF8String.fromBytes(util.Arrays.copyOfRange(bytes, first, newline))
      lineStart = lineEnd
      lineEnd += newline + 1 - first
      first = newline + 1
    }
    newline >= 0
  }

  override def close(): Unit = input.close()

  private def find(start: Int): Int = {
    var i = start
    while (i < last && bytes(i) != '\n') i += 1
    if (i < last) i else -1
  }

  private def fill(): Unit = {
    System.arraycopy(bytes, first, bytes, 0, last - first)
    last -= first
    first = 0
    if (last == bytes.length) bytes = util.Arrays.copyOf(bytes, 2 * last)
    last += Math.max(0, input.read(bytes, last, bytes.length - last))
  }
}

private object FollowedLines {
  val NanosPerMilli: Long = 1000000L

  /** The place behind the last complete line of a file. */
  def endOfLastLine(file: File): Long = {
    file.createNewFile()
    val input = new RandomAccessFile(file, "r")
    try {
      var end = input.length
      var isBehindLine = end == 0
      while (!isBehindLine) {
        input.seek(end - 1)
        if (input.read() == '\n') isBehindLine = true
        else {
          end -= 1
          isBehindLine = end == 0
        }
      }
      end
    } finally input.close()
  }
}
