package winops.spark.live

/** Samples of micro-batches for tests. */
object Samples {

  /** A micro-batch of a second that reads ten rows, inserts four of them and deletes two. */
  def of(batch: Long): WindowSample = WindowSample.Empty.copy(
    batch = batch,
    millis = 1000,
    rowsRead = 10,
    inserted = 4,
    deleted = 2,
    bytesWritten = 640)

  /** A history with the given numbers of rows held. */
  def held(numbers: Seq[Long]): WindowHistory =
    numbers.zipWithIndex.foldLeft(WindowHistory(0, "Keeps every row.")) {
      case (window, (rows, batch)) => window.add(of(batch.toLong).copy(held = rows))
    }
}
