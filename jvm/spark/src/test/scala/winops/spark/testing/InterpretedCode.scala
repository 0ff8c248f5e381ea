package winops.spark.testing

import org.apache.spark.SparkConf
import org.apache.spark.sql.catalyst.expressions.CodegenObjectFactoryMode.NO_CODEGEN
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streaming.StreamTest

/** A suite of many different queries over few rows, which Spark interprets: to compile their code
  * takes two fifths of the time. Other suites, and pytest, run compiled code.
  */
trait InterpretedCode extends StreamTest {
  override protected def sparkConf: SparkConf = super.sparkConf
    .set(SQLConf.CODEGEN_FACTORY_MODE.key, NO_CODEGEN.toString)
    .set(SQLConf.WHOLESTAGE_CODEGEN_ENABLED.key, "false")
}
