package winops.spark.harness

import com.fasterxml.jackson.databind.JsonNode
import com.fasterxml.jackson.databind.node.ObjectNode

import org.apache.spark.sql.catalyst.expressions.{Attribute, Literal}
import org.apache.spark.sql.types.{DoubleType, LongType, StringType, StructType, TimestampType}

import winops.policy.{Policy, Retention}
import winops.spark.analysis.KeepDescriber
import winops.text.ccl.Ccl

/** Describes policies and window functions. */
private[harness] object Explanation {

  /** The columns of sample rows. */
  val Samples: StructType = new StructType()
    .add("seq", LongType)
    .add("symbol", StringType)
    .add("price", DoubleType)
    .add("ts", TimestampType)

  /** The language of window functions of Spark SQL. */
  private val Over = "over"

  // A policy in CCL begins with KEEP, and one of Esper that can have the word begins with "#".
  private val HasOver = "(?is)(?!KEEP\\b|#).*\\bOVER\\b.*".r

  /** Describes the `text` of a request, which may have a `language`, a `schema` and the list
    * `per`. Without a language, a text with OVER is window functions, and another one is CCL.
    * Writes the `language`, the `sentence`, the `pieces` with their names, the columns of the
    * `group`, and the `schema` of the rows. `fullRows` is the most rows of a group of a policy,
    * if their number alone limits it. `time` is the time column of window functions.
    */
  def write(request: JsonNode, reply: ObjectNode): Unit = {
    val text = request.required("text").textValue
    val language = Option(request.get("language")).fold(languageOf(text))(_.textValue)
    reply.put("language", language)
    val schema =
      if (language == Over) OverStream.explain(request, reply)
      else {
        val columns = JsonRequest.columns(request).getOrElse(Samples)
        val call = WindowCall.of(request)
        explain(call.copy(schema = columns, arguments = Seq(language -> Literal(text))), reply)
        columns
      }
    val _ = reply.put("schema", schema.json)
  }

  private def languageOf(text: String): String =
    if (HasOver.matches(text.trim)) Over else Ccl.name

  private def explain(call: WindowCall, reply: ObjectNode): Unit = {
    reply.put("sentence", WindowPlan.sentence(call))
    val keep = WindowPlan.keepOf(call, isStreaming = true)
    val policy = KeepDescriber.policyOf(keep.spec, keep.group)
    fullRows(policy).foreach(reply.put("fullRows", _))
    JsonRequest.writePieces(policy.pieces, reply)
    val group = keep.group.collect { case column: Attribute => column.name }
    JsonRequest.writeTexts(group, "group", reply)
  }

  private def fullRows(policy: Policy): Option[Long] = policy.retention match {
    case Retention.One(window) => window.bound.mostRows(window.triggers.leave)
    case _ => None
  }
}
