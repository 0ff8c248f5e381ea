package winops.spark.testing

import org.apache.spark.SparkConf
import org.apache.spark.sql.catalyst.expressions.CodegenObjectFactoryMode.{CODEGEN_ONLY, NO_CODEGEN}
import org.apache.spark.sql.internal.SQLConf

/** A suite about the values of expressions, whose code Spark compiles as it does for users. */
trait CompiledCode extends KeepStreamTest {
  override protected def sparkConf: SparkConf = super.sparkConf.setAll(CompiledCode.Compiled)
}

object CompiledCode {
  val Compiled: Seq[(String, String)] = settings(CODEGEN_ONLY.toString, wholeStage = true)

  /** Spark interprets the expressions of queries, as it does where their code is too long for the
    * JVM. To compile the code of a query over few rows takes longer than to run it.
    */
  val Interpreted: Seq[(String, String)] = settings(NO_CODEGEN.toString, wholeStage = false)

  private def settings(mode: String, wholeStage: Boolean) = Seq(
    SQLConf.CODEGEN_FACTORY_MODE.key -> mode,
    SQLConf.WHOLESTAGE_CODEGEN_ENABLED.key -> wholeStage.toString)
}
