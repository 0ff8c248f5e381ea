package winops.conformance

import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import org.scalatest.funsuite.AnyFunSuite

/** Runs the project's own cases, storing and restoring every group before every input. */
class ConformanceSuite extends AnyFunSuite {
  private val mapper = new ObjectMapper

  private val folder = Path.of("tests", "data", "conformance")
  private val files =
    Files.walk(folder).iterator.asScala.filter(_.toString.endsWith(".jsonl")).toSeq
  private val cases = files.sorted.flatMap(Files.readAllLines(_).asScala).map(mapper.readTree)

  test("there are cases of every category of error and of answers") {
    assert(cases.count(_.has("expect")) > 80)
    assert(cases.flatMap(c => Option(c.get("error"))).distinct.size > 9)
  }

  cases.foreach { example =>
    test(example.get("name").textValue) {
      val answer = answered(new Runner(Saving.Always), example)
      assert(!answer.has("failure"), answer)
      if (isOfTwo(example)) assert(answer.path("error").asText == "unsupported")
      else if (isEsper(example)) {
        assert(answer.has("error") == example.has("error") || failsForEveryRow(example))
      } else assert(answer.get("error") == example.get("error"))
      if (example.path("emit").asText == "values" && !isOfTwo(example)) {
        val (got, expected) = (answer.get("steps").elements.asScala.toSeq, expectedSteps(example))
        assert(posted(example, got) == posted(example, expected))
        if (example.path("order").asText != "any") {
          inserted(got).zip(inserted(expected)).foreach { case (row, other) =>
            assert(isClose(example, row, other), s"$row, expected $other")
          }
        }
      } else if (example.has("expect") && !answer.has("error")) {
        val expected = expectedSteps(example)
        val steps = answer.get("steps").elements.asScala.toSeq
        assert(steps.map(comparable(example, _)) == expected.map(comparable(example, _)))
        if (example.get("policy").asText.contains("select")) ()
        else if (!isEsper(example))
          assert(ids(answer.get("final")).toSet == retained(example).toSet)
        else {
          assert(ids(answer.get("final")).toSet == ids(example.get("final")).toSet)
        }
      }
    }
  }

  test("the first mistake in a policy is reported with its place") {
    val answer = answered(
      new Runner(Saving.Never),
      mapper.readTree("""{"name": "x", "dialect": "ccl", "policy": "KEEP 3 ROWS !"}"""))
    assert(answer.get("error").textValue == "syntax")
    assert(answer.get("offset").intValue == 12)
  }

  test("what cannot be run fails, and says why") {
    val failures = Map(
      """{"name": "a", "dialect": "klingon", "policy": "KEEP ALL"}""" -> "klingon",
      """{"name": "b", "dialect": "ccl"}""" -> "policy",
      """{"name": "c", "dialect": "ccl", "policy": "KEEP ALL",
         "input": [{"at": 0, "op": "reset"}]}""" -> "op",
      """{"name": "d", "dialect": "ccl", "policy": "KEEP ALL", "options": {"jump": 1}}""" -> "jump",
      """{"name": "e", "dialect": "ccl", "policy": "KEEP ALL", "params": {"N": true}}""" -> "true",
      "{" -> "JsonEOFException")
    failures.foreach { case (line, reason) =>
      val answer = mapper.readTree(new Runner(Saving.Never).answer(line))
      assert(answer.path("failure").asText.contains(reason), answer)
    }
  }

  /** Returns true for a window that follows one with computed values. Each of the two is a
    * separate `keep`; the Python runner splits the text.
    */
  private def isOfTwo(example: JsonNode): Boolean =
    example.path("emit").asText == "values" &&
      "#(size|uni|linest|correl|weighted_avg)\\b[^#]*#(?!merge)".r
        .findFirstIn(example.get("policy").asText)
        .isDefined

  /** Returns true if every row raises an error; winops may refuse such a policy. */
  private def failsForEveryRow(example: JsonNode): Boolean =
    example.has("expect") && example.get("expect").elements.asScala.forall(_.has("error"))

