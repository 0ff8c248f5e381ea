package winops.spark.harness

import scala.jdk.CollectionConverters._

/** Runs a window over a stream of a few rows in one request, in the JVM of a session. */
private[spark] object SampleStream {

  /** Answers a request that has the members of a [[WindowCall]] and `batches`, each with its
    * `rows` and the instant or watermark `now`. The reply has the `changes` of all micro-batches,
    * as those of [[WindowRequests]].
    */
  def answer(line: String): String = JsonRequest.answer(line) { (request, reply) =>
    val window = new StreamWindow(WindowPlan.of(WindowCall.of(request), isStreaming = true))
    val changes = request.required("batches").elements.asScala.toSeq.flatMap { batch =>
      window.changes(JsonRequest.rows(batch), batch.required("now").longValue)
    }
    WindowChange.write(changes, reply)
  }
}
