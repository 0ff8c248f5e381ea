package winops.peers.flink

import scala.annotation.nowarn

import org.apache.flink.streaming.api.functions.source.{RichParallelSourceFunction, SourceFunction}
import org.apache.flink.streaming.api.watermark.Watermark

import winops.peers.process.{Block, MicroBatch}

/** Emits the rows of some keys, in order, like a partition of a log. The watermark marks the end
  * of a micro-batch.
  */
// The successor of this class is made for splits that are discovered, assigned and stored.
@nowarn("cat=deprecation")
final class Feed extends RichParallelSourceFunction[Trade] {
  @volatile private var isRunning = true

  override def run(context: SourceFunction.SourceContext[Trade]): Unit = {
    val task = getRuntimeContext.getTaskInfo
    while (isRunning)
      Handover.next(task.getIndexOfThisSubtask).foreach {
        feed(_, task.getIndexOfThisSubtask, task.getNumberOfParallelSubtasks, context)
      }
  }

  override def cancel(): Unit = isRunning = false

  private def feed(
      batch: MicroBatch,
      part: Int,
      parts: Int,
      context: SourceFunction.SourceContext[Trade]): Unit = {
    // It is written to the network buffer before the next row is set in it.
    val trade = new Trade
    batch.foreachBlock { block =>
      var row = 0
      while (row < block.rows) {
        val until = math.min(row + Feed.RowsPerLock, block.rows)
        context.getCheckpointLock.synchronized {
          while (row < until) {
            import block._
            if (Block.partOf(keys(row), parts) == part) {
              trade.set(keys(row), seqs(row), prices(row), qtys(row), micros(row))
              context.collectWithTimestamp(trade, Math.floorDiv(trade.micros, 1000L))
            }
            row += 1
          }
        }
      }
    }
    context.emitWatermark(new Watermark(batch.newestMillis))
  }
}

private object Feed {
  final val RowsPerLock = 1024
}
