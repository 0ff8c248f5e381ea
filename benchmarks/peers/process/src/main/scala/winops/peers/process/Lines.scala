package winops.peers.process

import java.nio.file.Paths
import java.util.Locale

import scala.io.StdIn

/** The numbers of output rows of a micro-batch. */
final case class Counts(inserted: Long, deleted: Long) {
  def +(other: Counts): Counts = Counts(inserted + other.inserted, deleted + other.deleted)
}

/** The protocol with the benchmark: a path for each line in, JSON for each line out. */
object Lines {

  /** Answers every line until the end of input, then ends the process. */
  def serve(readers: Int)(answer: MicroBatch => Counts): Unit =
    try {
      answerAll(new TradesReader(readers), answer)
      System.exit(0)
    } catch {
      case failure: Throwable =>
        failure.printStackTrace()
        System.exit(1)
    }

  private def answerAll(reader: TradesReader, answer: MicroBatch => Counts): Unit =
    Iterator.continually(StdIn.readLine()).takeWhile(_ != null).foreach { line =>
      val begin = System.nanoTime
      val batch = reader.read(Paths.get(line))
      val counts = answer(batch)
      val millis = (System.nanoTime - begin) / 1e6
      println(json(millis, batch.rows, counts, reader.takeMillis()))
    }

  private def json(millis: Double, rows: Long, counts: Counts, reading: Double): String =
    String.format(
      Locale.ROOT,
      """{"millis": %.3f, "rows": %d, "inserted": %d, "deleted": %d, "reading": %.3f}""",
      Double.box(millis),
      Long.box(rows),
      Long.box(counts.inserted),
      Long.box(counts.deleted),
      Double.box(reading))
}
