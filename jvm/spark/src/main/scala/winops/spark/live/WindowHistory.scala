package winops.spark.live

import winops.spark.internal.{GroupSize, GroupSizes}

/** The last micro-batches of an operator of a query.
  *
  * @param operatorId
  *   Spark's number of the operator in the query
  * @param description
  *   what the operator does, in English
  * @param policy
  *   the text of its policy, or of its window; empty if unknown
  * @param samples
  *   the last [[WindowHistory.MaxSamples]] micro-batches, the oldest first
  * @param late
  *   late rows since the query started
  * @param refused
  *   rows that the window did not admit, since the query started
  * @param dropped
  *   rows dropped for other reasons, since the query started
  * @param seen
  *   the largest groups, the largest first
  * @param entered
  *   rows that entered the window since the query started
  * @param updated
  *   rows that updated a row of their primary key, since the query started
  * @param removed
  *   rows that deleted a row of their primary key, since the query started
  * @param notHeld
  *   updates and deletes of rows that the window did not hold, since the query started
  */
final case class WindowHistory(
    operatorId: Long,
    description: String,
    policy: String = "",
    samples: Vector[WindowSample] = Vector.empty,
    late: Long = 0,
    refused: Long = 0,
    dropped: Long = 0,
    seen: Seq[SeenGroup] = Nil,
    entered: Long = 0,
    updated: Long = 0,
    removed: Long = 0,
    notHeld: Long = 0) {

  /** The last micro-batch. */
  def last: WindowSample = samples.lastOption.getOrElse(WindowSample.Empty)

  /** The bytes written to the state store for each row that the query read, over the
    * micro-batches of `samples`; 0 if it read none.
    */
  def bytesPerRow: Double = {
    val rows = samples.map(_.rowsRead).sum
    if (rows == 0) 0 else samples.map(_.bytesWritten).sum.toDouble / rows
  }

  /** Adds a micro-batch. The oldest one is forgotten. */
  def add(sample: WindowSample): WindowHistory = copy(
    samples = (samples :+ sample).takeRight(WindowHistory.MaxSamples),
    late = late + sample.late,
    refused = refused + sample.refused,
    dropped = dropped + sample.dropped,
    entered = entered + sample.inserted,
    updated = updated + sample.updated,
    removed = removed + sample.removed,
    notHeld = notHeld + sample.notHeld)

  /** The numbers of input rows since the query started, by what has become of them. Every row is
    * in one of them, or is held and waits for a trigger of its window. Empty for window
    * functions, into which no row enters. A row that has entered several windows counts for each
    * of them.
    */
  def fates: Seq[(Long, String)] = {
    val ofKeys = Seq(
      updated -> "updated a row",
      removed -> "deleted a row",
      notHeld -> "found no row of their key")
    val inWindow = (entered -> "entered") +: (if (ofKeys.exists(_._1 > 0)) ofKeys else Nil)
    if (inWindow.forall(_._1 == 0)) Nil
    else {
      inWindow ++ Seq(
        late -> "were late",
        refused -> "were refused",
        dropped -> "were dropped",
        last.waiting -> "wait")
    }
  }

  /** Adds the largest groups of a micro-batch. A group keeps the size of the last micro-batch
    * that reported it, until that one is older than [[WindowHistory.MaxSamples]] micro-batches.
    */
  def see(groups: Seq[GroupSize], batch: Long): WindowHistory = {
    val now = groups.map(group => SeenGroup(group.key, group.rows, batch))
    val before = seen.filter(_.batch > batch - WindowHistory.MaxSamples)
    copy(seen = (now ++ before)
      .distinctBy(_.key)
      .sortBy(group => (-group.rows, group.key))
      .take(GroupSizes.MaxGroups))
  }

  /** One sentence for each number that only grows, by the rule of [[Growth]]. */
  def alerts: Seq[String] = Seq[(String, WindowSample => Long, String)](
    ("Rows held", _.held, "Check that a rule of the window removes rows."),
    ("Groups", _.groups, "Set idle to remove silent groups."),
    (
      "Waiting rows",
      _.waiting,
      "Check that the watermark moves, and that all its sources have rows.")).flatMap {
    case (name, number, advice) =>
      Growth.of(samples.map(number)).map { growth =>
        val what =
          if (!growth.isEarly) advice
          else s"If the window should be full by now, ${advice.head.toLower}${advice.tail}"
        f"$name only grew over the last ${growth.batches} micro-batches, from ${growth.from}%,d " +
          f"to ${growth.to}%,d, by about ${growth.slope}%,d each. $what"
      }
  }
}

object WindowHistory {

  /** The number of micro-batches that are remembered. */
  val MaxSamples = 100
}
