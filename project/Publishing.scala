import scala.xml.{Elem, Node}
import scala.xml.transform.{RewriteRule, RuleTransformer}

import com.jsuereth.sbtpgp.PgpKeys.{pgpSigner, pgpSigningKey}
import sbt._
import sbt.Keys._
import sjsonnew.shaded.scalajson.ast.unsafe.{JArray, JField, JObject, JString, JValue}
import sjsonnew.support.scalajson.unsafe.{CompactPrinter, Parser}

/** The Maven artifact of one minor version of Spark: coordinates, POM, sources and Scaladoc. */
object Publishing {
  private val page = "https://github.com/winops/winops"

  /** Removes the dependencies from a POM, because Spark brings them. `--packages` would put a
    * second copy on the class path.
    */
  private object WithoutDependencies extends RewriteRule {
    override def transform(node: Node): Seq[Node] = node match {
      case element: Elem if element.label == "dependencies" => Nil
      case other => other
    }
  }

  /** Settings of the whole build: the local repository, and the key that signs.
    *
    * `publish` and `publishSigned` write the artifacts of one version of Spark into the
    * repository. `sonaUpload` sends the repository, with the artifacts of all versions, to Maven
    * Central.
    */
  val buildSettings: Seq[Setting[_]] = {
    val key = sys.env.get("GPG_KEY").filter(_.nonEmpty)
    Seq(
      Global / stagingDirectory := (ThisBuild / baseDirectory).value / "target" / "repository",
      Global / pgpSigningKey := key,
      // gpg would sign with any key that it finds.
      Global / pgpSigner / skip := key.isEmpty)
  }

  /** Settings of the project whose JAR also contains the classes of `inner`.
    *
    * @param minor
    *   the minor version of Spark, such as `4.1`, which is part of the artifact's name
    */
  def settings(minor: String, inner: Project): Seq[Setting[_]] = Seq(
    name := s"winops-spark_$minor",
    // Otherwise sbt replaces the dot.
    moduleName := name.value,
    description := s"Retention windows as an operator of Apache Spark $minor",
    organizationName := "winops",
    organizationHomepage := Some(url("https://github.com/winops")),
    homepage := Some(url(page)),
    scmInfo := Some(ScmInfo(url(page), s"scm:git:$page.git", s"scm:git:$page.git")),
    developers := List(Developer("winops", "winops contributors", "", url(page))),
    publishTo := localStaging.value,
    versionScheme := Some("early-semver"),
    // Files of an earlier build in the folder are replaced.
    publishConfiguration := publishConfiguration.value.withOverwrite(true),
    pomIncludeRepository := (_ => false),
    pomPostProcess := (pom => new RuleTransformer(WithoutDependencies).transform(pom).head),
    Compile / packageSrc / mappings ++= (inner / Compile / packageSrc / mappings).value,
    Compile / doc / sources ++= (inner / Compile / doc / sources).value,
    // Links name types by the imports of their file, which Scaladoc does not always resolve.
    Compile / doc / scalacOptions += "-no-link-warnings",
    Compile / doc := {
      val folder = (Compile / doc).value
      leaveOutLibraryMembers(folder / "index.js")
      folder
    })

  /** Removes members that classes of winops inherit from libraries from the search of Scaladoc.
    *
    * A link to an inherited member contains type parameters. Scaladoc writes the first parameter
    * that it meets as `<?>`, in the order of a hash map, so that two builds of the same commit
    * would differ.
    */
  private def leaveOutLibraryMembers(index: File): Unit = {
    val script = IO.read(index)
    val (start, end) = (script.indexOf('{'), script.lastIndexOf('}') + 1)
    val packages = Parser.parseUnsafe(script.substring(start, end))
    IO.write(
      index,
      script.take(start) + CompactPrinter(withoutLibraries(packages)) + script.drop(end))
  }

  private def withoutLibraries(json: JValue): JValue = json match {
    case JObject(fields) =>
      JObject(fields.map(it => JField(it.field, withoutLibraries(it.value))))
    case JArray(values) => JArray(values.filterNot(isOfLibrary).map(withoutLibraries))
    case other => other
  }

  private def isOfLibrary(json: JValue): Boolean = json match {
    case JObject(fields) =>
      fields.exists {
        case JField("member", JString(name)) => !name.startsWith("winops.")
        case _ => false
      }
    case _ => false
  }
}
