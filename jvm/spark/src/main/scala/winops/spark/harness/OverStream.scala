package winops.spark.harness

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.JsonNode
import com.fasterxml.jackson.databind.node.ObjectNode

import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.StructType

/** Runs window functions of a request over a stream.
  *
  * @param showsFrames
  *   true if the rows of the frames are the results
  */
private[harness] final class OverStream(plan: OverWindow, showsFrames: Boolean)
    extends OpenWindow {
  private val stream = new StreamWindow(if (showsFrames) plan.windowOfFrames else plan.window)
  private val toResults = plan.toResults
  private val toFrames = plan.toFrames

  override def batch(rows: Seq[JsonNode], now: Long, isLast: Boolean, reply: ObjectNode): Unit = {
    if (showsFrames) {
      val list = reply.putArray("frames")
      stream.run(rows, now, isLast, toFrames).foreach { case (number, group, frames) =>
        val values = list.addArray().add(number)
        val keys = values.addArray()
        group.foreach(keys.add)
        val lists = values.addArray()
        frames.foreach { frame =>
          val held = lists.addArray()
          frame.foreach(held.add(_))
        }
      }
    } else {
      val list = reply.putArray("rows")
      stream.run(rows, now, isLast, toResults).foreach { case (number, results) =>
        list.addArray().add(number).add(results)
      }
    }
    stream.write(reply)
  }

  override def contents(reply: ObjectNode): Unit =
    throw new IllegalArgumentException("window functions have no contents")
}

private[harness] object OverStream {

  /** Opens the stream of a request: `functions`, `schema`, `settings` by their names behind
    * `spark.winops.over.`, and `frames`. Writes the names of the `columns`, the types of the
    * `results`, and the `names` of the frames with the `reasons` for which rows leave them.
    */
  def open(request: JsonNode, reply: ObjectNode): OverStream = configured(request) {
    val schema = JsonRequest.columns(request).getOrElse(new StructType)
    val plan = new OverText(request.required("functions").textValue).resolve(schema)
    JsonRequest.writeTexts(schema.fieldNames.toSeq, "columns", reply)
    reply.put("results", plan.results.json)
    JsonRequest.writeTexts(plan.frameNames, "names", reply)
    JsonRequest.writeTexts(plan.frameReasons, "reasons", reply)
    new OverStream(plan, request.path("frames").asBoolean)
  }

  /** Describes the window functions `text`: `sentence`, `pieces` with their names, the `group`,
    * and the name of the `time`. Returns the columns of the rows, which follow from the text if
    * the request has none.
    */
  def explain(request: JsonNode, reply: ObjectNode): StructType = configured(request) {
    val text = new OverText(request.required("text").textValue)
    val schema = JsonRequest.columns(request).getOrElse(text.columns)
    val plan = text.resolve(schema)
    reply.put("sentence", plan.describer.sentence)
    JsonRequest.writePieces(plan.describer.pieces, reply)
    JsonRequest.writeTexts(plan.group, "group", reply)
    plan.time.fold(reply.putNull("time"))(reply.put("time", _))
    schema
  }

  private def configured[A](request: JsonNode)(body: => A): A = {
    val conf = SQLConf.getFallbackConf.clone()
    request.path("settings").properties.asScala.foreach { setting =>
      conf.setConfString(s"spark.winops.over.${setting.getKey}", setting.getValue.asText)
    }
    SQLConf.withExistingConf(conf)(body)
  }
}
