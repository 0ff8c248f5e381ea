package winops.testing

import org.scalactic.source.Position
import org.scalatest.funsuite.AnyFunSuite

/** Registers a test for each case of a table, so that the first failure hides no other. */
trait TableTests extends AnyFunSuite {

  /** The name of a test ends with its case, or with the first part of a case that is a tuple.
    *
    * @param short
    *   the number of cases that `make test` runs; the others are [[Longer]]
    */
  protected def testEach[A](name: String, short: Int = Int.MaxValue)(cases: A*)(check: A => Any)(
      implicit position: Position): Unit = {
    require(cases.nonEmpty, name)
    cases.zipWithIndex.foreach { case (row, i) =>
      val label = row match {
        case parts: Product if parts.productPrefix.startsWith("Tuple") => parts.productElement(0)
        case parts: Seq[_] => parts.mkString(", ")
        case whole => whole
      }
      val tags = Longer.unless(i < short)
      test(s"$name: ${TableTests.printable(label.toString)}", tags: _*)(check(row))
    }
  }
}

object TableTests {
  private def printable(text: String): String =
    if (text.length > 300) s"${printable(text.take(100))}... (${text.length} characters)"
    else {
      val shown =
        text.flatMap(c => if (c < ' ' || c.isSurrogate) f"\\u${c.toInt}%04x" else c.toString)
      if (shown.isBlank) s"'$shown'" else shown
    }
}
