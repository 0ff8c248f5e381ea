package winops.testing.fuzz

import java.lang.management.ManagementFactory
import java.util.SplittableRandom

import scala.collection.mutable

/** Tries texts that come of each other: one that was treated as none before is changed further.
  *
  * @param read
  *   what is tried
  * @param seeds
  *   where it begins; all of them are tried too
  */
final class Fuzzing(read: String => Outcome, seeds: IndexedSeq[String], seed: Long) {
  import Fuzzing._

  private val random = new SplittableRandom(seed)
  private val (short, long) = seeds.partition(isShort)
  private val pool = mutable.ArrayBuffer.from(short)
  private val accepted = mutable.ArrayBuffer.empty[String]
  private val mutator = new Mutator(pool.flatMap(Mutator.split).distinct.toVector, random)
  private val kinds = mutable.Map.empty[String, String]
  private val tally = new FuzzCounts

  /** Tries the seeds and then others, until it were so many texts; then the seeds again, because
    * their time counts only where the JVM has compiled what reads them.
    */
  def run(inputs: Int): FuzzCounts = {
    var tried = 0
    while (tried < inputs) {
      val text = if (tried < seeds.size) seeds(tried) else mutator.changed(pick(), pick())
      val outcome = attempt(text, isWarm = tried >= WarmUp)
      tally.count(outcome, text)
      remember(outcome, text)
      tried += 1
    }
    if (inputs >= WarmUp) seeds.foreach(attempt(_, isWarm = true))
    tally
  }

  /** For each kind of outcome the shortest text that had it. */
  def shortest: Map[String, String] = kinds.toMap

  private def attempt(text: String, isWarm: Boolean): Outcome = {
    val heap = allocated()
    val start = System.nanoTime()
    val outcome = read(text)
    val nanos = System.nanoTime() - start
    tally.largest = tally.largest.max(Extreme(allocated() - heap, text))
    if (isWarm && nanos > tally.slowest.amount) {
      val again = Seq.fill(Repeats)(nanosOf(text)).min
      tally.slowest = tally.slowest.max(Extreme(math.min(nanos, again), text))
    }
    outcome
  }

  private def remember(outcome: Outcome, text: String): Unit = kinds.get(outcome.kind) match {
    case None if kinds.size < MaxKinds =>
      kinds(outcome.kind) = text
      if (isShort(text)) {
        pool += text
        if (outcome.isInstanceOf[Outcome.Accepted]) accepted += text
      }
    case Some(known) if text.length < known.length => kinds(outcome.kind) = text
    case _ =>
  }

  private def nanosOf(text: String): Long = {
    val start = System.nanoTime()
    read(text)
    System.nanoTime() - start
  }

  /** Mostly what is refused late, if at all, and seldom what is long. */
  private def pick(): String =
    if (long.nonEmpty && random.nextInt(4096) == 0) oneOf(long)
    else if (accepted.nonEmpty && random.nextInt(8) < 5) oneOf(accepted)
    else oneOf(pool)

  private def oneOf(texts: scala.collection.IndexedSeq[String]): String =
    texts(random.nextInt(texts.size))
}

object Fuzzing {
  private val WarmUp = 20000

  /** What long texts become is mostly refused for its length. */
  private def isShort(text: String): Boolean = text.length <= 300

  /** How often a slow text is read again, because the collector may have been at work. */
  private val Repeats = 3

  private val MaxKinds = 20000

  private val threads =
    ManagementFactory.getPlatformMXBean(classOf[com.sun.management.ThreadMXBean])

  /** How many bytes this thread has asked of the heap. */
  def allocated(): Long = threads.getCurrentThreadAllocatedBytes
}

/** The text that took the most of something. */
final case class Extreme(amount: Long, text: String) {
  def max(other: Extreme): Extreme = if (other.amount > amount) other else this
}

/** What became of many texts. */
final class FuzzCounts {
  private var acceptedCount = 0L
  private var refusedCount = 0L
  private val crashesByKind = mutable.Map.empty[String, String]

  def accepted: Long = acceptedCount
  def refused: Long = refusedCount

  /** Whether no text crashed, took more than 100 ms or needed more than so much of the heap. */
  def isGood(maxBytes: Long): Boolean =
    crashes.isEmpty && slowest.amount <= MaxNanos && largest.amount <= maxBytes

  private val MaxNanos = 100000000L

  /** What crashed, and the shortest text of each kind. */
  def crashes: Map[String, String] = crashesByKind.toMap

  /** The most nanoseconds for a text. */
  var slowest: Extreme = Extreme(0L, "")

  /** The most bytes of the heap for a text. */
  var largest: Extreme = Extreme(0L, "")

  private[fuzz] def count(outcome: Outcome, text: String): Unit = outcome match {
    case _: Outcome.Accepted => acceptedCount += 1
    case _: Outcome.Refused => refusedCount += 1
    case Outcome.Crashed(kind) =>
      if (crashesByKind.get(kind).forall(_.length > text.length)) crashesByKind(kind) = text
  }
}
