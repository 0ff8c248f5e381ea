package winops.peers

import java.util
import java.util.concurrent.ConcurrentHashMap

import org.apache.spark.sql.{DataFrame, SparkSession}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{GenericInternalRow, UnsafeProjection}
import org.apache.spark.sql.connector.catalog.{SupportsRead, Table, TableCapability, TableProvider}
import org.apache.spark.sql.connector.expressions.Transform
import org.apache.spark.sql.connector.read._
import org.apache.spark.sql.connector.read.streaming._
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.util.CaseInsensitiveStringMap

/** A source of streams whose rows a program adds in the same JVM, so that nothing but Spark is
  * between the program and the query. The option `topic` is its name.
  */
final class MemoryTopic extends TableProvider {
  override def inferSchema(options: CaseInsensitiveStringMap): StructType = MemoryTopic.Columns

  override def getTable(
      schema: StructType,
      partitioning: Array[Transform],
      properties: util.Map[String, String]): Table = new MemoryTopicTable
}

object MemoryTopic {

  /** A key, a number, and the time at which the row was added, by `System.nanoTime`. */
  val Columns: StructType = new StructType().add("k", "int").add("id", "long").add("sent", "long")

  private val topics = new ConcurrentHashMap[String, Array[TopicPart]]

  /** Creates a topic and returns its partitions. */
  def create(name: String, parts: Int): Array[TopicPart] = {
    val created = Array.fill(parts)(new TopicPart)
    topics.put(name, created)
    created
  }

  /** The stream of a topic's rows. */
  def stream(spark: SparkSession, name: String): DataFrame =
    spark.readStream.format(classOf[MemoryTopic].getName).option("topic", name).load()

  private[peers] def of(name: String): Array[TopicPart] = topics.get(name)
}

/** The rows of a partition that no batch has committed. */
final class TopicPart {
  private var first = 0
  private var count = 0
  private var keys = new Array[Int](1 << 12)
  private var ids = new Array[Long](1 << 12)
  private var sent = new Array[Long](1 << 12)

  /** The number that the next row gets. */
  def size: Int = synchronized(first + count)

  def add(key: Int, id: Long): Unit = synchronized {
    if (count == keys.length) {
      keys = util.Arrays.copyOf(keys, 2 * count)
      ids = util.Arrays.copyOf(ids, 2 * count)
      sent = util.Arrays.copyOf(sent, 2 * count)
    }
    keys(count) = key
    ids(count) = id
    sent(count) = System.nanoTime
    count += 1
    notifyAll()
  }

  private[peers] def row(number: Int): InternalRow = synchronized {
    val at = number - first
    new GenericInternalRow(Array[Any](keys(at), ids(at), sent(at)))
  }

  /** Forgets the rows before the one with a number. */
  private[peers] def forget(number: Int): Unit = synchronized {
    val gone = number - first
    count -= gone
    first = number
    System.arraycopy(keys, gone, keys, 0, count)
    System.arraycopy(ids, gone, ids, 0, count)
    System.arraycopy(sent, gone, sent, 0, count)
  }

  /** Waits for a row, and returns false if it has not come after some milliseconds. */
  private[peers] def await(number: Int, millis: Long): Boolean = synchronized {
    val until = System.nanoTime + millis * 1000000L
    var left = millis
    while (number >= first + count && left > 0) {
      wait(left)
      left = (until - System.nanoTime) / 1000000L
    }
    number < first + count
  }
}

private final class MemoryTopicTable extends Table with SupportsRead {
  override def name: String = "memory topic"
  override def schema: StructType = MemoryTopic.Columns

  override def capabilities: util.Set[TableCapability] =
    util.EnumSet.of(TableCapability.MICRO_BATCH_READ)

  override def newScanBuilder(options: CaseInsensitiveStringMap): ScanBuilder = () =>
    new Scan {
      override def readSchema(): StructType = MemoryTopic.Columns

      override def toMicroBatchStream(checkpoint: String): MicroBatchStream =
        new MemoryTopicStream(options.get("topic"))
    }
}

private final case class TopicOffset(numbers: Seq[Int]) extends Offset {
  override def json: String = numbers.mkString("[", ",", "]")
}

private final case class TopicPlace(part: Int, number: Int) extends PartitionOffset

private final case class TopicRange(topic: String, part: Int, from: Int, until: Int)
    extends InputPartition

private final class MemoryTopicStream(topic: String)
    extends MicroBatchStream
    with SupportsRealTimeMode {
  private def parts: Array[TopicPart] = MemoryTopic.of(topic)

  override def initialOffset(): Offset = TopicOffset(Seq.fill(parts.length)(0))
  override def latestOffset(): Offset = TopicOffset(parts.toSeq.map(_.size))

  override def deserializeOffset(json: String): Offset =
    TopicOffset(json.stripPrefix("[").stripSuffix("]").split(",").toSeq.map(_.trim.toInt))

  override def planInputPartitions(start: Offset, end: Offset): Array[InputPartition] =
    numbers(start)
      .zip(numbers(end))
      .zipWithIndex
      .map { case ((from, until), part) =>
        TopicRange(topic, part, from, until): InputPartition
      }
      .toArray

  override def planInputPartitions(start: Offset): Array[InputPartition] =
    numbers(start).zipWithIndex.map { case (from, part) =>
      TopicRange(topic, part, from, Int.MaxValue): InputPartition
    }.toArray

  override def mergeOffsets(offsets: Array[PartitionOffset]): Offset = TopicOffset(
    offsets.toSeq.collect { case place: TopicPlace => place }.sortBy(_.part).map(_.number))

  override def createReaderFactory(): PartitionReaderFactory = MemoryTopicReaders

  override def commit(end: Offset): Unit =
    parts.zip(numbers(end)).foreach { case (part, number) => part.forget(number) }

  override def stop(): Unit = ()

  private def numbers(offset: Offset): Seq[Int] = offset match {
    case of: TopicOffset => of.numbers
    case other => throw new IllegalArgumentException(s"no offset of this source: $other")
  }
}

private object MemoryTopicReaders extends PartitionReaderFactory {
  override def createReader(partition: InputPartition): PartitionReader[InternalRow] =
    partition match {
      case range: TopicRange => new MemoryTopicReader(range)
      case other => throw new IllegalArgumentException(s"no partition of this source: $other")
    }
}

private final class MemoryTopicReader(range: TopicRange)
    extends PartitionReader[InternalRow]
    with SupportsRealTimeRead[InternalRow] {
  private val part = MemoryTopic.of(range.topic)(range.part)
  private val toRow = UnsafeProjection.create(MemoryTopic.Columns)
  private var at = range.from - 1

  override def next(): Boolean = moveIf(at + 1 < range.until)

  override def nextWithTimeout(
      startMillis: java.lang.Long,
      timeoutMillis: java.lang.Long): SupportsRealTimeRead.RecordStatus =
    SupportsRealTimeRead.RecordStatus.newStatusWithoutArrivalTime(
      moveIf(part.await(at + 1, timeoutMillis)))

  private def moveIf(found: Boolean): Boolean = {
    if (found) at += 1
    found
  }

  override def get(): InternalRow = toRow(part.row(at))
  override def getOffset(): PartitionOffset = TopicPlace(range.part, at + 1)
  override def close(): Unit = ()
}
