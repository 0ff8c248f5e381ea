package winops.testing.fuzz

import java.lang.management.ManagementFactory
import java.util.SplittableRandom

import scala.collection.mutable

/** Runs a reader on mutated texts: a text with a new kind of outcome is mutated further.
  *
  * @param read
  *   the reader under test
  * @param seeds
  *   the initial texts; all of them are tried too
  */
final class Fuzzing(read: String => Outcome, seeds: IndexedSeq[String], seed: Long) {
  import Fuzzing._

  private val random = new SplittableRandom(seed)
  private val (short, long) = seeds.partition(isShort)
  private val pool = mutable.ArrayBuffer.from(short)
  private val accepted = mutable.ArrayBuffer.empty[String]
  private val mutator = new Mutator(pool.flatMap(Mutator.split).distinct.toVector, random)
  private val kinds = mutable.Map.empty[String, String]
  private val counts = new FuzzCounts

  /** Tries the seeds and then mutated texts, up to the given number. Then it tries the seeds
    * again, because their times count only after the JVM has compiled the reader.
    */
  def run(inputs: Int): FuzzCounts = {
    var tried = 0
    while (tried < inputs) {
      val text = if (tried < seeds.size) seeds(tried) else mutator.changed(pick(), pick())
      val outcome = attempt(text, isWarm = tried >= WarmUp)
      counts.count(outcome, text)
      remember(outcome, text)
      tried += 1
    }
    if (inputs >= WarmUp) seeds.foreach(attempt(_, isWarm = true))
    counts
  }

  /** The shortest text of each kind of outcome. */
  def shortest: Map[String, String] = kinds.toMap

  private def attempt(text: String, isWarm: Boolean): Outcome = {
    val heap = allocated()
    val start = System.nanoTime()
    val outcome = read(text)
    val nanos = System.nanoTime() - start
    counts.largest = counts.largest.max(Extreme(allocated() - heap, text))
    if (isWarm && nanos > counts.slowest.amount) {
      val again = Seq.fill(Repeats)(nanosOf(text)).min
      counts.slowest = counts.slowest.max(Extreme(math.min(nanos, again), text))
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

  /** Picks mostly accepted texts and seldom long ones. */
  private def pick(): String =
    if (long.nonEmpty && random.nextInt(4096) == 0) oneOf(long)
    else if (accepted.nonEmpty && random.nextInt(8) < 5) oneOf(accepted)
    else oneOf(pool)

  private def oneOf(texts: scala.collection.IndexedSeq[String]): String =
    texts(random.nextInt(texts.size))
}

object Fuzzing {
  private val WarmUp = 20000

  /** Mutations of long texts are mostly refused for their length. */
  private def isShort(text: String): Boolean = text.length <= 300

  /** The number of repetitions for a slow text, to exclude garbage collection. */
  private val Repeats = 3

  private val MaxKinds = 20000

  private val threads =
    ManagementFactory.getPlatformMXBean(classOf[com.sun.management.ThreadMXBean])

  /** The bytes that this thread has allocated on the heap. */
  def allocated(): Long = threads.getCurrentThreadAllocatedBytes
}

/** The text with the maximum of a measurement. */
final case class Extreme(amount: Long, text: String) {
  def max(other: Extreme): Extreme = if (other.amount > amount) other else this
}

/** The outcomes of many texts. */
final class FuzzCounts {
  private var acceptedCount = 0L
  private var refusedCount = 0L
  private val crashesByKind = mutable.Map.empty[String, String]

  def accepted: Long = acceptedCount
  def refused: Long = refusedCount

  /** Returns true if no text crashed, took more than 100 ms or allocated more than `maxBytes`. */
  def isGood(maxBytes: Long): Boolean =
    crashes.isEmpty && slowest.amount <= MaxNanos && largest.amount <= maxBytes

  private val MaxNanos = 100000000L

  /** The shortest text of each kind of crash. */
  def crashes: Map[String, String] = crashesByKind.toMap

  /** The maximum time for a text, in nanoseconds. */
  var slowest: Extreme = Extreme(0L, "")

  /** The maximum heap allocation for a text, in bytes. */
  var largest: Extreme = Extreme(0L, "")

  private[fuzz] def count(outcome: Outcome, text: String): Unit = outcome match {
    case _: Outcome.Accepted => acceptedCount += 1
    case _: Outcome.Refused => refusedCount += 1
    case Outcome.Crashed(kind) =>
      if (crashesByKind.get(kind).forall(_.length > text.length)) crashesByKind(kind) = text
  }
}
