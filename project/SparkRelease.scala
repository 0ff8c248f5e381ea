import java.io.File

import sjsonnew.BasicJsonProtocol._
import sjsonnew.shaded.scalajson.ast.unsafe._
import sjsonnew.support.scalajson.unsafe.{Converter, Parser}

/** A minor version of Spark, from a line of `spark-versions.json`.
  *
  * @param minor
  *   the version without its patch, such as `4.1`
  * @param spark
  *   the release that the JAR is compiled against and ScalaTest runs with
  * @param maven
  *   the oldest and the newest patch on Maven, which LinkageSuite links with; None if Maven does
  *   not have the version, so that sbt compiles against the JARs of PySpark
  * @param scala
  *   the version of Scala that Spark brings
  * @param delta
  *   the release of Delta Lake for this version
  * @param iceberg
  *   the release of Apache Iceberg for this version
  * @param isDefault
  *   true if `./sbt` builds this version
  * @param patch
  *   the patch release that `-Dspark.patch` names, to compile against and to test with
  */
final case class SparkRelease(
    minor: String,
    spark: String,
    maven: Option[(String, String)],
    scala: String,
    delta: Option[String],
    iceberg: Option[String],
    isDefault: Boolean,
    patch: Option[String] = None) {

  /** The folder of the build, such as `spark-4.1`, or `spark-4.1.0` for a patch release. */
  def folder: String = s"spark-${patch.getOrElse(minor)}"

  /** The version with another patch release, or this version if Maven does not have that one. */
  def withPatch(chosen: String): SparkRelease = {
    if (!chosen.startsWith(s"$minor."))
      sys.error(s"-Dspark.patch=$chosen: write a patch release of Spark $minor.")
    def number(version: String) = version.stripPrefix(s"$minor.").toInt
    if (maven.exists { case (_, newest) => number(chosen) <= number(newest) })
      copy(spark = chosen, patch = Some(chosen))
    else this
  }

  /** The folders of sources for ranges of versions that contain this one: `scala-4.2` for one
    * version, `scala-4.1-4.2` for several, `scala-4.2+` for 4.2 and all later ones.
    */
  def sourceFolders(parent: File): Seq[File] =
    SparkRelease.sourceFolders(parent).filter { folder =>
      folder.getName match {
        case SparkRelease.From(from) => SparkRelease.order(from) <= SparkRelease.order(minor)
        case SparkRelease.Between(from, to) =>
          SparkRelease.order(from) <= SparkRelease.order(minor) &&
          SparkRelease.order(minor) <= SparkRelease.order(to)
        case SparkRelease.One(only) => only == minor
      }
    }
}

object SparkRelease {
  private val From = """scala-(\d+\.\d+)\+""".r
  private val Between = """scala-(\d+\.\d+)-(\d+\.\d+)""".r
  private val One = """scala-(\d+\.\d+)""".r

  /** The folders of sources for some versions, whichever. */
  def sourceFolders(parent: File): Seq[File] =
    Option(parent.listFiles).toSeq.flatten.filter { folder =>
      Seq(From, Between, One).exists(_.pattern.matcher(folder.getName).matches)
    }

  /** A number that is greater for a later version. */
  private def order(minor: String): Int = {
    val Array(major, feature) = minor.split('.').map(_.toInt)
    major * 1000 + feature
  }

  /** All versions of the file, in its order. */
  def all(file: File): Seq[SparkRelease] =
    Parser.parseFromFile(file).get match {
      case JArray(versions) => versions.toSeq.map(of)
      case _ => sys.error(s"$file: an array of objects is expected.")
    }

  /** The version with this name, or the default one if there is no name. */
  def chosen(file: File, minor: Option[String]): SparkRelease = {
    val versions = all(file)
    versions.find(version => minor.fold(version.isDefault)(_ == version.minor)).getOrElse {
      val known = versions.map(_.minor).mkString(", ")
      sys.error(s"-Dspark=${minor.getOrElse("")}: write one of $known, as in ${file.getName}.")
    }
  }

  private def of(json: JValue): SparkRelease = {
    val fields = json match {
      case JObject(entries) => entries.map(entry => entry.field -> entry.value).toMap
      case other => sys.error(s"An object is expected instead of $other.")
    }
    def text(name: String): Option[String] =
      fields(name) match {
        case JNull => None
        case value => Some(Converter.fromJsonUnsafe[String](value))
      }
    SparkRelease(
      minor = text("minor").get,
      spark = text("spark").get,
      maven = fields("maven") match {
        case JArray(Array(oldest, newest)) =>
          Some(
            Converter.fromJsonUnsafe[String](oldest) -> Converter.fromJsonUnsafe[String](newest))
        case _ => None
      },
      scala = text("scala").get,
      delta = text("delta"),
      iceberg = text("iceberg"),
      isDefault = Converter.fromJsonUnsafe[Boolean](fields("default")))
  }
}
