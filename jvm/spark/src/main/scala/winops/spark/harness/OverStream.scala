package winops.spark.harness

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.JsonNode
import com.fasterxml.jackson.databind.node.ObjectNode

import org.apache.spark.sql.catalyst.parser.CatalystSqlParser
import org.apache.spark.sql.internal.SQLConf

/** Runs window functions of a request over a stream.
  *
  * @param showsFrames
  *   true if the rows of the frames are the results
  */
private[harness] final class OverStream(plan: OverWindow, showsFrames: Boolean) {
  private val stream = new StreamWindow(if (showsFrames) plan.windowOfFrames else plan.window)
  private val toResults = plan.toResults
  private val toFrames = plan.toFrames

  /** Runs a micro-batch, and writes its output rows, metrics and the size of the state.
    *
    * @param now
    *   the watermark or, without a time column, the timestamp of the micro-batch
    * @param isLast
    *   true if the input has ended
    */
  def batch(json: Seq[JsonNode], now: Long, isLast: Boolean, reply: ObjectNode): Unit = {
    if (showsFrames) {
      val list = reply.putArray("frames")
      stream.run(json, now, isLast, toFrames).foreach { case (number, group, frames) =>
        val values = list.addArray().add(number)
        val keys = values.addArray()
        group.foreach(keys.add)
        val lists = values.addArray()
        frames.foreach { frame =>
          val rows = lists.addArray()
          frame.foreach(rows.add(_))
        }
      }
    } else {
      val list = reply.putArray("rows")
      stream.run(json, now, isLast, toResults).foreach { case (number, results) =>
        list.addArray().add(number).add(results)
      }
    }
    stream.write(reply)
  }
}

private[harness] object OverStream {

  /** Opens the stream of a request: `text`, `schema`, `settings` by their names behind
    * `spark.winops.over.`, and `frames`. Writes the types of the results.
    */
  def open(request: JsonNode, reply: ObjectNode): OverStream = configured(request) {
    val schema = CatalystSqlParser.parseTableSchema(request.required("schema").textValue)
    val plan = new OverText(request.required("text").textValue).resolve(schema)
    reply.put("results", plan.results.json)
    plan.time.fold(reply.putNull("time"))(reply.put("time", _))
    val names = reply.putArray("names")
    plan.frameNames.foreach(names.add)
    new OverStream(plan, request.path("frames").asBoolean)
  }

  /** Describes window functions: `sentence`, `pieces` with their names, the `group`, the name of
    * the `time`, and the `schema` of the rows, which follows from the text if the request has
    * none.
    */
  def explain(request: JsonNode, reply: ObjectNode): Unit = configured(request) {
    val text = new OverText(request.required("text").textValue)
    val schema = Option(request.get("schema"))
      .fold(text.columns)(ddl => CatalystSqlParser.parseTableSchema(ddl.textValue))
    val plan = text.resolve(schema)
    reply.put("sentence", plan.describer.sentence)
    val pieces = reply.putArray("pieces")
    plan.describer.pieces.foreach { case (name, words) => pieces.addArray().add(name).add(words) }
    val group = reply.putArray("group")
    plan.group.foreach(group.add)
    plan.time.fold(reply.putNull("time"))(reply.put("time", _))
    val _ = reply.put("schema", schema.json)
  }

  private def configured[A](request: JsonNode)(body: => A): A = {
    val conf = new SQLConf
    request.path("settings").properties.asScala.foreach { setting =>
      conf.setConfString(s"spark.winops.over.${setting.getKey}", setting.getValue.asText)
    }
    SQLConf.withExistingConf(conf)(body)
  }
}