  private def isEsper(example: JsonNode): Boolean = example.get("dialect").asText == "esper"

  /** The expected steps in winops's terms. A row that raises an error in Esper is not inserted;
    * rows deleted under `rstream` are inserts in Esper.
    */
  private def expectedSteps(example: JsonNode): Seq[JsonNode] = {
    val rows = example.get("input").elements.asScala.filter(_.has("row")).map(_.get("at").asLong)
    val first = rows.minOption.getOrElse(Long.MaxValue)
    // A window starts with its first row; steps that Esper forces before it are dropped.
    val steps = example.get("expect").elements.asScala.toSeq.filterNot { step =>
      step.has("error") || isEsper(example) && isEmpty(step) && step.get("at").asLong < first
    }
    if (example.path("select").asText != "rstream") steps
    else {
      steps.map { step =>
        val swapped = mapper.createObjectNode()
        swapped.set[JsonNode]("at", step.get("at"))
        swapped.set[JsonNode]("insert", step.get("remove"))
        swapped.set[JsonNode]("remove", step.get("insert"))
        swapped
      }
    }
  }

  /** The numbers of posted values by time; a group that a hint removes has no deletes. */
  private def posted(example: JsonNode, steps: Seq[JsonNode]): Seq[(JsonNode, Int, Int)] = {
    steps.map { step =>
      val removed = if (example.has("hint")) 0 else step.get("remove").size
      (step.get("at"), step.get("insert").size, removed)
    }
  }

  private def inserted(steps: Seq[JsonNode]): Seq[JsonNode] =
    steps.flatMap(_.get("insert").elements.asScala)

  /** Compares values; numbers may differ by their rounding. The Python runner also compares the
    * values that a variance near 0 makes unstable.
    */
  private def isClose(example: JsonNode, row: JsonNode, other: JsonNode): Boolean = {
    val inputs = example.get("input").elements.asScala.flatMap(_.path("row").elements.asScala)
    val magnitude = inputs.filter(_.isNumber).map(x => Math.abs(x.asDouble)).maxOption
    def isSame(a: JsonNode, b: JsonNode): Boolean =
      if (!a.isNumber || !b.isNumber || a.isIntegralNumber && b.isIntegralNumber) a == b
      else {
        val (x, y) = (a.asDouble, b.asDouble)
        val scale = Math.max(Math.max(Math.abs(x), Math.abs(y)), magnitude.getOrElse(0.0))
        Math.abs(x - y) <= 1e-9 * scale
      }
    val names = row.fieldNames.asScala.toSeq
    names.toSet == other.fieldNames.asScala.toSet &&
    names.forall(name => isUnstable(name) || isSame(row.get(name), other.get(name)))
  }

  private def isUnstable(name: String): Boolean =
    Seq("variance", "stddev", "deviation", "slope", "intercept", "correl")
      .exists(name.toLowerCase.contains)

  private def comparable(example: JsonNode, step: JsonNode): Any = {
    def rows(field: String): Any = {
      val all = ids(step.get(field))
      if (example.path("order").asText == "any") all.toSet else all
    }
    (step.get("at"), rows("insert"), rows("remove"), step.get("events"))
  }

  private def answered(runner: Runner, example: JsonNode): JsonNode =
    mapper.readTree(runner.answer(mapper.writeValueAsString(example)))

  private def retained(example: JsonNode): Seq[JsonNode] = {
    val steps = example.get("expect").elements.asScala.toSeq
    val removed = steps.flatMap(step => ids(step.get("remove"))).toSet
    steps.flatMap(step => ids(step.get("insert"))).filterNot(removed)
  }

  private def isEmpty(step: JsonNode): Boolean =
    step.get("insert").isEmpty && step.get("remove").isEmpty

  private def ids(list: JsonNode): Seq[JsonNode] = list.elements.asScala.toSeq
}
