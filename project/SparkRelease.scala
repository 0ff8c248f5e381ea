import java.io.File

import sjsonnew.BasicJsonProtocol._
import sjsonnew.shaded.scalajson.ast.unsafe._
import sjsonnew.support.scalajson.unsafe.{Converter, Parser}

/** A minor version of Spark, as a line of `spark-versions.json` describes it.
  *
  * @param minor
  *   the version without its patch, such as `4.1`
  * @param spark
  *   what the JAR is compiled against, and tests run with
  * @param maven
  *   the oldest and the newest patch on Maven, which the JAR is linked with; none if Maven does
  *   not have the version, so that it is compiled against the JARs of PySpark
  * @param scala
  *   the version of Scala that Spark brings
  * @param delta,
  *   iceberg the releases to test with, if there are some
  * @param patch
  *   the patch release to compile against and to test with, if one other than `spark` is chosen
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

  /** A name for folders, which is also that of a patch release if one is chosen. */
  def folder: String = s"spark-${patch.getOrElse(minor)}"

  /** The version compiled against and tested with a patch release, if Maven has that one. */
  def withPatch(chosen: String): SparkRelease = {
    if (!chosen.startsWith(s"$minor."))
      sys.error(s"-Dspark.patch=$chosen: write a patch release of Spark $minor.")
    def number(version: String) = version.stripPrefix(s"$minor.").toInt
    if (maven.exists { case (_, newest) => number(chosen) <= number(newest) })
      copy(spark = chosen, patch = Some(chosen))
    else this
  }

  /** The folders of sources for a range of versions that this one is in: `scala-4.2` for one
    * version, `scala-4.1-4.2` for some, `scala-4.2+` for it and what follows.
    */
  def sourceFolders(parent: File): Seq[File] =
    Option(parent.listFiles).toSeq.flatten.filter { folder =>
      folder.getName match {
        case SparkRelease.From(from) => SparkRelease.order(from) <= SparkRelease.order(minor)
        case SparkRelease.Between(from, to) =>
          SparkRelease.order(from) <= SparkRelease.order(minor) &&
          SparkRelease.order(minor) <= SparkRelease.order(to)
        case SparkRelease.One(only) => only == minor
        case _ => false
      }
    }
}

object SparkRelease {
  private val From = """scala-(\d+\.\d+)\+""".r
  private val Between = """scala-(\d+\.\d+)-(\d+\.\d+)""".r
  private val One = """scala-(\d+\.\d+)""".r

  /** A number that is higher for a later version. */
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
