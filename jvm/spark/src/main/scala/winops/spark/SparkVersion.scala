package winops.spark

import java.util.Properties

import org.apache.spark.SPARK_VERSION

/** The winops version of this JAR and the Spark version that it was built for. */
object SparkVersion {
  private lazy val build: Properties = {
    val properties = new Properties
    val stream = getClass.getClassLoader.getResourceAsStream("winops/build.properties")
    try properties.load(stream)
    finally stream.close()
    properties
  }

  def winops: String = build.getProperty("version")

  /** The error for Spark version `running`, if this JAR was built for another minor version.
    * Spark's internals change with each minor version, so each needs its own JAR.
    */
  def mismatch(running: String = SPARK_VERSION): Option[SparkVersionException] = {
    val expected = build.getProperty("spark.minor")
    Option.when(running.split('.').take(2).mkString(".") != expected) {
      new SparkVersionException(
        Map("expected" -> expected, "running" -> running, "winops" -> winops))
    }
  }
}
