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
      val counts = SmallStack(kilobytes = 1024)(fuzzing.run(corpus.size + Inputs))
      assert(counts.crashes == Map.empty)
      assert(counts.accepted > Inputs / 100)
      assert(counts.refused > Inputs / 10)
      assert(counts.largest.amount < PolicyFuzz.MaxBytes, counts.largest.text.take(200))
    }
  }
}
