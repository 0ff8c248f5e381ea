package winops.spark.expressions

import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference}
import org.apache.spark.sql.types._

import winops.policy.ColumnKind
import winops.spark.analysis.Projections
import winops.testing.SmallStack
import winops.testing.fuzz.{Corpus, Fuzzing, Outcome, Trial}
import winops.text.esper.Esper

/** A fuzzing campaign against Spark's resolution of policy expressions: the given number of Esper
  * texts, among them calls of all of Spark's functions, over rows with columns of all kinds. It
  * fails if a text crashed, took more than 100 ms or allocated more than 128 MiB.
  */
object ExpressionFuzz {
  def main(arguments: Array[String]): Unit = {
    val inputs = arguments.headOption.fold(50000)(_.toInt)
    val seed = arguments.lift(1).fold(2026L)(_.toLong)
    val fuzzing = new Fuzzing(resolved, Corpus.of(Esper.name) ++ FunctionCalls.policies, seed)
    val counts = SmallStack(kilobytes = 1024)(fuzzing.run(inputs))
    val worst = counts.slowest.amount / 1e6
    println(
      f"expressions: $inputs inputs, ${counts.accepted} accepted, ${counts.refused} refused, " +
        f"${counts.crashes.size} crashes, worst $worst%.2f ms, ${counts.largest.amount / 1024} KiB")
    counts.crashes.foreach { case (kind, text) => println(s"$kind\n  ${text.take(300)}") }
    println(s"slowest: ${counts.slowest.text.take(300)}")
    println(s"largest: ${counts.largest.text.take(300)}")
    sys.exit(if (counts.isGood(MaxBytes)) 0 else 1)
  }

  private val MaxBytes = 128L * 1024 * 1024

  private val columns: Seq[Attribute] = Trial.scope.columns.map { name =>
    val dataType = Trial.scope.kinds(name) match {
      case ColumnKind.WholeNumber => LongType
      case ColumnKind.RealNumber => DoubleType
      case ColumnKind.Timestamp => TimestampType
      case ColumnKind.Other => StringType
    }
    AttributeReference(name, dataType)()
  }

  /** The outcome of building a query from a text. */
  def resolved(text: String): Outcome =
    try {
      val budget = new ExpressionBudget
      val meaning = for {
        policy <- Esper
          .parse(text, Trial.scope)
          .left
          .map(error => error.category -> error.message)
        _ <- PolicyExpressions
          .resolve(policy, columns, budget)
          .left
          .map(problem => problem.category -> problem.message)
        _ <- policy.projection match {
          case Some(projection) =>
            Projections
              .resolve(projection, columns, budget)
              .left
              .map(problem => problem.category -> problem.message)
          case None => Right(())
        }
      } yield policy
      meaning match {
        case Right(policy) => Outcome.Accepted(policy.text.take(40))
        case Left((category, message)) =>
          Outcome.Refused(s"${category.name}: ${message.take(40)}")
      }
    } catch {
      case error: Throwable =>
        val place = error.getStackTrace.headOption.fold("")(_.toString)
        Outcome.Crashed(s"${error.getClass.getName} $place")
    }
}
