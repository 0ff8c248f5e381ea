package winops.spark.harness

import scala.jdk.CollectionConverters._
import scala.util.control.NonFatal

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import com.fasterxml.jackson.databind.node.ObjectNode
import org.json4s.jackson.JsonMethods.parse

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.parser.CatalystSqlParser
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.winops.internal.Catalyst

import winops.spark.restart.StoredTypes
import winops.spark.internal.WinopsAnalysisException

/** Reads requests and writes replies, which are JSON objects. */
private[harness] object JsonRequest {
  private val mapper = new ObjectMapper

  /** Returns the reply to a request: what `write` adds, or `error`. An error has the condition,
    * if any, the message without the condition, whether the analysis of the call failed, and the
    * `language` that the text of a refused policy is probably in.
    */
  def answer(line: String)(write: (JsonNode, ObjectNode) => Unit): String = {
    val reply = mapper.createObjectNode()
    try write(mapper.readTree(line), reply)
    catch {
      case NonFatal(e) => writeError(e, reply)
    }
    mapper.writeValueAsString(reply)
  }

  /** The rows of a request. */
  def rows(request: JsonNode): Seq[JsonNode] = request.path("rows").elements.asScala.toSeq

  /** The columns of a request, if it has any: `schema` is DDL, or the JSON of a StructType. */
  def columns(request: JsonNode): Option[StructType] = Option(request.get("schema")).map {
    case json if json.isObject =>
      StoredTypes
        .columns(parse(json.toString))
        .map(Catalyst.asNullable(_: StructType))
        .getOrElse(throw new IllegalArgumentException("schema is the JSON of another type"))
    case ddl => CatalystSqlParser.parseTableSchema(ddl.textValue)
  }

  /** Writes a list of texts. */
  def writeTexts(texts: Seq[String], name: String, reply: ObjectNode): Unit = {
    val list = reply.putArray(name)
    texts.foreach(list.add)
  }

  /** Writes the pieces of a description, each with its name. */
  def writePieces(pieces: Seq[(String, String)], reply: ObjectNode): Unit = {
    val list = reply.putArray("pieces")
    pieces.foreach { case (name, words) => list.addArray().add(name).add(words) }
  }

  private def writeError(error: Throwable, reply: ObjectNode): Unit = {
    val json = reply.putObject("error")
    val condition = error match {
      case known: SparkThrowable => Option(known.getCondition)
      case _ => None
    }
    condition.fold(json.putNull("condition"))(json.put("condition", _))
    json.put("analysis", error.isInstanceOf[AnalysisException])
    error match {
      case refused: WinopsAnalysisException =>
        refused.policyError.flatMap(_.meantDialect).foreach(json.put("language", _))
      case _ =>
    }
    val message = Option(error.getMessage).getOrElse(error.toString)
    val plain = condition.fold(message)(name => message.stripPrefix(s"[$name] "))
    // A list of columns ends with the number of the row, which no user has given.
    val _ = json.put("message", plain.replace(s", ${WindowPlan.RowNumber}", ""))
  }
}
