package winops.spark

import java.nio.charset.StandardCharsets.ISO_8859_1
import java.nio.file.{Files, Path, Paths}

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.catalyst.expressions.aggregate.V2Aggregator
import org.apache.spark.sql.catalyst.expressions.codegen.LazilyGeneratedOrdering
import org.apache.spark.sql.catalyst.expressions.objects.SerializerSupport
import org.apache.spark.sql.types.StructType

import winops.policy.Policy
import winops.spark.plan.Keep

/** Bytes of a checkpoint never become objects of any class that they name. */
class NoJavaSerializationSuite extends AnyFunSuite {
  import NoJavaSerializationSuite._

  test("no class of winops deserializes objects or makes classes by name") {
    val all = Seq(classOf[Keep], classOf[Policy]).map(folderOf).distinct.flatMap(classesIn)
    assert(all.exists(_.endsWith("Policy.class")) && all.exists(_.endsWith("Keep.class")))
    val found = for {
      file <- all
      name <- namesIn(Files.readAllBytes(file), reading ++ reflective)
    } yield s"${file.getFileName}: $name"
    assert(found.isEmpty)
  }

  test("types of a checkpoint are read in one place, which looks for classes before Spark does") {
    val reading = classesIn(folderOf(classOf[Keep])).filter { file =>
      namesIn(Files.readAllBytes(file), ofTypes).nonEmpty
    }
    assert(reading.map(_.getFileName.toString) == Seq("StoredTypes$.class"))
  }

  test("what is looked for is found in classes that do it") {
    val doing = Seq[(Class[_], String)](
      classOf[V2Aggregator[_ <: java.io.Serializable, _]] -> "org/apache/spark/util/Utils",
      classOf[LazilyGeneratedOrdering] -> "java/io/ObjectInputStream",
      SerializerSupport.getClass -> "org/apache/spark/serializer/JavaSerializer",
      SerializerSupport.getClass -> "org/apache/spark/serializer/KryoSerializer",
      StructType.getClass -> "fromJson")
    doing.foreach { case (code, name) =>
      assert(namesIn(bytesOf(code), reading ++ ofTypes).contains(name), code)
    }
  }
}

private object NoJavaSerializationSuite {

  /** Who refers to one of these reads or writes objects by Java's means, Kryo's or Spark's. */
  val reading: Seq[String] = Seq(
    "java/io/ObjectInputStream",
    "java/io/ObjectOutputStream",
    "com/esotericsoftware/kryo",
    "org/apache/spark/serializer/JavaSerializer",
    "org/apache/spark/serializer/KryoSerializer",
    "org/apache/spark/util/Utils")

  /** Classes are made by name only where expressions of Spark's are compiled, by Spark. A field
    * that is set by reflection makes no object of any class.
    */
  val reflective: Seq[String] = Seq("forName", "loadClass", "SparkClassUtils") ++
    Seq("Constructor", "Method", "Proxy").map(maker => s"java/lang/reflect/$maker")

  /** Spark's readers of types, which make objects of classes. */
  val ofTypes: Seq[String] = Seq("fromJson", "fromDDL", "readSchemaFile")

  def folderOf(code: Class[_]): Path =
    Paths.get(code.getProtectionDomain.getCodeSource.getLocation.toURI)

  def classesIn(folder: Path): Seq[Path] = Using.resource(Files.walk(folder)) { files =>
    files.iterator.asScala.filter(_.toString.endsWith(".class")).toVector
  }

  def bytesOf(code: Class[_]): Array[Byte] = {
    val name = s"/${code.getName.replace('.', '/')}.class"
    Using.resource(code.getResourceAsStream(name))(_.readAllBytes())
  }

  /** A class file has the names that its code refers to, as they are. */
  def namesIn(code: Array[Byte], names: Seq[String]): Seq[String] = {
    val constants = new String(code, ISO_8859_1)
    names.filter(constants.contains)
  }
}
