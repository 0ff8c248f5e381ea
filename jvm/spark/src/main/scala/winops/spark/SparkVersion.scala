package winops.spark

import java.util.Properties

import org.apache.spark.SPARK_VERSION

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
