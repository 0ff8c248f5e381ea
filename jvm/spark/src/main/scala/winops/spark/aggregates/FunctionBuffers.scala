package winops.spark.aggregates

import java.nio.ByteBuffer

import scala.util.Try
import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate._
import org.apache.spark.sql.types.{DataType, ObjectType}

import winops.aggregation.Summaries
import winops.spark.expressions.{BufferProjection, WindowAggregate}
import winops.spark.row.{RowShape, StoredRows}
import winops.storage.bytes.{ByteReader, ByteWriter, CorruptStateException}

/** The aggregation buffers of several functions side by side in one row, as a summary of stored
  * rows.
  *
  * @param aggregates
  *   functions with mergeable buffers
  * @param content
  *   the columns of a stored row
  * @param rows
  *   the stored rows
  */
private[spark] final class FunctionBuffers(
    aggregates: Seq[WindowAggregate],
    content: Seq[Attribute],
    rows: StoredRows)
    extends Summaries[InternalRow] {
  import FunctionBuffers._

  private val slots: Array[Slot] = {
    val offsets = aggregates.scanLeft(0)(_ + _.function.aggBufferAttributes.size)
    aggregates
      .zip(offsets)
      .map { case (aggregate, offset) =>
        aggregate.function match {
          case function: DeclarativeAggregate => Declared(function, aggregate.filter)
          case function: ImperativeAggregate =>
            val bound = BindReferences
              .bindReference[Expression](
                function
                  .withNewMutableAggBufferOffset(offset)
                  .withNewInputAggBufferOffset(offset),
                content)
              .asInstanceOf[ImperativeAggregate]
            Programmed(bound, offset, aggregate.filter.map(Predicate.create(_, content)))
          case other => throw new IllegalArgumentException(s"${other.prettyName} has no buffer")
        }
      }
      .toArray
  }
  private val programmed: Array[Programmed] = slots.collect { case slot: Programmed => slot }

  /** The columns of a buffer. */
  val attributes: Seq[Attribute] = slots.toSeq.flatMap(_.function.aggBufferAttributes)

  private val types: Array[DataType] = attributes.map(_.dataType).toArray
  private val shape = RowShape.ofTypes(types.toSeq)
  private val wideDecimals = new WideDecimals(aggregates, attributes)
  private val isPlain =
    programmed.isEmpty && wideDecimals.isEmpty && types.forall(UnsafeRow.isMutable)

  private val start =
    BufferProjection.create(slots.toSeq.flatMap(_.initialValues), Nil)
  private val update =
    BufferProjection.create(slots.toSeq.flatMap(_.updates), attributes ++ content)
  // Functions such as row_number cannot be merged, and are not.
  private lazy val merge = BufferProjection.create(
    slots.toSeq.flatMap(_.merges),
    attributes ++ slots.toSeq.flatMap(_.function.inputAggBufferAttributes))

  private val emptyPlain: UnsafeRow =
    if (isPlain) {
      val values = new SpecificInternalRow(types.toSeq)
      start.target(values)(InternalRow.empty)
      UnsafeProjection.create(types).apply(values).copy()
    } else null
  private lazy val packed = UnsafeProjection.create(types)
  private lazy val packing = new GenericInternalRow(types.length)

  /** True if the order in which rows are added does not matter. */
  private val isCommutative = programmed.isEmpty && aggregates.forall { aggregate =>
    AggregateProperties.of(aggregate.function).order.isWithin(AggregateProperties.FoldedEitherWay)
  }

  private val overflowMarks = aggregates.flatMap(overflowMark(_).toSeq)
  private val hasOverflowed =
    overflowMarks.reduceOption[Expression](Or(_, _)).map(Predicate.create(_, attributes))

  private val rowWeight = new RowWeight(aggregates, content)
  override val areWeighed: Boolean = !rowWeight.isZero

  /** Some functions compress the object in their buffer when they are evaluated or serialized. */
  override val changesWhenRead: Boolean =
    programmed.exists(_.function.isInstanceOf[TypedImperativeAggregate[_]])

  private val row = new UnsafeRow(content.size)
  private val anyTwo = new JoinedRow
  private val plainTwo = new TwoUnsafeRows

  override def create(): InternalRow =
    if (isPlain) emptyPlain.copy()
    else {
      val buffer = new SpecificInternalRow(types.toSeq)
      clear(buffer)
      buffer
    }

  override def clear(buffer: InternalRow): Unit =
    if (isPlain) buffer.asInstanceOf[UnsafeRow].copyFrom(emptyPlain)
    else {
      start.target(buffer)(InternalRow.empty)
      programmed.foreach(_.bound.initialize(buffer))
    }

  override def add(buffer: InternalRow, ordinal: Long): Unit = {
    rows.pointTo(row, ordinal)
    update.target(buffer)(both(buffer, row))
    var i = 0
    while (i < programmed.length) {
      programmed(i).update(buffer, row)
      i += 1
    }
  }

  override def weight(ordinal: Long): Double = {
    rows.pointTo(row, ordinal)
    rowWeight.of(row)
  }

  override def prepend(buffer: InternalRow, ordinal: Long, behind: InternalRow): Unit =
    if (isPlain && isCommutative) {
      buffer.asInstanceOf[UnsafeRow].copyFrom(behind.asInstanceOf[UnsafeRow])
      add(buffer, ordinal)
    } else super.prepend(buffer, ordinal, behind)

  override def append(buffer: InternalRow, behind: InternalRow): Unit = {
    merge.target(buffer)(both(buffer, behind))
    programmed.foreach(_.merge(buffer, behind))
  }

  override def join(buffer: InternalRow, front: InternalRow, behind: InternalRow): Unit =
    if (programmed.isEmpty) merge.target(buffer)(both(front, behind))
    else super.join(buffer, front, behind)

  override def isOverflowed(buffer: InternalRow): Boolean =
    hasOverflowed.exists(_.eval(buffer))

  override def write(buffer: InternalRow, out: ByteWriter): Unit = buffer match {
    case plain: UnsafeRow => out.block(plain.getBytes)
    case values =>
      var i = 0
      while (i < types.length) {
        packing.update(i, values.get(i, types(i)))
        i += 1
      }
      programmed.foreach(_.pack(values, packing))
      val stored = packed(packing)
      out.block(stored.getBytes)
      wideDecimals.write(values, stored, out)
  }

  override def read(buffer: InternalRow, in: ByteReader): Unit = {
    val bytes = in.block()
    val stored = new UnsafeRow(types.length)
    shape.pointTo(stored, bytes)
    buffer match {
      case plain: UnsafeRow => plain.copyFrom(stored)
      case values =>
        var i = 0
        while (i < types.length) {
          values.update(i, InternalRow.copyValue(stored.get(i, types(i))))
          i += 1
        }
        programmed.foreach(_.unpack(stored, values))
        wideDecimals.read(values, stored, in)
    }
  }

  private def both(buffer: InternalRow, other: InternalRow): InternalRow =
    if (isPlain) plainTwo.of(buffer.asInstanceOf[UnsafeRow], other.asInstanceOf[UnsafeRow])
    else anyTwo(buffer, other)

  /** Returns a function's value as an expression over [[attributes]]; None for a function whose
    * value [[result]] computes.
    */
  def evaluation(index: Int): Option[Expression] = slots(index).evaluation

  /** Computes the value of a function that has no [[evaluation]]. */
  def result(index: Int, buffer: InternalRow): Any = slots(index) match {
    case slot: Programmed => slot.result(buffer)
    case _ => throw new NoSuchElementException(s"function $index")
  }
}

