package winops.spark.frames

import org.apache.spark.sql.catalyst.expressions._

import winops.spark.aggregates.{AggregateProperties, FunctionBuffers}
import winops.spark.expressions.{AggregateEvaluator, WindowAggregate}
import winops.storage.bytes.{ByteReader, ByteWriter}

/** Aggregates over a frame that begins with the first row of the partition. The aggregates are
  * kept in a buffer to which rows are added, so that rows need not be stored. Functions whose
  * buffer is not stored are computed anew from all rows when a group is opened.
  *
  * @param aggregates
  *   the functions, in the order of the values
  * @param upper
  *   the boundary behind the last row of the frame
  */
private[frames] final class RunningFrame(
    aggregates: Seq[WindowAggregate],
    rows: FrameRows,
    upper: Boundary)
    extends FrameValues {
  private val (stored, walking) = aggregates.partition(RunningFrame.canStore)
  private val buffers = new FunctionBuffers(stored, rows.columns, rows)
  private val buffer = buffers.create()
  private val walks = walking.map(new AggregateEvaluator(_, rows.columns)).toArray

  /** The functions whose value is not an expression over the buffer. */
  private val programmed = stored.indices.filter(buffers.evaluation(_).isEmpty)
  private val others = new GenericInternalRow(programmed.size + walks.length)
  private val otherColumns = (programmed.map(stored) ++ walking).map { aggregate =>
    aggregate -> AttributeReference("value", aggregate.dataType, nullable = true)()
  }
  private val projection = UnsafeProjection.create(
    aggregates.map { aggregate =>
      otherColumns
        .collectFirst { case (same, column) if same eq aggregate => column }
        .getOrElse(buffers.evaluation(stored.indexWhere(_ eq aggregate)).get)
    },
    buffers.attributes ++ otherColumns.map(_._2))
  private val joined = new JoinedRow(buffer, others)
  private val row = new UnsafeRow(rows.columns.size)

  private var added = 0L
  private var areWalksFilled = true
  private var values: UnsafeRow = _

  override def isKnown(row: Long): Boolean = upper.isKnown(row)
  override def knownAfter(row: Long): Long = upper.knownAfter(row)
  override def neededFrom(next: Long): Long = if (walks.isEmpty) added else 0L

  override def reach: Long = if (walks.isEmpty) upper.reach else Long.MaxValue

  override def leaveBehind(end: Long): Unit = {
    upper.moveBehind(end)
    addUntil(end)
  }

  override def of(ordinal: Long): UnsafeRow = {
    val end = upper.moveTo(ordinal)
    if (!areWalksFilled) fillWalks()
    addUntil(end)
    if (values == null) values = evaluate()
    values
  }

  private def addUntil(end: Long): Unit = while (added < end) {
    buffers.add(buffer, added)
    addToWalks(added)
    added += 1
    values = null
  }

  private def evaluate(): UnsafeRow = {
    var place = 0
    while (place < programmed.size) {
      others.update(place, buffers.result(programmed(place), buffer))
      place += 1
    }
    var i = 0
    while (i < walks.length) {
      others.update(place + i, walks(i).result)
      i += 1
    }
    projection(joined)
  }

  private def fillWalks(): Unit = {
    walks.foreach(_.clear())
    var ordinal = 0L
    while (ordinal < added) {
      addToWalks(ordinal)
      ordinal += 1
    }
    areWalksFilled = true
  }

  private def addToWalks(ordinal: Long): Unit = if (walks.nonEmpty) {
    rows.pointTo(row, ordinal)
    walks.foreach(_.add(row))
  }

  override def clear(): Unit = {
    upper.clear()
    buffers.clear(buffer)
    walks.foreach(_.clear())
    areWalksFilled = true
    added = 0L
    values = null
  }

  override def startFrom(first: Long, next: Long): Unit = {
    clear()
    rows.checkFirst(first)
  }

  override def save(out: ByteWriter): Unit = {
    upper.save(out)
    out.number(added)
    buffers.write(buffer, out)
  }

  override def restore(in: ByteReader): Unit = {
    upper.restore(in)
    added = in.count(Long.MaxValue)
    buffers.read(buffer, in)
    areWalksFilled = walks.isEmpty
    values = null
  }
}

private[spark] object RunningFrame {

  /** Returns true if the function's buffer is stored. */
  def canStore(aggregate: WindowAggregate): Boolean =
    AggregateProperties.of(aggregate.function).buffer != AggregateProperties.FromRows
}
