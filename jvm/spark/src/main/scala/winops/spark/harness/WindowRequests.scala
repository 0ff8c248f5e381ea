package winops.spark.harness

import scala.collection.mutable

import com.fasterxml.jackson.databind.JsonNode
import com.fasterxml.jackson.databind.node.ObjectNode

/** Answers requests for windows, as JSON. The member `do` selects the work:
  *
  *   - `open`: creates the window `id` over a stream, see [[WindowCall]] or, if the request has
  *     `functions`, window functions, see [[OverStream.open]]. The reply has the names of the
  *     `columns`
  *   - `batch`: runs a micro-batch of `id`. `rows` are its rows; `now` is its instant, or its
  *     watermark if there is a time column, in milliseconds; `last` is true if the input of
  *     window functions has ended. The reply has `changes`. That of window functions has `rows`,
  *     each the number of a row and its results, or `frames`, each the number of a row, the
  *     values of its group and the numbers of the rows in each frame
  *   - `table`: runs a window over a table of `rows`, whose time goes on to `until`, if given
  *   - `contents`: reads the stored state of the window `id`. The reply has its `groups`, each
  *     the key as JSON and the numbers of the rows in its windows
  *   - `check`: refuses a call that is not valid whatever the columns are, see [[UntypedCall]]
  *   - `explain`: describes a policy or window functions, see [[Explanation]]
  *   - `close`: removes the window or the window functions `id`
  *
  * A reply has `changes`, each an array: change type, time in microseconds or NULL, step,
  * sequence number, name of the window or NULL, reason, and number of the row in the order of
  * arrival; with a primary key, also the number of the row among those of the group. If the
  * argument `output` of the call names another output, the reply has `rows` instead, each the
  * JSON of the columns of that output. The reply to a failed request has `error`, see
  * [[JsonRequest.answer]].
  */
final class WindowRequests {
  private val windows = mutable.Map.empty[Long, OpenWindow]

  def answer(line: String): String = JsonRequest.answer(line) { (request, reply) =>
    val id = request.path("id").asLong
    request.path("do").asText match {
      case "open" => windows(id) = opened(request, reply)
      case "batch" =>
        val now = request.required("now").longValue
        windows(id).batch(JsonRequest.rows(request), now, request.path("last").asBoolean, reply)
      case "table" =>
        val window = KeepWindow.of(WindowCall.of(request), isStreaming = false)
        val until = Option(request.get("until")).map(_.longValue)
        window.write(reply)(TableWindow.run(window.plan, JsonRequest.rows(request), until, _))
      case "contents" => windows(id).contents(reply)
      case "check" => UntypedCall.check(WindowCall.of(request))
      case "explain" => Explanation.write(request, reply)
      case "close" =>
        val _ = windows.remove(id)
      case other => throw new IllegalArgumentException(s"no such request: $other")
    }
  }

  private def opened(request: JsonNode, reply: ObjectNode): OpenWindow =
    if (request.has("functions")) OverStream.open(request, reply)
    else KeepStream.open(WindowCall.of(request), reply)
}
