package winops.spark.harness

import java.io.PrintStream
import java.nio.charset.StandardCharsets.UTF_8

import scala.io.{Codec, Source}

import org.apache.spark.sql.catalyst.expressions.CodegenObjectFactoryMode.NO_CODEGEN
import org.apache.spark.sql.internal.SQLConf

import winops.spark.internal.WinopsErrors

/** Runs windows without a Spark session, for tests of users: reads requests from the standard
  * input, one JSON object per line, and writes a reply for each. See [[WindowRequests]].
  *
  * {{{
  * java -cp winops.jar:pyspark/jars/\* winops.spark.harness.WindowProcess
  * }}}
  */
object WindowProcess {
  def main(arguments: Array[String]): Unit = {
    WinopsErrors.register()
    val out = new PrintStream(System.out, false, UTF_8)
    // Loggers print to the standard output, which belongs to the replies.
    System.setOut(System.err)
    interpretExpressions()
    val requests = new WindowRequests
    Source.fromInputStream(System.in)(Codec.UTF8).getLines().foreach { line =>
      out.println(requests.answer(line))
      out.flush()
    }
  }

  /** To compile the code of expressions, and to find what they have in common, takes longer than
    * to evaluate them over the few rows of a test.
    */
  private def interpretExpressions(): Unit = {
    val settings = SQLConf.getFallbackConf
    settings.setConfString(SQLConf.CODEGEN_FACTORY_MODE.key, NO_CODEGEN.toString)
    settings.setConfString(SQLConf.SUBEXPRESSION_ELIMINATION_ENABLED.key, "false")
  }
}
