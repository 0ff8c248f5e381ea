package winops.spark.harness

import scala.collection.mutable
import scala.jdk.CollectionConverters._
import scala.util.control.NonFatal

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import com.fasterxml.jackson.databind.node.{ArrayNode, ObjectNode}

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.expressions.Attribute

import winops.policy.{Bound, Policy, Retention, Trigger, Triggers, Window}
import winops.spark.analysis.KeepDescriber

/** Answers requests for windows, as JSON. The member `do` selects the work:
  *
  *   - `open`: creates the window `id` over a stream, see [[WindowCall]]; the reply is empty
  *   - `batch`: runs a micro-batch of the window `id`. `rows` are its rows; `now` is its instant,
  *     or its watermark if the window has a time column, in milliseconds
  *   - `table`: runs a window over a table of `rows`, whose time goes on to `until`, if given
  *   - `explain`: describes a window: `sentence`, `pieces` with their names, `group`, the columns
  *     of the group, and `fullRows`, the most rows of a group if their number alone limits it
  *   - `over_open`: creates the window functions `id` over a stream, see [[OverStream.open]]
  *   - `over_batch`: runs a micro-batch of the window functions `id`, as `batch`; `last` is true
  *     if the input has ended. The reply has `rows`, each the number of a row and its results, or
  *     `frames`, each the number of a row, the values of its group and the numbers of the rows in
  *     each frame
  *   - `over_explain`: describes window functions, see [[OverStream.explain]]
  *   - `close`: removes the window or the window functions `id`
  *
  * A reply has `changes`, each an array: change type, time in microseconds or NULL, step,
  * sequence number, name of the window or NULL, reason, and number of the row in the order of
  * arrival. The reply to a failed request has `error`: the condition, if any, the message, and
  * whether the analysis of the call failed.
  */
final class WindowRequests {
  private val mapper = new ObjectMapper
  private val windows = mutable.Map.empty[Long, StreamWindow]
  private val streams = mutable.Map.empty[Long, OverStream]

  def answer(line: String): String = {
    val reply = mapper.createObjectNode()
    try {
      val request = mapper.readTree(line)
      val id = request.path("id").asLong
      request.path("do").asText match {
        case "open" =>
          windows(id) = new StreamWindow(
            WindowPlan.of(WindowCall.of(request), isStreaming = true))
        case "batch" =>
          val window = windows(id)
          write(window.changes(rows(request), request.required("now").longValue), reply)
          window.write(reply)
        case "table" =>
          val plan = WindowPlan.of(WindowCall.of(request), isStreaming = false)
          val until = Option(request.get("until")).map(_.longValue)
          write(TableWindow.changes(plan, rows(request), until), reply)
        case "explain" => explain(WindowCall.of(request), reply)
        case "over_open" => streams(id) = OverStream.open(request, reply)
        case "over_batch" =>
          val now = request.required("now").longValue
          streams(id).batch(rows(request), now, request.path("last").asBoolean, reply)
        case "over_explain" => OverStream.explain(request, reply)
        case "close" =>
          windows.remove(id)
          val _ = streams.remove(id)
        case other => throw new IllegalArgumentException(s"no such request: $other")
      }
    } catch {
      case NonFatal(e) => writeError(e, reply)
    }
    mapper.writeValueAsString(reply)
  }

  private def explain(call: WindowCall, reply: ObjectNode): Unit = {
    reply.put("sentence", WindowPlan.sentence(call))
    val keep = WindowPlan.keepOf(call, isStreaming = true)
    val pieces = reply.putArray("pieces")
    val policy = KeepDescriber.policyOf(keep.spec, keep.group)
    fullRows(policy).foreach(reply.put("fullRows", _))
    policy.pieces.foreach { case (name, text) => pieces.addArray().add(name).add(text) }
    val group = reply.putArray("group")
    keep.group.foreach {
      case column: Attribute => group.add(column.name)
      case _ =>
    }
  }

  private def fullRows(policy: Policy): Option[Long] = policy.retention match {
    case Retention.One(Window(_, _, Bound.MoreThan(rows), Triggers(_, leave, _))) =>
      leave match {
        case Trigger.Excess(slack) => Some(rows + slack - 1)
        case _ => Some(rows)
      }
    case _ => None
  }

  private def rows(request: JsonNode): Seq[JsonNode] = request.path("rows").elements.asScala.toSeq

  private def write(changes: Seq[WindowChange], reply: ObjectNode): Unit = {
    val list = reply.putArray("changes")
    changes.foreach(change => write(change, list.addArray()))
  }

  private def write(change: WindowChange, values: ArrayNode): Unit = {
    values.add(change.kind)
    change.micros.fold(values.addNull())(values.add(_))
    values.add(change.step)
    values.add(change.sequence)
    change.window.fold(values.addNull())(values.add(_))
    values.add(change.reason)
    val _ = values.add(change.row)
  }

  private def writeError(error: Throwable, reply: ObjectNode): Unit = {
    val json = reply.putObject("error")
    error match {
      case known: SparkThrowable => json.put("condition", known.getCondition)
      case _ => json.putNull("condition")
    }
    json.put("analysis", error.isInstanceOf[AnalysisException])
    val message = Option(error.getMessage).getOrElse(error.toString)
    // A list of columns ends with the number of the row, which no user has given.
    val _ = json.put("message", message.replace(s", ${WindowPlan.RowNumber}", ""))
  }
}
