package winops.spark

import java.io.File
import java.nio.file.Paths

import scala.util.Using

import org.scalatest.funsuite.AnyFunSuite

import winops.policy.Policy
import winops.spark.plan.Keep

/** Links the classes of the JAR against releases of Spark other than the one that compiled them.
  *
  * One build of the JAR runs on every patch release of a minor version. A missing class or method
  * would fail at its first use, with a NoClassDefFoundError or NoSuchMethodError.
  */
class LinkageSuite extends AnyFunSuite {
  private def classesOf(sample: Class[_]): Seq[ClassFile] =
    ClassFile.below(Paths.get(sample.getProtectionDomain.getCodeSource.getLocation.toURI))

  private lazy val own = classesOf(classOf[Keep]) ++ classesOf(classOf[Policy])

  private def linked[A](release: String)(body: Linking => A): A = {
    val property = s"winops.spark.$release"
    val jars = sys.props(property).split(File.pathSeparatorChar).toSeq.map(new File(_))
    Using.resource(new Linking(own, jars))(body)
  }

  Seq("oldest", "newest").foreach { release =>
    test(s"every class links on the $release patch release of the minor version") {
      linked(release) { linking =>
        assert(linking.ofSpark(own) > 1000)
        val missing = linking.missing(own)
        assert(missing.isEmpty, missing.mkString("\n", "\n", "\n"))
      }
    }
  }

  // Spark 3.5 is for another binary version of Scala.
  Seq("beside", "before", "longBefore").foreach { release =>
    test(s"the refusal of the version links on the release $release") {
      val refusing = Seq(
        "RefusedFunction",
        "RefusedVersion",
        "RefusedVersion$VersionOfJar",
        "SparkVersion",
        "SparkVersionException",
        "WinopsExtensions").map(name => s"winops/spark/$name")
      val classes = own.filter(file => refusing.contains(file.name))
      assert(classes.size == refusing.size)
      linked(release) { linking =>
        assert(linking.ofSpark(classes) > 10)
        val missing = linking.missing(classes)
        assert(missing.isEmpty, missing.mkString("\n", "\n", "\n"))
        // The releases differ, so the check is able to fail.
        assert(linking.missing(own).nonEmpty)
      }
    }
  }

  test("the refusal of the version loads on Java 8") {
    val java8 = 52
    val written = own.filter(_.source.exists(_.endsWith(".java")))
    assert(written.nonEmpty)
    assert(written.map(_.version).toSet == Set(java8))
  }
}
