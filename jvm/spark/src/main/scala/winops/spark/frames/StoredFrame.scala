package winops.spark.frames

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.{BoundReference, UnsafeProjection, UnsafeRow}

import winops.spark.aggregates.StoredAggregates
import winops.spark.row.RowShape
import winops.storage.btree.Pages
import winops.storage.bytes.{ByteReader, ByteWriter}

/** Window functions of a group that another query has stored. Reads what is stored, and writes it
  * for those functions that the running query has too.
  *
  * @param pages
  *   the storage of partial aggregates
  */
private[frames] final class StoredFrame(form: FrameForm, pages: Pages) {
  private val aggregates = Option.when(form.kind == FrameForm.Sliding) {
    new StoredAggregates(pages, leavesFromFront = true, form.distinct, arrivals = 0)
  }
  private val types = form.types.toArray
  private val shape = RowShape.ofTypes(form.types)
  private val buffer = new UnsafeRow(types.length)

  /** For each target, the columns of its buffers in the stored ones, and what selects them. */
  private val selections = mutable.Map.empty[FrameForm, (Seq[Int], UnsafeProjection)]
  private var digits = Map.empty[Int, Array[Byte]]
  private var positions: Seq[Long] = Nil
  private var added = 0L
  private var bytes = Array.emptyByteArray

  def restore(in: ByteReader): Unit = {
    val from = in.position
    positions = Seq.fill(form.positions)(in.number())
    form.kind match {
      case FrameForm.Running => readBuffers(in)
      case FrameForm.Sliding =>
        Seq.fill(2)(in.number())
        aggregates.foreach(_.restore(in))
      case FrameForm.Lag =>
        val size = in.count(Int.MaxValue.toLong)
        (0L until size).foreach(_ => in.block())
      case _ =>
    }
    bytes = java.util.Arrays.copyOfRange(in.bytes, from, in.position)
  }

  private def readBuffers(in: ByteReader): Unit = {
    added = in.number()
    shape.pointTo(buffer, in.block())
    digits = form.wide.filter(buffer.isNullAt).map(_ -> in.block()).toMap
  }

  /** Frees the pages. */
  def clear(): Unit = aggregates.foreach(_.clear())

  /** Writes the state of functions in another form, as they restore it; returns false if this
    * state does not have it. Partial aggregates in pages are not written.
    */
  def write(target: FrameForm, out: ByteWriter): Boolean =
    if (aggregates.isDefined) false
    else if (target == form) {
      out.raw(bytes, 0, bytes.length)
      true
    } else if (form.kind == FrameForm.Running && target.kind == form.kind &&
      target.functions.forall(form.functions.contains)) {
      writeBuffers(target, out)
      true
    } else false

  private def writeBuffers(target: FrameForm, out: ByteWriter): Unit = {
    val (ordinals, selected) = selections.getOrElseUpdate(target, selectionOf(target))
    positions.foreach(out.number)
    out.number(added)
    out.block(selected(buffer).getBytes)
    target.wide.foreach(place => digits.get(ordinals(place)).foreach(out.block))
  }

  private def selectionOf(target: FrameForm): (Seq[Int], UnsafeProjection) = {
    val starts = form.buffers.map(_._2.size).scanLeft(0)(_ + _)
    val ordinals = target.buffers.flatMap { case (name, struct) =>
      val start = starts(form.buffers.indexWhere(_._1 == name))
      start until start + struct.size
    }
    (
      ordinals,
      UnsafeProjection.create(ordinals.map { ordinal =>
        BoundReference(ordinal, types(ordinal), nullable = true)
      }))
  }
}
