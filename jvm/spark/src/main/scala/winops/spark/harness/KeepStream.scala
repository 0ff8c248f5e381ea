package winops.spark.harness

import com.fasterxml.jackson.databind.JsonNode
import com.fasterxml.jackson.databind.node.ObjectNode

/** Runs the window of a call over a stream, whose input does not end. */
private[harness] final class KeepStream(plan: WindowPlan) extends OpenWindow {
  private val stream = new StreamWindow(plan)

  override def batch(rows: Seq[JsonNode], now: Long, isLast: Boolean, reply: ObjectNode): Unit = {
    WindowChange.write(stream.changes(rows, now), reply)
    stream.write(reply)
  }
}

private[harness] object KeepStream {

  /** Opens the window of a call, and writes the names of the `columns`. */
  def open(call: WindowCall, reply: ObjectNode): KeepStream = {
    JsonRequest.writeTexts(call.schema.fieldNames.toSeq, "columns", reply)
    new KeepStream(WindowPlan.of(call, isStreaming = true))
  }
}
