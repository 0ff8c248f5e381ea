package winops.spark.internal

import java.nio.file.{Files, Path, Paths}

import scala.io.{Codec, Source}
import scala.jdk.CollectionConverters._
import scala.util.Using

import org.json4s.{JArray, JObject, JString, JValue}
import org.json4s.jackson.JsonMethods.parse
import org.scalatest.funsuite.AnyFunSuite

import winops.policy.Category

/** Compares `winops-error-conditions.json` with the sources that raise its conditions. */
class ErrorConditionsSuite extends AnyFunSuite {
  import ErrorConditionsSuite._

  test("conditions and their subclasses are in alphabetical order") {
    def inOrder(json: JValue): Unit = {
      val names = json.asInstanceOf[JObject].obj.map(_._1)
      assert(names == names.sorted)
    }
    inOrder(file)
    conditions.values.flatMap(_.get("subClass")).foreach(inOrder)
  }

  test("every SQLSTATE is one of Spark's") {
    val known = fieldsOf(resource("error/error-states.json")).keySet
    val used = conditions.map { case (name, condition) =>
      name -> condition("sqlState").asInstanceOf[JString].s
    }
    assert(used.filterNot(state => known.contains(state._2)).isEmpty)
  }

  test("no name is one of Spark's own conditions") {
    val spark = fieldsOf(resource("error/error-conditions.json")).keySet
    assert(conditions.keySet.intersect(spark).isEmpty)
  }

  test("every condition is raised somewhere, and nothing else is") {
    val categories = Category.all.map { category =>
      s"WINOPS_POLICY.${category.name.replace('-', '_').toUpperCase(java.util.Locale.ROOT)}"
    }
    assert(leaves.keySet == (raised.map(_.condition) ++ argumentKinds ++ categories).toSet)
  }

  test("messages name exactly the parameters that are passed") {
    raised.foreach(call => assert(call.parameters == leaves(call.condition), call.condition))
    argumentKinds.foreach(kind => assert(leaves(kind) == Set("name", "expected"), kind))
    val ofPolicy = Set("dialect", "line", "column", "message", "caret", "example")
    leaves.filter(_._1.startsWith("WINOPS_POLICY.")).foreach { case (name, placeholders) =>
      assert(placeholders == ofPolicy, name)
    }
  }

  test("a message begins with its condition and ends with its SQLSTATE") {
    leaves.foreach { case (name, placeholders) =>
      val message = WinopsErrors.message(name, placeholders.map(p => p -> s"the $p").toMap)
      assert(message.startsWith(s"[$name] "))
      assert(message.endsWith(s" SQLSTATE: ${WinopsErrors.sqlState(name)}"))
      assert(placeholders.forall(p => message.contains(s"the $p")))
      assert(placeholder.findFirstIn(message).isEmpty, message)
    }
  }
}

private object ErrorConditionsSuite {
  final case class Raised(condition: String, parameters: Set[String])

  val placeholder = "<([a-zA-Z]+)>".r

  def resource(name: String): JValue =
    Using.resource(getClass.getClassLoader.getResourceAsStream(name)) { stream =>
      parse(Source.fromInputStream(stream)(Codec.UTF8).mkString)
    }

  def fieldsOf(json: JValue): Map[String, JValue] = json match {
    case JObject(fields) => fields.toMap
    case other => throw new IllegalArgumentException(s"no object: $other")
  }

  val file: JValue = resource("error/winops-error-conditions.json")

  val conditions: Map[String, Map[String, JValue]] = fieldsOf(file).map { case (name, json) =>
    name -> fieldsOf(json)
  }

  /** The conditions that can be raised, each with the placeholders of its complete message. */
  val leaves: Map[String, Set[String]] = conditions.flatMap { case (name, condition) =>
    val placeholders = placeholdersOf(condition)
    condition.get("subClass") match {
      case None => Map(name -> placeholders)
      case Some(subclasses) =>
        fieldsOf(subclasses).map { case (sub, json) =>
          s"$name.$sub" -> (placeholders ++ placeholdersOf(fieldsOf(json)))
        }
    }
  }

  private def placeholdersOf(condition: Map[String, JValue]): Set[String] =
    condition("message") match {
      case JArray(lines) =>
        val text = lines.collect { case JString(line) => line }.mkString("\n")
        placeholder.findAllMatchIn(text).map(_.group(1)).toSet
      case other => throw new IllegalArgumentException(s"no lines: $other")
    }

  private val sources: Seq[String] = {
    val folder = Paths.get("jvm", "spark", "src", "main")
    Using.resource(Files.walk(folder)) { paths =>
      paths.iterator.asScala
        .filter(_.toString.endsWith(".scala"))
        .map((path: Path) => Files.readString(path))
        .toVector
    }
  }

  private def calls(method: String): Seq[(String, String)] = {
    val call = (raw"""WinopsErrors\s*\.(?:$method)\(\s*"([A-Z_.]+)"((?:[^()]|\((?:[^()]|\((?:""" +
      raw"""[^()]|\([^()]*\))*\))*\))*)\)""").r
    sources.flatMap(source => call.findAllMatchIn(source).map(m => m.group(1) -> m.group(2)))
  }

  val raised: Seq[Raised] = calls("analysis|runtime").map { case (condition, rest) =>
    Raised(condition, """"([a-zA-Z]+)"\s*->""".r.findAllMatchIn(rest).map(_.group(1)).toSet)
  } :+ Raised("WINOPS_UNKNOWN_COLUMN", Set("argument", "columns", "found", "input")) :+
    Raised("WINOPS_SPARK_VERSION", Set("expected", "running", "supported", "winops"))

  val argumentKinds: Seq[String] =
    calls("argument").map { case (kind, _) => s"WINOPS_ARGUMENT.$kind" }
}
