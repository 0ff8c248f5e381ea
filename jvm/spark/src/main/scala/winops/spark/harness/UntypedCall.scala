package winops.spark.harness

import scala.annotation.tailrec
import scala.collection.immutable.ListMap

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.expressions.Literal
import org.apache.spark.sql.types.{DataType, LongType, StringType, StructType, TimestampType}

import winops.policy.{Category, PolicyError}
import winops.spark.internal.WinopsAnalysisException

/** Checks calls whose columns are not known yet. */
private[harness] object UntypedCall {

  /** Refuses a policy that is not valid whatever the columns are.
    *
    * Each column that the policy names is taken for a number. Errors that can follow from this
    * type, or that concern an unknown column, are left to a call with columns.
    */
  def check(call: WindowCall): Unit = {
    val numbers = ("_" +: (call.per ++ call.orderBy ++ call.key)).map(_ -> LongType)
    val named = call.arguments.collect {
      case ("time", Literal(name, _)) => name.toString -> TimestampType
      case ("punct" | "op", Literal(name, _)) => name.toString -> StringType
    }
    check(call, ListMap(numbers ++ named: _*))
  }

  @tailrec
  private def check(call: WindowCall, columns: ListMap[String, DataType]): Unit = {
    val schema = columns.foldLeft(new StructType) { case (struct, (name, kind)) =>
      struct.add(name, kind)
    }
    refusal(call.copy(schema = schema)) match {
      case None =>
      case Some((_, error)) if error.unknownColumn.exists(!columns.contains(_)) =>
        check(call, columns ++ error.unknownColumn.map(_ -> LongType))
      case Some((refused, error)) => if (!isOfColumns(error, columns.size)) throw refused
    }
  }

  /** The error of a policy that is not valid over the columns of a call. */
  private def refusal(call: WindowCall): Option[(AnalysisException, PolicyError)] =
    try {
      val _ = WindowPlan.keepOf(call, isStreaming = true)
      None
    } catch {
      case refused: WinopsAnalysisException => refused.policyError.map((refused, _))
      case _: AnalysisException => None
    }

  private def isOfColumns(error: PolicyError, columns: Int): Boolean = error.category match {
    case Category.UnknownColumn => true
    case Category.Type | Category.Unsupported => columns > 1
    case _ => false
  }
}
