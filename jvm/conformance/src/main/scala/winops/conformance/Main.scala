package winops.conformance

import java.io.PrintStream
import java.nio.charset.StandardCharsets.UTF_8

import scala.io.{Codec, Source}

/** Reads cases from the standard input, one JSON object per line, and writes a result for each.
  *
  * {{{
  * java -cp winops-conformance_4.1.jar:... winops.conformance.Main [never | always | SEED]
  * }}}
  *
  * The argument selects the entries before which all groups are saved and restored: none (the
  * default), all, or about every second one, chosen by a seed.
  */
object Main {
  def main(args: Array[String]): Unit = {
    val saving = args match {
      case Array() | Array("never") => Saving.Never
      case Array("always") => Saving.Always
      case Array(seed) => new Saving.Sometimes(seed.toLong)
      case _ =>
        throw new IllegalArgumentException("at most one argument: never, always or a seed")
    }
    val runner = new Runner(saving)
    val out = new PrintStream(System.out, false, UTF_8)
    Source.fromInputStream(System.in)(Codec.UTF8).getLines().foreach { line =>
      out.println(runner.answer(line))
    }
    out.flush()
  }
}
