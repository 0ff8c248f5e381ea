package winops.testing

import org.scalatest.funsuite.AnyFunSuite

/** Tests of the rooms of one module.
  *
  * @param rooms
  *   the module's rooms
  */
abstract class RoomsTest(rooms: SourceRooms) extends AnyFunSuite {

  /** Fails with a line for each problem. */
  protected final def none(problems: Seq[String]): Unit =
    if (problems.nonEmpty) fail(problems.mkString("\n", "\n", ""))

  test("every room uses only the rooms below it") {
    none(rooms.problems)
    assert(rooms.uses.size > 100, "the imports were not read")
  }

  test("every file holds a type of its name") {
    none(rooms.unnamed)
  }
}
