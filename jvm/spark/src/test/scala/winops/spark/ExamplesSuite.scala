package winops.spark

import java.io.{ByteArrayOutputStream, PrintStream}
import java.nio.charset.StandardCharsets.UTF_8

import examples.{PageExamples, ScaladocExamples}

import winops.spark.testing.{CompiledCode, KeepStreamTest}

/** Runs the programs of docs/scala.md and the examples of Scaladoc, which the build has compiled.
  */
class ExamplesSuite extends KeepStreamTest with CompiledCode {
  import testImplicits._

  /** Runs code that calls a function with a place and what was to be printed until there. */
  private def run(code: ((String, Option[String]) => Unit) => Unit): Int = {
    val printed = new ByteArrayOutputStream
    var count = 0
    Console.withOut(new PrintStream(printed, true, UTF_8)) {
      code { (place, expected) =>
        expected.foreach(text => assert(lines(printed.toString(UTF_8)) == lines(text), place))
        printed.reset()
        count += 1
      }
    }
    count
  }

  private def lines(text: String): Seq[String] =
    text.linesIterator.map(_.stripTrailing).filter(_.nonEmpty).toSeq

  test("the blocks of Scala of the page print their output") {
    assert(run(PageExamples.blocks) >= 8)
  }

  test("the programs in Java of the page print their output") {
    assert(run(PageExamples.programs) >= 1)
  }

  test("the examples of Scaladoc print their comments") {
    val trades = Seq((1L, "A", 5.0), (2L, "B", 7.0), (3L, "A", 6.0), (4L, "A", 4.0))
      .toDF("seq", "symbol", "price")
    assert(ScaladocExamples.NumberOfExamples >= 15)
    assert(run(ScaladocExamples.run(trades, _)) == ScaladocExamples.NumberOfExamples)
  }
}
