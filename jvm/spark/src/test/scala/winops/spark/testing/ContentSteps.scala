package winops.spark.testing

import org.apache.spark.sql.Row

/** A step of a group `k`.
  *
  * @param at
  *   its `_change_time`
  * @param sequence
  *   the number of its last change
  * @param inserted
  *   the numbers of the inserted rows
  * @param content
  *   the numbers of the rows in the window after the step, in the order of insertion
  */
final case class ContentStep(
    k: Long,
    at: Any,
    sequence: Long,
    inserted: Seq[Long],
    content: Vector[Long])

object ContentSteps {

  /** Replays the changes of a `keep` over [[Reading]]s into the window contents after each step.
    */
  def replay(changes: Seq[Row]): Iterator[ContentStep] =
    changes.groupBy(_.getAs[Long]("k")).iterator.flatMap { case (k, ofGroup) =>
      val inOrder = ofGroup.sortBy(_.getAs[Long]("_change_seq"))
      val numbers = inOrder.map(_.getAs[Long]("_change_step")).distinct
      val ofStep = inOrder.groupBy(_.getAs[Long]("_change_step"))
      var content = Vector.empty[Long]
      numbers.iterator.map { number =>
        val step = ofStep(number)
        step.foreach(change => content = after(content, change))
        ContentStep(
          k,
          step.last.getAs[Any]("_change_time"),
          step.last.getAs[Long]("_change_seq"),
          step.filter(isInsert).map(_.getAs[Long]("n")),
          content)
      }
    }

  /** The window contents after each change, by group and number of the change. */
  def afterEach(changes: Seq[Row]): Map[(Long, Long), Vector[Long]] =
    changes
      .groupBy(_.getAs[Long]("k"))
      .flatMap { case (k, ofGroup) =>
        val inOrder = ofGroup.sortBy(_.getAs[Long]("_change_seq"))
        val contents = inOrder.scanLeft(Vector.empty[Long])(after).tail
        inOrder.map(change => (k, change.getAs[Long]("_change_seq"))).zip(contents)
      }

  private def isInsert(change: Row): Boolean = change.getAs[String]("_change_type") == "insert"

  private def after(content: Vector[Long], change: Row): Vector[Long] = {
    val n = change.getAs[Long]("n")
    if (isInsert(change)) content :+ n
    else {
      assert(content.contains(n), s"$change left without being there")
      content.filterNot(_ == n)
    }
  }
}
