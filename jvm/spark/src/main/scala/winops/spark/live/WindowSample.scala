package winops.spark.live

/** The numbers of one operator in one micro-batch.
  *
  * @param batch
  *   the number of the micro-batch
  * @param millis
  *   how long the micro-batch took, in milliseconds
  * @param rowsRead
  *   the rows that the query read from its sources
  * @param held
  *   the rows held after the micro-batch, including rows that wait
  * @param waiting
  *   the rows that wait after the micro-batch
  * @param largest
  *   the rows of the largest group that was processed
  * @param dropped
  *   rows dropped for another reason than being late or refused: without a time, or after the end
  *   of the input
  * @param bytesWritten
  *   the bytes written to the state store
  * @param updated
  *   rows that updated a row of their primary key
  * @param removed
  *   rows that deleted a row of their primary key
  * @param notHeld
  *   updates and deletes of rows that the window did not hold
  */
final case class WindowSample(
    batch: Long,
    millis: Long,
    rowsRead: Long,
    inserted: Long,
    deleted: Long,
    held: Long,
    groups: Long,
    waiting: Long,
    largest: Long,
    late: Long,
    refused: Long,
    dropped: Long,
    bytesWritten: Long,
    updated: Long = 0,
    removed: Long = 0,
    notHeld: Long = 0) {

  def insertedPerSecond: Double = perSecond(inserted)
  def deletedPerSecond: Double = perSecond(deleted)

  /** The bytes written for each row that the query read; 0 if it read none. */
  def bytesPerRow: Double = if (rowsRead == 0) 0 else bytesWritten.toDouble / rowsRead

  private def perSecond(rows: Long): Double = if (millis <= 0) 0 else rows * 1000.0 / millis
}

object WindowSample {

  /** A sample without rows. */
  val Empty: WindowSample = WindowSample(-1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
}
