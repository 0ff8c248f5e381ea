package winops.spark

import scala.jdk.CollectionConverters._

import org.apache.spark.SPARK_VERSION
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

import winops.spark.internal.WinopsErrors
import winops.testing.TableTests

/** The refusal of Spark versions that the JAR does not support. */
class SparkVersionSuite extends TableTests {
  private val minor = SPARK_VERSION.split('.').take(2).mkString(".")

  test("each patch version of the minor version fits") {
    assert(SparkVersion.mismatch() == null)
  }

  testEach("each patch version of the minor version fits")(".0", ".3", ".12", ".4-SNAPSHOT") {
    patch =>
      assert(SparkVersion.mismatch(minor + patch) == null)
  }

  testEach("another version is refused with both versions")(
    "3.5.8",
    "4.0.4",
    s"${minor}0.1",
    "5.0.0-preview1") { running =>
    val error = SparkVersion.mismatch(running)
    assert(error.getCondition == "WINOPS_SPARK_VERSION")
    assert(error.getSqlState == "0A000")
    val parameters = error.getMessageParameters.asScala.toMap
    assert(parameters("running") == running)
    assert(parameters("expected") == minor)
    assert(parameters("supported").split(", ").contains(minor))
    assert(error.getMessage == WinopsErrors.message(error.getCondition, parameters))
    val call = new RefusedFunction[Seq[Expression], LogicalPlan](error)
    assert(intercept[SparkVersionException](call(Nil)).getMessage == error.getMessage)
  }
}