private[spark] object FunctionBuffers {

  /** Returns true if merged buffers give the function's value. */
  def canHold(aggregate: WindowAggregate): Boolean = !aggregate.isDistinct &&
    AggregateProperties.of(aggregate.function).buffer == AggregateProperties.Merged

  /** Returns the condition on a buffer that the function's sum has overflowed, for functions that
    * mark an overflow by NULL. Other functions fail or wrap around.
    */
  private def overflowMark(aggregate: WindowAggregate): Option[Expression] =
    (aggregate.function, aggregate.function.aggBufferAttributes) match {
      case (_: Sum, Seq(sum, isEmpty)) => Some(And(IsNull(sum), Not(isEmpty)))
      case (_: Average, Seq(sum, _)) if !AggregateProperties.isFloating(sum.dataType) =>
        Some(IsNull(sum))
      case _ => None
    }

  private sealed abstract class Slot {
    def function: AggregateFunction
    def initialValues: Seq[Expression]
    def updates: Seq[Expression]
    def merges: Seq[Expression]
    def evaluation: Option[Expression]
  }

  private final case class Declared(function: DeclarativeAggregate, filter: Option[Expression])
      extends Slot {
    override def initialValues: Seq[Expression] = function.initialValues

    override def updates: Seq[Expression] = filter match {
      case None => function.updateExpressions
      case Some(condition) =>
        function.updateExpressions.zip(function.aggBufferAttributes).map { case (value, before) =>
          If(condition, value, before)
        }
    }

    override def merges: Seq[Expression] = function.mergeExpressions
    override def evaluation: Option[Expression] = Some(function.evaluateExpression)
  }

  /** A function that updates its buffer itself, from column `offset` of the shared row on. */
  private final case class Programmed(
      bound: ImperativeAggregate,
      offset: Int,
      filter: Option[BasePredicate])
      extends Slot {
    private val shape = BufferBytes.rowOf(bound).map(RowShape.ofTypes)

    /** The bytes of a buffer without rows. A later call would overwrite the bytes of another
      * buffer, because some functions serialize all of them into one array.
      */
    private val ofNoRows: Option[Array[Byte]] = bound match {
      case typed: TypedImperativeAggregate[Any @unchecked] =>
        Try(typed.serialize(typed.createAggregationBuffer()).clone()).toOption
      case _ => None
    }
    private val nothing = bound.aggBufferAttributes.map(_ => NoOp)
    private val staysAsStored = ResumedBuffer.isNeededFor(bound)

    override def function: AggregateFunction = bound
    override def initialValues: Seq[Expression] = nothing
    override def updates: Seq[Expression] = nothing
    override def merges: Seq[Expression] = nothing
    override def evaluation: Option[Expression] = None

    def update(buffer: InternalRow, row: InternalRow): Unit =
      if (filter.forall(_.eval(row))) {
        resumedIn(buffer) match {
          case Some(resumed) => resumed.update(row)
          case None => bound.update(buffer, row)
        }
      }

    def merge(buffer: InternalRow, behind: InternalRow): Unit = bound match {
      case typed: TypedImperativeAggregate[Any @unchecked] =>
        // A function may keep the object that it merges, so it gets a copy.
        val bytes = typed.serialize(objectIn(behind))
        if (!areOfNoRows(bytes)) {
          buffer.update(offset, typed.merge(objectIn(buffer), typed.deserialize(bytes)))
        }
      case plain => plain.merge(buffer, behind)
    }

    def result(buffer: InternalRow): Any = bound match {
      case typed: TypedImperativeAggregate[Any @unchecked] => typed.eval(objectIn(buffer))
      case plain => plain.eval(buffer)
    }

    def pack(buffer: InternalRow, target: InternalRow): Unit = bound match {
      case typed: TypedImperativeAggregate[Any @unchecked] =>
        target.update(offset, serialized(typed, objectIn(buffer)))
      case _ =>
    }

    def unpack(stored: InternalRow, buffer: InternalRow): Unit = bound match {
      case typed: TypedImperativeAggregate[Any @unchecked] =>
        buffer.update(offset, read(typed, stored.getBinary(offset)))
      case _ =>
    }

    private def read(typed: TypedImperativeAggregate[Any], bytes: Array[Byte]): Any = {
      def refused =
        new CorruptStateException(s"${bound.prettyName} cannot read what it stored")
      try {
        if (areOfNoRows(bytes)) typed.createAggregationBuffer()
        else {
          shape.foreach(_.check(bytes, 0, bytes.length))
          if (!isAsLongAsItSays(typed, bytes)) throw refused
          ResumedBuffer.of(typed, bytes)
        }
      } catch {
        // Some functions allocate as much memory as the bytes say.
        case NonFatal(_) | _: OutOfMemoryError => throw refused
      }
    }

    /** A buffer without rows that cannot be serialized is stored without bytes. */
    private def serialized(typed: TypedImperativeAggregate[Any], value: Any): Array[Byte] =
      try typed.serialize(value)
      catch {
        case NonFatal(_) if ofNoRows.isEmpty && hasNoRows(typed, value) => Array.emptyByteArray
      }

    /** Returns true for a buffer that cannot be serialized if it is one without rows. Of Spark's
      * own functions, only buffers without rows cannot be.
      */
    private def hasNoRows(typed: TypedImperativeAggregate[Any], value: Any): Boolean =
      shape.isEmpty || value == typed.createAggregationBuffer()

    /** Returns true for the bytes of a sketch to which no row was added. When they are read, some
      * functions take them for a sketch of default size, or for one that is complete.
      */
    private def areOfNoRows(bytes: Array[Byte]): Boolean =
      ofNoRows match {
        case None => bytes.isEmpty
        case Some(known) => shape.isEmpty && java.util.Arrays.equals(known, bytes)
      }

    private def resumedIn(buffer: InternalRow): Option[ResumedBuffer[Any]] =
      if (!staysAsStored) None
      else {
        buffer.get(offset, AnyObject) match {
          case resumed: ResumedBuffer[Any @unchecked] => Some(resumed)
          case _ => None
        }
      }

    private def objectIn(buffer: InternalRow): Any =
      resumedIn(buffer).fold(buffer.get(offset, AnyObject): Any)(_.value)
  }

  /** Returns true if the bytes have the length that their header says, for functions that
    * allocate memory by the header before they check it.
    */
  private def isAsLongAsItSays(function: AggregateFunction, bytes: Array[Byte]): Boolean =
    function match {
      case _: ApproximatePercentile =>
        bytes.length == 24L + 24L * ByteBuffer.wrap(bytes).getInt(20)
      case _: CountMinSketchAgg =>
        val header = ByteBuffer.wrap(bytes)
        val (depth, width) = (header.getInt(12).toLong, header.getInt(16).toLong)
        depth > 0 && width > 0 && bytes.length == 20L + 8L * depth + 8L * depth * width
      case _ => true
    }

  private val AnyObject = ObjectType(classOf[AnyRef])
}
