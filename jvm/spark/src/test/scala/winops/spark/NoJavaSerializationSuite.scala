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

/** Checks that bytes of a checkpoint never become objects of a class that the bytes name. */
class NoJavaSerializationSuite extends AnyFunSuite {
  import NoJavaSerializationSuite._

  test("no class of winops deserializes objects or makes classes by name") {
    val all = Seq(classOf[Keep], classOf[Policy]).map(folderOf).distinct.flatMap(classesIn)
    assert(all.exists(_.endsWith("Policy.class")) && all.exists(_.endsWith("Keep.class")))
    val found = for {
      file <- all
      name <- namesIn(Files.readAllBytes(file), reading ++ reflective)
      if !fromObjects.exists { case (code, allowed) =>
        file.getFileName.toString.startsWith(code) && name == allowed
      }
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

  /** A class with a reference to one of these uses Java, Kryo or Spark serialization. */
  val reading: Seq[String] = Seq(
    "java/io/ObjectInputStream",
    "java/io/ObjectOutputStream",
    "com/esotericsoftware/kryo",
    "org/apache/spark/serializer/JavaSerializer",
    "org/apache/spark/serializer/KryoSerializer",
    "org/apache/spark/util/Utils")

  /** Only Spark's compilation of expressions loads classes by name. A field that is set by
    * reflection does not instantiate a class.
    */
  val reflective: Seq[String] = Seq("forName", "loadClass", "SparkClassUtils") ++
    Seq("Constructor", "Method", "Proxy").map(maker => s"java/lang/reflect/$maker")

  /** Uses that start from an object of the query, and not from bytes: the digest of a function,
    * the default arguments of an expression, and the version of a Delta table.
    */
  val fromObjects: Seq[(String, String)] = Seq(
    "ObjectIdentity" -> "java/io/ObjectOutputStream",
    "HiddenArguments" -> "java/lang/reflect/Method",
    "HistorySource$Delta" -> "java/lang/reflect/Method")

  /** Spark's readers of types, which instantiate classes. */
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

  /** A class file contains the names that its code refers to, unchanged. */
  def namesIn(code: Array[Byte], names: Seq[String]): Seq[String] = {
    val constants = new String(code, ISO_8859_1)
    names.filter(constants.contains)
  }
}
