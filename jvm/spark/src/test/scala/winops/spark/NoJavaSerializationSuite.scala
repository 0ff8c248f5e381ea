package winops.spark

import java.nio.charset.StandardCharsets.ISO_8859_1
import java.nio.file.{Files, Paths}

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.scalatest.funsuite.AnyFunSuite

/** Bytes of a checkpoint never become objects of any class that they name. */
class NoJavaSerializationSuite extends AnyFunSuite {

  /** Whoever refers to one of these reads or writes objects by Java's means, Kryo's or Spark's.
    */
  private val forbidden = Seq(
    "java/io/ObjectInputStream",
    "java/io/ObjectOutputStream",
    "com/esotericsoftware/kryo",
    "org/apache/spark/serializer/JavaSerializer",
    "org/apache/spark/serializer/KryoSerializer",
    "org/apache/spark/util/Utils$.deserialize")

  /** Classes are made by name only where expressions of Spark's are compiled, by Spark. */
  private val reflective = Seq("forName", "loadClass", "java/lang/reflect/Method")

  private val classes =
    Paths.get(classOf[Keep].getProtectionDomain.getCodeSource.getLocation.toURI)

  test("no class of winops deserializes objects or makes classes by name") {
    val all = Using.resource(Files.walk(classes)) { files =>
      files.iterator.asScala.filter(_.toString.endsWith(".class")).toVector
    }
    assert(all.size > 100)
    val found = for {
      file <- all
      constants = new String(Files.readAllBytes(file), ISO_8859_1)
      name <- forbidden ++ reflective
      if constants.contains(name)
    } yield s"${classes.relativize(file)}: $name"
    assert(found.isEmpty)
  }
}
