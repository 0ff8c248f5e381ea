package winops.peers.flink

import java.util.concurrent.{CompletableFuture, LinkedBlockingQueue, TimeUnit}

import winops.peers.process.{Counts, MicroBatch}

/** Micro-batches on their way to the sources, and what the sinks have counted on its way back.
  * The job runs in this process, so that both ends share it.
  */
object Handover {
  val Parts = 2

  private val waiting = IndexedSeq.fill(Parts)(new LinkedBlockingQueue[MicroBatch])
  private val received = new LinkedBlockingQueue[CompletableFuture[Counts]]

  /** Feeds a micro-batch and waits for all that comes of it. */
  def take(batch: MicroBatch): Counts = {
    waiting.foreach(_.put(batch))
    Iterator.fill(Parts)(received.take().get).reduce(_ + _)
  }

  /** What a source has to feed next; None if there has been nothing for a moment. */
  def next(part: Int): Option[MicroBatch] =
    Option(waiting(part).poll(1, TimeUnit.SECONDS))

  /** A sink has everything of the current micro-batch. */
  def report(counts: Counts): Unit = received.put(CompletableFuture.completedFuture(counts))

  /** The job has ended, which it never should. */
  def fail(cause: Throwable): Unit =
    (0 until Parts).foreach(_ => received.put(CompletableFuture.failedFuture(cause)))
}
