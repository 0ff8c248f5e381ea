package winops.testing

import org.scalacheck.Gen

/** One change of the change stream; rows are numbered in the order of arrival. */
final case class ObservedChange(
    isInsert: Boolean,
    row: Int,
    at: Long,
    step: Long,
    sequence: Long,
    window: Int = 0)

/** An input of a group: a row or an instant. */
sealed trait Input {
  def at: Long
}

object Input {
  final case class Row(at: Long) extends Input
  final case class Time(at: Long) extends Input

  /** Random rows and instants; time mostly advances, often stands still, and sometimes goes back.
    */
  val sequences: Gen[Seq[Input]] = for {
    start <- Gen.choose(-150L, 150L)
    size <- Gen.choose(0, 60)
    gaps <- Gen.listOfN(
      size,
      Gen.frequency(
        4 -> Gen.const(0L),
        8 -> Gen.choose(1L, 8L),
        2 -> Gen.choose(9L, 120L),
        1 -> Gen.choose(-30L, -1L)))
    isRow <- Gen.listOfN(size, Gen.frequency(4 -> true, 1 -> false))
  } yield gaps.scanLeft(start)(_ + _).tail.zip(isRow).map { case (at, row) =>
    if (row) Row(at) else Time(at)
  }
}
