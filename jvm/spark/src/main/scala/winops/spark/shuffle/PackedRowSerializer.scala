package winops.spark.shuffle

import java.io.{InputStream, OutputStream}
import java.nio.ByteBuffer

import scala.reflect.ClassTag

import org.apache.spark.serializer.{DeserializationStream, SerializationStream, Serializer, SerializerInstance}
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.unsafe.Platform

import winops.storage.bytes.ByteWriter
import winops.storage.rows.{RowBlockReader, RowBlockWriter}

/** Serializes the rows of a shuffle in the format of the state, in a third of the bytes that
  * UnsafeRows take before compression. Rows are read a block at a time.
  *
  * A row is written as its difference to the row before, so serialized rows cannot be reordered.
  *
  * @param width
  *   the number of columns of the rows
  * @param dataSize
  *   counts the bytes of the rows before they are packed
  */
final class PackedRowSerializer(width: Int, dataSize: SQLMetric)
    extends Serializer
    with Serializable {
  override def newInstance(): SerializerInstance =
    new PackedRowSerializerInstance(width, dataSize)
}

private final class PackedRowSerializerInstance(width: Int, dataSize: SQLMetric)
    extends SerializerInstance {

  /** A task writes all of its streams in one thread, so they share the buffer. */
  private val packed = new ByteWriter

  override def serializeStream(out: OutputStream): SerializationStream =
    new PackedRowOutput(out, packed, dataSize)

  override def deserializeStream(in: InputStream): DeserializationStream =
    new PackedRowInput(in, width)

  override def serialize[T: ClassTag](t: T): ByteBuffer = PackedRowSerializer.notOfShuffles()
  override def deserialize[T: ClassTag](bytes: ByteBuffer): T =
    PackedRowSerializer.notOfShuffles()
  override def deserialize[T: ClassTag](bytes: ByteBuffer, loader: ClassLoader): T =
    PackedRowSerializer.notOfShuffles()
}

private object PackedRowSerializer {
  def notOfShuffles(): Nothing =
    throw new UnsupportedOperationException("only what a shuffle calls is there")
}

private final class PackedRowOutput(out: OutputStream, packed: ByteWriter, dataSize: SQLMetric)
    extends SerializationStream {
  private val rows = new RowBlockWriter(out, packed)
  private var bytes = 0L

  override def writeValue[T: ClassTag](value: T): SerializationStream = {
    val row = value.asInstanceOf[UnsafeRow]
    val position = rows.append(row.getSizeInBytes)
    row.writeToMemory(rows.target, Platform.BYTE_ARRAY_OFFSET + position.toLong)
    rows.endRow()
    bytes += row.getSizeInBytes
    this
  }

  /** Ignores the key, which is the number of the partition that the stream belongs to. */
  override def writeKey[T: ClassTag](key: T): SerializationStream = this

  override def writeObject[T: ClassTag](t: T): SerializationStream =
    PackedRowSerializer.notOfShuffles()

  override def flush(): Unit = {
    rows.flush()
    out.flush()
    dataSize.add(bytes)
    bytes = 0L
  }

  override def close(): Unit = {
    flush()
    out.close()
  }
}

private final class PackedRowInput(in: InputStream, width: Int) extends DeserializationStream {
  private val rows = new RowBlockReader(in)

  override def asKeyValueIterator: Iterator[(Any, Any)] = new Iterator[(Any, Any)] {
    private val row = new UnsafeRow(width)
    private val keyed = (0, row)
    private var more = advance()

    override def hasNext: Boolean = more

    override def next(): (Any, Any) = {
      row.pointTo(rows.bytes, Platform.BYTE_ARRAY_OFFSET + rows.position.toLong, rows.length)
      more = advance()
      keyed
    }

    private def advance(): Boolean = {
      val found = rows.next()
      if (!found) close()
      found
    }
  }

  override def readObject[T: ClassTag](): T = PackedRowSerializer.notOfShuffles()
  override def close(): Unit = in.close()
}
