package winops.spark.testing

import scala.util.Random

import org.scalatest.Tag
import org.scalatest.funsuite.AnyFunSuiteLike
import org.scalatest.prop.Seed

/** Tests with random cases, which are equal in each run with the same seed (`-Dseed=`). */
trait RandomProperties extends AnyFunSuiteLike {

  /** Registers a test that draws its cases from the given generator. */
  protected def property(name: String, tags: Tag*)(check: Random => Unit): Unit =
    test(name, tags: _*) {
      val seed = RandomProperties.seedOf(name)
      withClue(s"with seed $seed: ")(check(new Random(seed)))
    }
}

object RandomProperties {

  /** The seed of a test, derived from the seed of the run and the test's name. */
  def seedOf(name: String): Long = seedOf(Seed.configured.fold(Default)(_.value), name)

  def seedOf(run: Long, name: String): Long = run * Multiplier ^ name.hashCode

  /** The seed of runs that sbt does not start. */
  private val Default = 2026L
  private val Multiplier = 0x9e3779b97f4a7c15L
}
