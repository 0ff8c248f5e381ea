package winops.spark.harness

import com.fasterxml.jackson.databind.JsonNode
import com.fasterxml.jackson.databind.node.ObjectNode

/** A window, or window functions, that requests run over a stream. */
private[harness] trait OpenWindow {

  /** Runs a micro-batch, and writes its output rows, metrics and the size of the state.
    *
    * @param now
    *   the watermark or, without a time column, the timestamp of the micro-batch
    * @param isLast
    *   true if the input has ended
    */
  def batch(rows: Seq[JsonNode], now: Long, isLast: Boolean, reply: ObjectNode): Unit

  /** Writes the `groups` of the stored state: the key of each group as JSON, and the numbers of
    * the rows in its windows.
    *
    * @throws java.lang.IllegalArgumentException
    *   if these are window functions, which have no windows
    */
  def contents(reply: ObjectNode): Unit
}
