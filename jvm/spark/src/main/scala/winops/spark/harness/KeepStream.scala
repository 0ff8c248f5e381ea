package winops.spark.harness

import com.fasterxml.jackson.databind.JsonNode
import com.fasterxml.jackson.databind.node.ObjectNode

import org.apache.spark.sql.catalyst.types.DataTypeUtils

import winops.spark.plan.KeepPlan

/** Runs the window of a call over a stream, whose input does not end. */
private[harness] final class KeepStream(window: KeepWindow) extends OpenWindow {
  private val stream = new StreamWindow(window.plan)

  override def batch(rows: Seq[JsonNode], now: Long, isLast: Boolean, reply: ObjectNode): Unit = {
    window.write(reply)(stream.run(rows, now, isLast = false, _))
    stream.write(reply)
  }

  override def contents(reply: ObjectNode): Unit = window.plan.plan match {
    case plan: KeepPlan =>
      val list = reply.putArray("groups")
      val keys = new JsonRows(DataTypeUtils.fromAttributes(plan.keys))
      StoredContents.of(plan, stream.store).foreach { case (key, numbers) =>
        val rows = list.addArray().add(keys.text(key)).addArray()
        numbers.foreach(rows.add(_))
      }
    case other => throw new IllegalArgumentException(s"no window: $other")
  }
}

private[harness] object KeepStream {

  /** Opens the window of a call, and writes the names of the `columns`. */
  def open(call: WindowCall, reply: ObjectNode): KeepStream = {
    JsonRequest.writeTexts(call.schema.fieldNames.toSeq, "columns", reply)
    new KeepStream(KeepWindow.of(call, isStreaming = true))
  }
}
