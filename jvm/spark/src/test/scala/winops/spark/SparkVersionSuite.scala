package winops.spark

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.AnalysisException

/** The refusal of Spark versions that the JAR does not support. */
class SparkVersionSuite extends AnyFunSuite {
  test("each patch version of the minor version fits") {
    Seq("4.1.0", "4.1.3", "4.1.12", "4.1.4-SNAPSHOT").foreach { running =>
      assert(SparkVersion.mismatch(running).isEmpty)
    }
    assert(SparkVersion.mismatch().isEmpty)
  }

  test("another version is refused with both versions") {
    Seq("4.0.4", "4.2.0", "4.10.1", "5.0.0-preview1").foreach { running =>
      val error: AnalysisException = SparkVersion.mismatch(running).get
      assert(error.getCondition == "WINOPS_SPARK_VERSION")
      assert(error.getSqlState == "0A000")
      assert(error.getMessage.startsWith("[WINOPS_SPARK_VERSION] "))
      assert(error.getMessage.contains("is for Spark 4.1, "))
      assert(error.getMessage.contains(s"this is Spark $running."))
      assert(error.getMessageParameters.get("running") == running)
      val call = new RefusedFunction(SparkVersion.mismatch(running).get)
      assert(intercept[SparkVersionException](call(Nil)).getMessage == error.getMessage)
    }
  }
}
