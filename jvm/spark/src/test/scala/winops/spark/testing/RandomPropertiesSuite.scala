package winops.spark.testing

import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.prop.Seed

/** A run of the tests repeats the previous one, and another seed gives other cases. */
class RandomPropertiesSuite extends AnyFunSuite {
  test("the seed of a run decides over the cases of each test") {
    assert(Seed.configured.isDefined)
    val names = Seq("one test", "another test")
    assert(names.map(RandomProperties.seedOf).distinct.size == 2)
    // The value of another run: a seed that depends on anything else differs.
    assert(RandomProperties.seedOf(7L, names.head) == 6018027438509650591L)
    assert(Seq(7L, 8L).map(RandomProperties.seedOf(_, names.head)).distinct.size == 2)
  }

  test("no test draws from a generator without a seed") {
    val unseeded = """\bRandom\.(next|shuffle|alphanumeric|between)|new (\w+\.)*Random\(\)|""" +
      """Math\.random\(|ThreadLocalRandom\.current|Seed\.random\("""
    val found = sources.flatMap { file =>
      val lines = Files.readAllLines(file).asScala
      lines.filter(unseeded.r.findFirstIn(_).isDefined).map(line => s"$file: ${line.trim}")
    }
    assert(sources.size > 50)
    assert(found == Nil)
  }

  private lazy val sources: Seq[Path] =
    Seq("core", "spark").flatMap { project =>
      Using.resource(Files.walk(Path.of("jvm", project, "src", "test"))) { files =>
        files.iterator.asScala.filter(_.toString.endsWith(".scala")).toVector
      }
    }
}
