package winops.peers.flink

import org.apache.flink.api.common.eventtime.Watermark
import org.apache.flink.api.connector.sink2.{Sink, SinkWriter, WriterInitContext}

import winops.peers.process.Counts

/** Counts the output rows and reports the counts at the end of each micro-batch. */
final class Counter extends Sink[Answer] {
  override def createWriter(context: WriterInitContext): SinkWriter[Answer] = new Writer

  @deprecated("Flink still wants it to be there", "1.20")
  override def createWriter(context: Sink.InitContext): SinkWriter[Answer] = new Writer

  private class Writer extends SinkWriter[Answer] {
    private var inserted, deleted = 0L

    override def write(answer: Answer, context: SinkWriter.Context): Unit =
      if (answer.leaves) deleted += 1 else inserted += 1

    override def writeWatermark(watermark: Watermark): Unit = {
      Handover.report(Counts(inserted, deleted))
      inserted = 0
      deleted = 0
    }

    override def flush(endOfInput: Boolean): Unit = ()

    override def close(): Unit = ()
  }
}
