package winops.text

import org.scalatest.funsuite.AnyFunSuite

import winops.testing.SmallStack
import winops.testing.fuzz.{Corpus, Fuzzing, PolicyFuzz, Trial}

/** A small sample of the texts of `make fuzz`. It measures the memory of reading a text instead
  * of the time.
  */
class PolicyFuzzSuite extends AnyFunSuite {
  private val Inputs = 5000

  PolicyFuzz.dialects.foreach { dialect =>
    test(s"whatever a text is, ${dialect.name} reads it or refuses it at a place in it") {
      val corpus = Corpus.of(dialect.name)
      val fuzzing = new Fuzzing(new Trial(dialect)(_), corpus, seed = 1L)
      val tally = SmallStack(kilobytes = 1024)(fuzzing.run(corpus.size + Inputs))
      assert(tally.crashes == Map.empty)
      assert(tally.accepted > Inputs / 100)
      assert(tally.refused > Inputs / 10)
      assert(tally.largest.amount < PolicyFuzz.MaxBytes, tally.largest.text.take(200))
    }
  }
}
