package winops.conformance

import scala.util.control.NonFatal

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import com.fasterxml.jackson.databind.node.ObjectNode
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference, Expression}

import winops.spark.analysis.{Dialects, Projections}
import winops.spark.expressions.{PolicyExpressions, UnqualifiedSql}

/** Runs cases given as JSON objects, and returns results as JSON objects.
  *
  * A result has the case's `name`, and one of
  *   - `steps`, in the form of a case's `expect`, with `final`, the ids in the window at the end;
  *   - `error` and `offset`, if the policy was refused;
  *   - `failure`, if the case could not be run.
  *
  * @param saving
  *   selects the entries before which all groups are saved and restored
  */
final class Runner(saving: Saving) {
  private val mapper = new ObjectMapper

  /** Runs one case. An exception becomes a `failure`. */
  def answer(line: String): String = {
    val answer = mapper.createObjectNode()
    try {
      val json = mapper.readTree(line)
      answer.set[JsonNode]("name", json.path("name"))
      run(Case.of(json), answer)
    } catch {
      case NonFatal(e) => answer.put("failure", e.toString)
    }
    mapper.writeValueAsString(answer)
  }

  private def run(example: Case, answer: ObjectNode): Unit =
    Dialects.named(example.dialect) match {
      case None => answer.put("failure", s"the dialect ${example.dialect} is not supported")
      case Some(dialect) =>
        val understood = for {
          policy <- dialect.parse(example.policy, example.scope).left.map { error =>
            (error.category, error.offset)
          }
          expressions <- PolicyExpressions.resolve(policy, example.schema.attributes).left.map {
            problem => (problem.category, problem.offset)
          }
          projected <- policy.projection match {
            case None => Right(None)
            case Some(projection) =>
              Projections.resolve(projection, example.schema.columns) match {
                case Left(problem) => Left((problem.category, problem.offset))
                case Right(aggregates) => Right(Some(aggregates))
              }
          }
        } yield (policy, expressions, projected)
        understood match {
          case Left((category, offset)) =>
            answer.put("error", category.name)
            answer.put("offset", offset)
          case Right((policy, expressions, projected)) =>
            val values = projected.map { aggregates =>
              new Values(policy, aggregates, expressions.group.map(columnOf), example.schema)
            }
            replay(Groups.of(policy, expressions, values, example), values, example, answer)
        }
    }

  private def columnOf(key: Expression): Attribute = key match {
    case column: Attribute => column
    case other => AttributeReference(UnqualifiedSql.of(other), other.dataType)()
  }

  private def replay(
      groups: Groups,
      values: Option[Values],
      example: Case,
      answer: ObjectNode): Unit = {
    val entries = example.delay match {
      case Some(delay) => Lateness.inOrder(example.entries, delay)
      case None => example.entries
    }
    val steps = answer.putArray("steps")
    entries.foreach { entry =>
      if (saving.now()) groups.saveAndRestore()
      val happened = entry.what match {
        case Coming.Row(row) => groups.arrive(entry.at, row)
        case Coming.Nothing => groups.advance(entry.at)
        case Coming.WindowPunctuation => groups.punctuate(entry.at)
        case Coming.FinalPunctuation => groups.finish(entry.at)
      }
      happened.foreach { step =>
        values match {
          case Some(of) => if (step.values.nonEmpty) step.writeTo(steps.addObject(), of)
          case None => step.writeTo(steps.addObject(), withEvents = example.dialect == "spl")
        }
      }
    }
    if (values.isEmpty) writeContent(groups, answer)
  }

  private def writeContent(groups: Groups, answer: ObjectNode): Unit = {
    val content = answer.putArray("final")
    groups.content.foreach(id => content.add(id))
  }
}
