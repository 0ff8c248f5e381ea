package winops.testing.fuzz

import java.nio.file.{Path, Paths}
import java.util.concurrent.{Callable, Executors}

import scala.jdk.CollectionConverters._

import winops.text.apama.Apama
import winops.text.ccl.Ccl
import winops.text.dialect.Dialect
import winops.text.esper.Esper
import winops.text.spl.Spl

/** A fuzzing campaign against the policy readers: the given number of texts for each of the four,
  * on two threads with half the usual stack. It fails if a text crashed, took more than 100 ms or
  * allocated more than 64 MiB.
  *
  * The results are written below `target/fuzz`: the shortest text of each kind of refusal, the
  * texts that crashed, and those with the longest time and the largest allocation.
  */
object PolicyFuzz {
  val dialects: Seq[Dialect] = Seq(Ccl, Esper, Apama, Spl)

  /** Ten thousand characters make as many tokens, each of a few kilobytes until it is resolved.
    */
  val MaxBytes: Long = 64L * 1024 * 1024

  def main(arguments: Array[String]): Unit = {
    val inputs = arguments.headOption.fold(2500000)(_.toInt)
    val seed = arguments.lift(1).fold(2026L)(_.toLong)
    val threads = Executors.newFixedThreadPool(
      2,
      body => {
        val thread = new Thread(null, body, "fuzz", StackKilobytes * 1024L)
        thread.setDaemon(true)
        thread
      })
    val tasks = dialects.map { dialect =>
      val task: Callable[Result] = () => campaign(dialect, inputs, seed)
      task
    }
    println(
      f"${"dialect"}%-8s ${"inputs"}%9s ${"accepted"}%9s ${"refused"}%9s ${"kinds"}%6s " +
        f"${"crashes"}%7s ${"worst ms"}%8s ${"worst KiB"}%9s ${"seconds"}%7s")
    val results = threads.invokeAll(tasks.asJava).asScala.map(_.get)
    results.foreach(_.crashes.foreach(println))
    sys.exit(if (results.forall(_.isGood)) 0 else 1)
  }

  private val StackKilobytes = 512

  private final case class Result(
      dialect: String,
      inputs: Int,
      counts: FuzzCounts,
      kinds: Int,
      seconds: Double) {
    private val worstMillis = counts.slowest.amount / 1e6

    def isGood: Boolean = counts.isGood(MaxBytes)

    def line: String = f"$dialect%-8s $inputs%9d ${counts.accepted}%9d ${counts.refused}%9d " +
      f"$kinds%6d ${counts.crashes.size}%7d $worstMillis%8.2f ${counts.largest.amount / 1024}%9d " +
      f"$seconds%7.0f"

    def crashes: Iterable[String] = counts.crashes.map { case (kind, text) =>
      s"$dialect: $kind\n  ${text.take(300)}"
    }
  }

  private def campaign(dialect: Dialect, inputs: Int, seed: Long): Result = {
    val start = System.nanoTime()
    val fuzzing = new Fuzzing(new Trial(dialect)(_), Corpus.of(dialect.name), seed)
    val counts = fuzzing.run(inputs)
    val found = Paths.get("target", "fuzz")
    save(found.resolve(s"${dialect.name}.txt"), fuzzing.shortest.values)
    save(
      found.resolve(s"${dialect.name}-extreme.txt"),
      counts.crashes.values ++ Seq(counts.slowest.text, counts.largest.text))
    val result = Result(
      dialect.name,
      inputs,
      counts,
      fuzzing.shortest.size,
      (System.nanoTime() - start) / 1e9)
    println(result.line)
    result
  }

  private def save(file: Path, texts: Iterable[String]): Unit =
    Corpus.write(file, texts.toSeq.sorted.distinct)
}
