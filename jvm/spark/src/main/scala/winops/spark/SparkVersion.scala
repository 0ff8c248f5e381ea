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

  /** Spark's internals change with each minor version, and so does the JAR. */
  def check(running: String = SPARK_VERSION): Unit = {
    val expected = build.getProperty("spark.minor")
    if (running.split('.').take(2).mkString(".") != expected) {
      throw WinopsErrors.analysis(
        "WINOPS_SPARK_VERSION",
        "expected" -> expected,
        "running" -> running,
        "winops" -> winops)
    }
  }
}
