package winops.peers.flink

import java.util.concurrent.{CompletableFuture, LinkedBlockingQueue, TimeUnit}

import winops.peers.process.{Counts, MicroBatch}

/** Passes micro-batches to the sources, and the sinks' counts back. The job runs in this process,
  * so both ends share it.
  */
object Handover {
  val Parts = 2

  private val waiting = IndexedSeq.fill(Parts)(new LinkedBlockingQueue[MicroBatch])
  private val received = new LinkedBlockingQueue[CompletableFuture[Counts]]

  /** Sends a micro-batch and waits for its whole output. */
  def take(batch: MicroBatch): Counts = {
    waiting.foreach(_.put(batch))
    Iterator.fill(Parts)(received.take().get).reduce(_ + _)
  }

  /** Returns the next micro-batch of a source; None if none arrived within a moment. */
  def next(part: Int): Option[MicroBatch] =
    Option(waiting(part).poll(1, TimeUnit.SECONDS))

  /** Receives the counts of a sink that has processed the current micro-batch. */
  def report(counts: Counts): Unit = received.put(CompletableFuture.completedFuture(counts))

  /** Handles the end of the job, which must never occur. */
  def fail(cause: Throwable): Unit =
    (0 until Parts).foreach(_ => received.put(CompletableFuture.failedFuture(cause)))
}
