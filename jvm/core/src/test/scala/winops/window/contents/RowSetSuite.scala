package winops.window.contents

import scala.collection.mutable

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks
import winops.window.expression.WindowView

class RowSetSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val rows = Gen.listOf(Gen.zip(Gen.choose(0L, 40L), Gen.oneOf(true, false)))

  test("each row is there once, where it came first or where it was moved to") {
    val set = new RowSet
    forAll(rows, minSuccessful(300)) { added =>
      val model = mutable.ArrayBuffer.empty[Long]
      added.foreach { case (row, last) =>
        val place = model.indexOf(row)
        if (last) {
          if (place >= 0) model(place) = WindowView.NoRow
          model += row
          set.addLast(row)
        } else {
          if (place < 0) model += row
          assert(set.add(row) == place < 0)
        }
      }
      assert((0 until set.size).map(set(_)) == model)
      (0L to 40L).foreach(row => assert(set.contains(row) == model.contains(row)))
      set.clear()
      assert(set.size == 0 && !set.contains(0L))
    }
  }

  test("rows are drained from the oldest on") {
    val set = new RowSet
    forAll(rows) { added =>
      added.foreach { case (row, _) => set.add(row) }
      val drained = mutable.ArrayBuffer.empty[Long]
      set.drainInOrder(drained += _)
      assert(drained == added.map(_._1).distinct.sorted)
      assert(set.size == 0)
    }
  }
}
