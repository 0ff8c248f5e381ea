package winops.policy

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

class PolicyErrorSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private def error(text: String, offset: Int): PolicyError =
    PolicyError(Category.Syntax, "a number was expected", text, offset, "KEEP 1 ROW")

  test("the caret stands under the place of the mistake") {
    assert(error("KEEP x ROWS", 5).caret == "KEEP x ROWS\n     ^")
    assert(error("KEEP\n x ROWS\n;", 6).caret == " x ROWS\n ^")
    assert(error("KEEP", 4).caret == "KEEP\n    ^")
    assert(error("", 0).caret == "\n^")
  }

  test("a mistake at the end of a line belongs to that line") {
    val atBreak = error("KEEP\nROWS", 4)
    assert((atBreak.line, atBreak.column, atBreak.caret) == ((1, 5, "KEEP\n    ^")))
  }

  test("lines and columns count from one") {
    val text = "ab\ncd\n"
    val places = (0 to text.length).map(error(text, _)).map(e => (e.line, e.column))
    assert(places == Seq((1, 1), (1, 2), (1, 3), (2, 1), (2, 2), (2, 3), (3, 1)))
  }

  test("a long line is cut around the place, and tabs are as wide as blanks") {
    val caret = error("x" * 500 + "\t!" + "y" * 500, 501).caret
    assert(caret.split('\n').map(_.length).max <= 2 * 60)
    assert(caret.split('\n').head.charAt(caret.split('\n').last.length - 1) == '!')
    assert(!caret.contains('\t'))
  }

  test("whatever the text, the caret stands under the character it means") {
    val texts = Gen.listOf(Gen.oneOf('a', 'b', ' ', '\n', '\t')).map(_.mkString)
    forAll(texts, Gen.choose(0, 200)) { (text, place) =>
      val offset = math.min(place, text.length)
      val mistake = error(text, offset)
      val lines = mistake.caret.split("\n", -1)
      val meant = text.lift(offset).filter(_ != '\n')
      assert(lines(0).lift(lines(1).length - 1) == meant.map(c => if (c == '\t') ' ' else c))
      val before = text.linesWithSeparators.take(mistake.line - 1).mkString.length
      assert(before + mistake.column - 1 == offset)
    }
  }

  test("categories have names of their own, in the form of error conditions") {
    val names = Category.all.map(_.name)
    assert(names.distinct == names)
    assert(names.forall(_.matches("[a-z]+(-[a-z]+)*")))
  }
}
