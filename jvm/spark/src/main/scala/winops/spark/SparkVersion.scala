package winops.spark

import java.util.Properties

import org.apache.spark.{QueryContext, SPARK_VERSION}
import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.trees.Origin

/** What this JAR was built as and for. */
object SparkVersion {
  private lazy val build: Properties = {
    val properties = new Properties
    val stream = getClass.getClassLoader.getResourceAsStream("winops/build.properties")
    try properties.load(stream)
    finally stream.close()
    properties
  }

  def winops: String = build.getProperty("version")

  /** The error for Spark of the version `running`, if this JAR is for another one. Spark's
    * internals change with each minor version, and so does the JAR.
    */
  def mismatch(running: String = SPARK_VERSION): Option[SparkVersionException] = {
    val expected = build.getProperty("spark.minor")
    Option.when(running.split('.').take(2).mkString(".") != expected) {
      new SparkVersionException(
        Map("expected" -> expected, "running" -> running, "winops" -> winops))
    }
  }
}

/** The error for a Spark version that the JAR is not for.
  *
  * It is raised on such versions, so it may use only what all of them have: of the constructors
  * of AnalysisException that is one which takes the finished message.
  */
final class SparkVersionException(parameters: Map[String, String])
    extends AnalysisException(
      WinopsErrors.message("WINOPS_SPARK_VERSION", parameters),
      None,
      None,
      None,
      Some("WINOPS_SPARK_VERSION"),
      parameters,
      Array.empty[QueryContext]) {
  override def getSqlState: String = WinopsErrors.sqlState("WINOPS_SPARK_VERSION")
  override def withPosition(origin: Origin): AnalysisException = this
}

/** Stands for a table function on a Spark version that the JAR is not for: every call fails. */
final class RefusedFunction(error: => SparkVersionException)
    extends (Seq[Expression] => LogicalPlan) {
  override def apply(arguments: Seq[Expression]): LogicalPlan = throw error
}
