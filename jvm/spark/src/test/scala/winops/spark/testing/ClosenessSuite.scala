package winops.spark.testing

import org.scalatest.funsuite.AnyFunSuite

class ClosenessSuite extends AnyFunSuite {
  private val readings = Seq(-3e12, 1e12, 2.0).map { x =>
    Reading(0, 0, 0, None, None, Some(x), Some(x / 1e12), None, None)
  }

  private def same(function: String, a: Any, b: Any): Boolean =
    Closeness.of(function, readings).same(a, b)

  test("a function without a unit has the same tolerance whatever its arguments are") {
    Seq("corr(n, z)", "skewness(x)", "kurtosis(x)").foreach { function =>
      assert(same(function, 0.5, 0.5 + 1e-10))
      assert(!same(function, 0.5, 0.5 + 1e-8))
      assert(!same(function, 0.5, 5.0))
    }
  }

  test("a function that adds has the tolerance of the column that it adds") {
    assert(same("sum(x)", 1.0, 4000.0))
    assert(!same("sum(x)", 1.0, 4002.0))
    assert(same("avg(x)", 1.0, 3000.0))
    assert(!same("avg(x)", 1.0, 3002.0))
    assert(same("stddev(y)", 1.0, 1.0 + 2e-9))
    assert(!same("stddev(y)", 1.0, 1.0 + 4e-9))
    assert(same("x - avg(x)", 1.0, 3000.0))
  }

  test("a function that chooses a value has no tolerance") {
    Seq("min(x)", "last(x)", "max_by(n, i)").foreach { function =>
      assert(same(function, 0.1, 0.1))
      assert(!same(function, 0.1, Math.nextUp(0.1)))
    }
  }

  test("what is not a finite number is equal to itself only") {
    assert(same("sum(x)", Double.NaN, Double.NaN))
    assert(!same("sum(x)", Double.NaN, 1.0))
    assert(!same("sum(x)", Double.PositiveInfinity, Double.NegativeInfinity))
    assert(!same("sum(x)", null, 0.0))
  }
}
